from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeAlias, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer, disjoint_base

from stencilm import _grammar, _limits
from stencilm._explanation import Explanation

__all__ = [
    "Cancel",
    "Capture",
    "CompiledGrammar",
    "Grammar",
    "Limits",
    "Matcher",
    "Store",
    "Vocabulary",
    "accept_tokens",
    "fill_masks",
    "first_allowed",
    "json_text",
    "write_refused",
]

@type_check_only
class _Tensor(Protocol):
    # A tensor of torch on the CPU: the array shares its memory.
    def numpy(self) -> Any: ...

# A writable buffer of int32 in one or two dimensions, or what gives one.
_Mask: TypeAlias = NDArray[np.int32] | Buffer | _Tensor

@type_check_only
class _Report(TypedDict):
    enforced: list[tuple[str, str]]
    narrower: list[tuple[str, str]]
    annotations: list[tuple[str, str]]
    widened: list[tuple[str, str]]

@final
class Cancel:
    def __new__(cls) -> Cancel: ...
    def cancel(self) -> None: ...
    @property
    def is_cancelled(self) -> bool: ...

@final
class Limits:
    def __new__(
        cls,
        *,
        nesting: int,
        source_bytes: int,
        rules: int,
        expressions: int,
        repeat: int,
        items: int,
        captures: int,
        alternatives: int,
        number_digits: int,
        search: int,
        mask_work: int,
        grammar_bytes: int,
        compile_time: float,
        rollback: int,
    ) -> Limits: ...

@disjoint_base
class Vocabulary:
    def __new__(
        cls,
        tokens: Sequence[bytes | None] | None = None,
        *,
        special: dict[str, int] | None = None,
        stop: Sequence[int] | None = None,
        saved: bytes | None = None,
    ) -> Self: ...
    def to_bytes(self) -> bytes: ...
    @property
    def size(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def stop_ids(self) -> list[int]: ...
    @property
    def special(self) -> dict[str, int]: ...
    @property
    def is_byte_complete(self) -> bool: ...
    @property
    def spellable(self) -> bytes: ...
    def token_bytes(self, id: int) -> bytes | None: ...
    def has_longer(self, text: bytes) -> bool: ...
    @property
    def memory(self) -> int: ...
    def __len__(self) -> int: ...

@disjoint_base
class Grammar:
    @staticmethod
    def json_schema(
        schema: str,
        options: dict[str, Any] | None = None,
        limits: Limits | None = None,
        cancel: Cancel | None = None,
    ) -> Grammar: ...
    @staticmethod
    def json_schema_report(
        schema: str, options: dict[str, Any] | None = None, limits: Limits | None = None
    ) -> _Report: ...
    @staticmethod
    def regex(
        pattern: str,
        dialect: str = "ecma",
        mode: str = "full",
        flags: str = "",
        limits: Limits | None = None,
        cancel: Cancel | None = None,
    ) -> Grammar: ...
    @staticmethod
    def ebnf(
        text: str,
        start: str = "root",
        notation: str = "gbnf",
        limits: Limits | None = None,
        cancel: Cancel | None = None,
    ) -> Grammar: ...
    @staticmethod
    def lark(
        text: str,
        start: str = "start",
        meaning: str = "cfg",
        limits: Limits | None = None,
        cancel: Cancel | None = None,
    ) -> Grammar: ...
    @staticmethod
    def ebnf_unused(text: str, start: str = "root", notation: str = "gbnf") -> list[str]: ...
    @staticmethod
    def choice(texts: Sequence[str], limits: Limits | None = None) -> Grammar: ...
    @staticmethod
    def structural_tag(
        tag: str,
        options: dict[str, Any] | None = None,
        limits: Limits | None = None,
        cancel: Cancel | None = None,
    ) -> Grammar: ...
    @staticmethod
    def structural_tag_report(
        tag: str, options: dict[str, Any] | None = None, limits: Limits | None = None
    ) -> _Report: ...
    @staticmethod
    def sequence(grammars: Sequence[Grammar], limits: Limits | None = None) -> Grammar: ...
    @staticmethod
    def any_of(grammars: Sequence[Grammar], limits: Limits | None = None) -> Grammar: ...
    def repeat(self, min: int, max: int | None = None, limits: Limits | None = None) -> Grammar: ...
    def rule(
        self,
        capture: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        limits: Limits | None = None,
    ) -> Grammar: ...
    @staticmethod
    def substrings(text: str, limits: Limits | None = None) -> Grammar: ...
    @property
    def tokens(self) -> list[str]: ...
    def show(self, most: int = 200) -> str: ...

@final
class Store:
    def __new__(cls, limit: int) -> Store: ...
    def usage(self) -> tuple[int, int, int, int, int, int]: ...

@final
class CompiledGrammar:
    def __new__(
        cls,
        grammar: Grammar,
        vocabulary: Vocabulary,
        store: Store,
        limits: Limits | None = None,
        source: tuple[_grammar.Grammar | None, _limits.Limits | None] | None = None,
    ) -> CompiledGrammar: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    def matcher(self) -> Matcher: ...
    @property
    def memory(self) -> int: ...
    @property
    def generations(self) -> int: ...
    def learnt(self) -> tuple[int, int, int, int]: ...

@final
class Capture:
    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def text(self) -> bytes: ...
    def __hash__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...

@final
class Matcher:
    def __new__(cls, compiled: CompiledGrammar) -> Matcher: ...
    @property
    def compiled(self) -> CompiledGrammar: ...
    def fill_mask(self, mask: _Mask, row: int = 0) -> None: ...
    def mask_key(self) -> bytes: ...
    def mask_parts(self) -> tuple[int, int, int]: ...
    def accept(self, token: int) -> bool: ...
    def accept_bytes(self, text: bytes) -> bool: ...
    def is_allowed(self, token: int) -> bool: ...
    def validate(self, tokens: Sequence[int]) -> int: ...
    def rollback(self, steps: int = 1) -> None: ...
    @property
    def rollback_window(self) -> int: ...
    def fork(self) -> Matcher: ...
    def reset(self) -> None: ...
    def may_stop(self) -> bool: ...
    def is_finished(self) -> bool: ...
    def has_stopped(self) -> bool: ...
    def forced_text(self, most: int = 4096) -> bytes: ...
    def next_bytes(self) -> bytes: ...
    def fill_draft_masks(self, tokens: Sequence[int], mask: _Mask, first_row: int = 0) -> int: ...
    def fill_tree_masks(
        self,
        tokens: Sequence[int],
        first_child: Sequence[int],
        next_sibling: Sequence[int],
        mask: _Mask,
        first_row: int = 0,
    ) -> list[bool]: ...
    def explain(
        self,
        refused: int | bytes | str | None,
        before: bytes | str | Sequence[int] | None = None,
    ) -> Explanation | None: ...
    def captures(self) -> list[Capture]: ...
    def temperature(self) -> float | None: ...
    def describe(self) -> str: ...
    @property
    def live_size(self) -> tuple[int, int]: ...

def json_text(value: object) -> str | None: ...
def fill_masks(
    matchers: list[Matcher | None] | list[Matcher],
    mask: _Mask,
    rows: Sequence[int] | None = None,
) -> None: ...
def first_allowed(mask: NDArray[np.int32], most: int) -> list[int]: ...
def write_refused(logits: NDArray[Any], mask: NDArray[np.int32], refused: int) -> None: ...
def accept_tokens(
    matchers: list[Matcher | None] | list[Matcher], tokens: Sequence[int]
) -> list[bool]: ...

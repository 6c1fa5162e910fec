"""A grammar backend for SGLang: `--grammar-backend stencilm`.

The only file that imports `sglang`. SGLang calls `register` in each of its processes, by the entry
point `stencilm` of the group `sglang.srt.plugins`. A release whose interfaces are others than
those that were tested here is refused by name.
"""

from __future__ import annotations

import json
import logging
import re
from collections import OrderedDict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarStats,
    InvalidGrammarObject,
    register_grammar_backend,
)
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.runtime_context import get_serving
from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES, add_grammar_backend_choices

from stencilm import CompiledGrammar, StencilmError, fill_masks

from ._serving import Kind, ServedModel, Settings, refusal, signature_differences
from .torch import allocate_mask, apply_mask

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from stencilm import Matcher

__all__ = ["StencilmBackend", "StencilmGrammar", "differences", "register"]

NAME = "stencilm"

_log = logging.getLogger(__name__)

_ANY_JSON = "$$ANY$$"
"""SGLang's name for any JSON value, where a schema would stand."""
_CACHE_ENTRIES = 256
_CACHE_CHARACTERS = 16 << 20
_NO_SCHEMA = re.compile(r'"json_schema"\s*:\s*null')

_SIGNATURES: list[tuple[Any, str, list[str]]] = [
    (BaseGrammarObject, "accept_token", ["self", "token"]),
    (BaseGrammarObject, "rollback", ["self", "k"]),
    (BaseGrammarObject, "is_terminated", ["self"]),
    (BaseGrammarObject, "allocate_vocab_mask", ["self", "vocab_size", "batch_size", "device"]),
    (BaseGrammarObject, "fill_vocab_mask", ["self", "vocab_mask", "idx"]),
    (BaseGrammarObject, "fill_vocab_mask_batched", ["entries", "vocab_mask"]),
    (BaseGrammarObject, "reset_vocab_mask", ["vocab_mask"]),
    (BaseGrammarObject, "move_vocab_mask", ["vocab_mask", "device"]),
    (BaseGrammarObject, "apply_vocab_mask", ["logits", "vocab_mask"]),
    (BaseGrammarObject, "copy", ["self"]),
    (BaseGrammarObject, "try_jump_forward", ["self", "tokenizer"]),
    (BaseGrammarObject, "jump_forward_str_state", ["self", "helper"]),
    (
        BaseGrammarObject,
        "jump_and_retokenize",
        ["self", "old_output_ids", "new_output_ids", "next_state"],
    ),
    (BaseGrammarBackend, "dispatch_json", ["self", "key_string"]),
    (BaseGrammarBackend, "dispatch_regex", ["self", "key_string"]),
    (BaseGrammarBackend, "dispatch_ebnf", ["self", "key_string"]),
    (BaseGrammarBackend, "dispatch_structural_tag", ["self", "key_string"]),
    (BaseGrammarBackend, "get_cached_or_future_value", ["self", "key", "require_reasoning"]),
    (BaseGrammarBackend, "set_cache", ["self", "key", "value"]),
    (BaseGrammarBackend, "reset", ["self"]),
    (
        ReasonerGrammarBackend,
        "__init__",
        ["self", "grammar_backend", "reasoning_parser", "tokenizer", "enable_strict_thinking"],
    ),
]
"""What is called or implemented here."""


def differences() -> list[str]:
    """What this release of SGLang has otherwise than the tested one: none, if all is well."""
    return signature_differences(_SIGNATURES)


def register() -> None:
    """Makes the backend known to SGLang in this process. Called by SGLang; twice does no harm."""
    found = differences()
    if found:
        _log.error(
            "The grammar backend %r does not know SGLang %s, so it is not available: %s",
            NAME,
            version("sglang"),
            "; ".join(found),
        )
        return
    if NAME not in GRAMMAR_BACKEND_CHOICES:
        add_grammar_backend_choices([NAME])
    register_grammar_backend(NAME, _make_backend)


def _make_backend(
    server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Collection[int] | None
) -> BaseGrammarBackend:
    serving = get_serving()
    if serving.constrained_json_whitespace_pattern:
        raise ValueError(f"--constrained-json-whitespace-pattern is not supported by {NAME}")
    settings = Settings.of_environment()
    if serving.constrained_json_max_whitespace_cnt is not None:
        settings.options["whitespace_cap"] = serving.constrained_json_max_whitespace_cnt
    backend = StencilmBackend(
        ServedModel(tokenizer, vocab_size, settings),
        stop=eos_token_ids or (),
        is_compact=bool(serving.constrained_json_disable_any_whitespace),
    )
    if not serving.reasoning_parser:
        return backend
    # SGLang does this for its own backends only.
    parser = ReasoningParser(serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer)
    return _ReasonerBackend(backend, parser, tokenizer, serving.enable_strict_thinking)


class StencilmGrammar(BaseGrammarObject):
    """Where the text of one request stands.

    While a text is written, only a limit can be in the way. Then the request ends with an error,
    and no other one is touched.
    """

    def __init__(self, compiled: CompiledGrammar, *, is_cache_hit: bool = False) -> None:
        super().__init__()
        self.compiled = compiled
        self.matcher: Matcher = compiled.matcher()
        self.failure: StencilmError | None = None
        self.grammar_stats = GrammarStats(is_cache_hit=is_cache_hit)

    def accept_token(self, token: int) -> None:
        """Takes a token; what comes after a stop token is not judged.

        Raises:
            ValueError: It may not come, or a limit was reached: SGLang ends the request.
        """
        if self.matcher.has_stopped():
            return
        self.current_token = token
        if self.failure is not None:
            raise ValueError(str(self.failure)) from self.failure
        try:
            is_taken = self.matcher.accept(token)
        except StencilmError as error:
            raise ValueError(str(error)) from error
        if not is_taken:
            raise ValueError(f"token {token} was sampled, which may not come")

    def rollback(self, k: int) -> None:
        """Gives back the last tokens, a stop token included."""
        if k > 0:
            self.matcher.rollback(k)

    def is_terminated(self) -> bool:
        """Whether a stop token came."""
        return self.matcher.has_stopped()

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Rows of masks in which everything is allowed."""
        return _free_rows(batch_size, vocab_size)

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Writes which tokens may come next."""
        if self.failure is None:
            try:
                self.matcher.fill_mask(vocab_mask, idx)
            except StencilmError as error:
                _log.error("The grammar of a request failed: %s", error)
                self.failure = error
        if self.failure is not None:
            # What is sampled now is refused, and the request ends. One token that no draft has.
            token = self._textless()
            words = vocab_mask.numpy()
            words[idx] = 0
            words[idx, token // 32] = (1 << token % 32) - ((token % 32 == 31) << 32)

    @staticmethod
    def fill_vocab_mask_batched(entries: list[Any], vocab_mask: torch.Tensor) -> None:
        """Writes the rows of a batch, in one call."""
        ours = [entry for entry in entries if isinstance(entry.grammar, StencilmGrammar)]
        sound = [entry for entry in ours if entry.grammar.failure is None]
        try:
            fill_masks(
                [entry.grammar.matcher for entry in sound],
                vocab_mask,
                [entry.row for entry in sound],
            )
        except StencilmError:
            sound = []
        for entry in entries:
            if entry not in sound:
                entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allows everything in all rows."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Brings masks to the model's device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Sets the logits of what may not come to minus infinity."""
        _apply(logits, vocab_mask)

    def copy(self) -> StencilmGrammar:
        """The same grammar for another request, at the beginning of its text."""
        return StencilmGrammar(self.compiled, is_cache_hit=True)

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """What must come next, as text; None if there is a choice."""
        forced = self.matcher.forced_text()
        try:
            text = forced.decode()
        except UnicodeDecodeError as error:
            text = forced[: error.start].decode()
        return ([], text) if text else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """The text to write, and a state that only SGLang's own backends need."""
        return helper[1], -1

    def jump_and_retokenize(
        self, old_output_ids: list[int], new_output_ids: list[int], next_state: int
    ) -> None:
        """Goes from one spelling of the text in tokens to another, longer one."""
        same = 0
        for old, new in zip(old_output_ids, new_output_ids, strict=False):
            if old != new:
                break
            same += 1
        self.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            self.accept_token(token)

    def _textless(self) -> int:
        vocabulary = self.compiled.vocabulary
        stop = set(vocabulary.stop_ids)
        for token in range(vocabulary.size - 1, -1, -1):
            if token not in stop and vocabulary.token_bytes(token) is None:
                return token
        return vocabulary.stop_ids[0]


class _Bounded(BaseGrammarBackend):
    """SGLang keeps every grammar that ever came, refused ones too: memory for anybody to fill."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.cache: OrderedDict[tuple[str, str], BaseGrammarObject] = OrderedDict()
        self._characters = 0

    def set_cache(self, key: tuple[str, str], value: BaseGrammarObject) -> None:
        """Keeps a grammar, and lets go of the oldest ones."""
        if key not in self.cache:
            self._characters += len(key[1])
        super().set_cache(key, value)
        while len(self.cache) > _CACHE_ENTRIES or (
            self._characters > _CACHE_CHARACTERS and self.cache
        ):
            (_, spec), _ = self.cache.popitem(last=False)
            self._characters -= len(spec)

    def reset(self) -> None:
        """Forgets all grammars."""
        super().reset()
        self._characters = 0


class _ReasonerBackend(_Bounded, ReasonerGrammarBackend):
    """Leaves the reasoning free."""


class StencilmBackend(_Bounded):
    """Compiles the grammars of one server.

    Args:
        model: Its tokens.
        stop: The tokens that end a text; those of the tokenizer if there are none.
        is_compact: Whether JSON has no white space between its tokens.
    """

    def __init__(
        self, model: ServedModel, *, stop: Collection[int] = (), is_compact: bool = False
    ) -> None:
        super().__init__()
        self._model = model
        self._stop = tuple(stop)
        self._is_compact = is_compact
        # Whether the tokenizer is understood is known before the first request.
        self._model.compiler(self._stop)

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Rows of masks in which everything is allowed."""
        return _free_rows(batch_size, vocab_size)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Brings masks to the model's device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Sets the logits of what may not come to minus infinity."""
        _apply(logits, vocab_mask)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """A JSON Schema."""
        return self._compiled("json", "true" if key_string == _ANY_JSON else key_string)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """A regular expression."""
        return self._compiled("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """A grammar in EBNF, GBNF or Lark."""
        return self._compiled("grammar", key_string)

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """A structural tag of either form."""
        return self._compiled("structural_tag", _with_schemas(key_string))

    def _compiled(self, kind: Kind, spec: str) -> BaseGrammarObject:
        try:
            compiled = self._model.compile(kind, spec, self._stop, is_compact=self._is_compact)
        except (StencilmError, ValueError, RecursionError) as error:
            return InvalidGrammarObject(f"{NAME}: {refusal(error)}")
        return StencilmGrammar(compiled)


def _with_schemas(spec: str) -> str:
    """SGLang writes null for the schema of a tool without parameters, and means any."""
    if not _NO_SCHEMA.search(spec):
        return spec
    try:
        tag = json.loads(spec)
    except (ValueError, RecursionError):
        return spec
    stack = [tag]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += part
        elif isinstance(part, dict):
            if "json_schema" in part and part["json_schema"] is None:
                part["json_schema"] = True
            stack += [inner for name, inner in part.items() if name != "json_schema"]
    return json.dumps(tag, ensure_ascii=False)


def _free_rows(rows: int, vocabulary_size: int) -> torch.Tensor:
    mask = allocate_mask(rows, vocabulary_size, pinned=torch.cuda.is_available())
    return mask.fill_(-1)


def _apply(logits: torch.Tensor, mask: torch.Tensor) -> None:
    kernel = _kernel() if logits.is_cuda else apply_mask
    kernel(logits, mask)


def _kernel() -> Callable[[torch.Tensor, torch.Tensor], None]:
    """SGLang's own for GPUs, which does not make a tensor of bools first."""
    from sglang.kernels.ops.grammar.bitmask_ops import apply_token_bitmask_inplace_triton

    kernel: Callable[[torch.Tensor, torch.Tensor], None] = apply_token_bitmask_inplace_triton
    return kernel

"""Tries a text again without parts of a schema: what it takes for the text to go on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

from stencilm import _core
from stencilm._exceptions import StencilmError
from stencilm._vocabulary import Vocabulary
from stencilm.explaining.places import Documents, Node, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stencilm._limits import Limits

__all__ = ["Edit", "OutOfTime", "Trial", "byte_vocabulary"]

_PIECE = 1 << 16


class OutOfTime(Exception):
    """The time for one explanation is over."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A keyword that is left out, or a schema that is `false` and becomes `true`."""

    node: Node
    """The schema."""
    keyword: str
    """Empty for a schema that is `false`."""
    becomes: str = ""
    """The keyword that takes its value; empty for none."""


class Trial:
    """One text that may not come, and the grammar that says so."""

    def __init__(
        self,
        documents: Documents,
        options: Mapping[str, Any],
        text: bytes,
        *,
        is_end: bool,
        limits: Limits,
    ) -> None:
        self.documents = documents
        self._options = options
        self._text = text
        self._is_end = is_end
        self._limits = limits
        self._deadline = perf_counter() + limits.compile_time

    def allows(
        self, edits: Iterable[Edit] = (), /, schema: str | None = None, **options: Any
    ) -> bool:
        """Whether the text could come under the changed schema, or another one.

        Options that are given replace those of the grammar; None stands for the usual value.

        Raises:
            OutOfTime: The time is over.
        """
        if perf_counter() > self._deadline:
            raise OutOfTime
        changed = {**self._options, **options}
        changed = {name: value for name, value in changed.items() if value is not None}
        if schema is None:
            texts = self._texts(edits)
            schema = texts[0]
            changed["resources"] = list(zip(self.documents.uris[1:], texts[1:], strict=True))
        try:
            grammar = _core.Grammar.json_schema(schema, changed, self._limits._core)
            vocabulary = byte_vocabulary()
            compiled = _core.CompiledGrammar(
                grammar, vocabulary, vocabulary.store, self._limits._core
            )
            return self._takes(compiled.matcher())
        except StencilmError:  # What is left is no schema, or has no value.
            return False

    def _takes(self, matcher: _core.Matcher) -> bool:
        for begin in range(0, len(self._text), _PIECE):
            if not matcher.accept_bytes(self._text[begin : begin + _PIECE]):
                return False
            if perf_counter() > self._deadline:
                raise OutOfTime
        return matcher.may_stop() or not self._is_end

    def _texts(self, edits: Iterable[Edit]) -> list[str]:
        roots = list(self.documents.roots)
        # Inner ones first, so that the steps to the others stay true.
        for edit in sorted(edits, key=lambda edit: -len(edit.node.steps)):
            at = edit.node.document
            roots[at] = _changed(roots[at], edit.node.steps, edit)
        return [encode(root) for root in roots]


def _changed(value: Any, steps: Sequence[str | int], edit: Edit) -> Any:
    """A copy of what is on the way, and the change at its end."""
    if steps:
        try:
            inner = value[steps[0]]
        except (KeyError, IndexError, TypeError):  # An outer change took it away.
            return value
        copy = value.copy()
        copy[steps[0]] = _changed(inner, steps[1:], edit)
        return copy
    if not edit.keyword:
        return True
    if not isinstance(value, dict):
        return value
    changed = {k: v for k, v in value.items() if k != edit.keyword}
    if edit.becomes:
        changed[edit.becomes] = value[edit.keyword]
    return changed


@cache
def byte_vocabulary() -> Vocabulary:
    """A token for every byte: what may be spelled is no question then."""
    return Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])

"""Stencilm for the official suite of JSON Schema: the one method that `suite.py` names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import stencilm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

STOP = 256


class Stencilm:
    """Every legal text of a value is a sentence: the widest options that there are."""

    options: ClassVar[dict[str, Any]] = {"key_order": "any", "numbers": "any", "escapes": "any"}

    def __init__(self) -> None:
        tokens = [bytes([byte]) for byte in range(STOP)]
        self.vocabulary = stencilm.Vocabulary.from_tokens([*tokens, None], stop=[STOP])
        self.compiler = stencilm.Compiler(self.vocabulary, cache_entries=0)
        self.resources: dict[int, tuple[Mapping[str, Any], dict[str, str]]] = {}

    def schema(
        self, schema: Any, dialect: str, resources: Mapping[str, Any], formats: bool
    ) -> Callable[[bytes], bool]:
        try:
            compiled = self.compile(schema, dialect, resources, formats)
        except stencilm.UnsatisfiableError:
            # The schema has no values: said at once, and the same answer for every text.
            return lambda _: False

        def accepts(text: bytes) -> bool:
            matcher = compiled.matcher()
            return matcher.accept_bytes(text) and matcher.may_stop()

        return accepts

    def compile(
        self, schema: Any, dialect: str, resources: Mapping[str, Any], formats: bool
    ) -> stencilm.CompiledGrammar:
        grammar = stencilm.Grammar.from_json_schema(
            json.dumps(schema),
            dialect=dialect,
            resources=self.texts(resources),
            formats=formats,
            **self.options,
        )
        return self.compiler.compile(grammar)

    def texts(self, resources: Mapping[str, Any]) -> dict[str, str]:
        """The same documents as text, made once for a mapping that stays the same object."""
        known = self.resources.get(id(resources))
        if known is None or known[0] is not resources:
            texts = {uri: json.dumps(schema) for uri, schema in resources.items()}
            known = self.resources[id(resources)] = (resources, texts)
        return known[1]

"""Stencilm for the language cases: the one method that `cases.py` names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import stencilm

if TYPE_CHECKING:
    from collections.abc import Callable


class Stencilm:
    def __init__(self) -> None:
        tokens = [bytes([byte]) for byte in range(256)]
        self.vocabulary = stencilm.Vocabulary.from_tokens([*tokens, None], stop=[256])
        self.compiler = stencilm.Compiler(self.vocabulary)

    def language(self, format: str, grammar: Any) -> Callable[[bytes], bool]:
        if format == "json_schema":
            made = stencilm.Grammar.from_json_schema(json.dumps(grammar))
        elif format == "regex":
            made = stencilm.Grammar.from_regex(grammar)
        elif format == "ebnf":
            made = stencilm.Grammar.from_ebnf(grammar)
        elif format in ("lark", "lark_cfg"):
            made = stencilm.Grammar.from_lark(grammar)
        elif format == "lark_contextual":
            made = stencilm.Grammar.from_lark(grammar, meaning="contextual")
        elif format == "structural_tag":
            made = stencilm.Grammar.from_structural_tag(grammar)
        else:
            raise NotImplementedError(format)
        compiled = self.compiler.compile(made)

        def accepts(text: bytes) -> bool:
            matcher = compiled.matcher()
            return all(matcher.accept(byte) for byte in text) and matcher.accept(256)

        return accepts

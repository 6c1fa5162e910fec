"""Stencilm for the mask benchmark: the methods that its `engines.py` shows."""

from __future__ import annotations

from typing import Any, ClassVar

import stencilm


class Stencilm:
    """One store for all schemas, as a server has it; the text format of `json.dumps` allowed."""

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, tokenizer_path: str, eos: int) -> None:
        self.vocabulary = stencilm.Vocabulary.load(tokenizer_path, stop=[eos])
        self.compiler = stencilm.Compiler(self.vocabulary, cache_entries=0)
        self.bits = stencilm.allocate_mask(1, self.vocabulary.size)
        self.row = self.bits[0]

    def describe(self) -> str:
        return f"stencilm {stencilm.__version__}"

    def compile(self, schema: Any) -> None:
        grammar = stencilm.Grammar.from_json_schema(schema, **self.options)
        self.compiled = self.compiler.compile(grammar)

    def reset(self) -> None:
        self.matcher = self.compiled.matcher()

    def mask(self) -> Any:
        self.matcher.fill_mask(self.bits)
        return self.row

    def accept(self, token: int) -> bool:
        return self.matcher.accept(token)

    def may_stop(self) -> bool:
        return self.matcher.may_stop()


class StencilmAnyOrder(Stencilm):
    """Member names in any order."""

    options: ClassVar[dict[str, Any]] = {"key_order": "any"}


class StencilmFresh(Stencilm):
    """A new store for each schema: nothing is learnt from earlier ones."""

    def compile(self, schema: Any) -> None:
        self.vocabulary.renew_store()
        super().compile(schema)


class StencilmCompact(Stencilm):
    """The separators of `json.dumps` and nothing else: less white space to look at."""

    options: ClassVar[dict[str, Any]] = {"separators": (", ", ": ")}

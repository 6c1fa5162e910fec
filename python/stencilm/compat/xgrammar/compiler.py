"""Grammars for the tokens of a model."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import stencilm
from stencilm.compat.xgrammar.exceptions import (
    DeserializeFormatError,
    InvalidStructuralTagError,
    runtime_errors,
)
from stencilm.compat.xgrammar.grammar import (
    Grammar,
    cooked,
    grammar_of,
    recipe,
    schema_options,
    schema_text,
    tag_recipe,
    tag_text,
)
from stencilm.compat.xgrammar.saved import read_saved, write_saved
from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["CompiledGrammar", "GrammarCompiler"]

_LIMITS = stencilm.Limits(rollback=1 << 20)
"""Tokens that can be given back: more than any model writes."""
_CACHE_ENTRIES = 10_000


class CompiledGrammar:
    """A grammar for the tokens of a model. Shared by matchers and threads."""

    def __init__(
        self,
        compiled: stencilm.CompiledGrammar,
        grammar: Callable[[], Grammar],
        tokenizer_info: TokenizerInfo,
    ) -> None:
        self._compiled = compiled
        self._make = grammar
        self._tokenizer_info = tokenizer_info

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar."""
        return self._make()

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The tokens."""
        return self._tokenizer_info

    @property
    def memory_size_bytes(self) -> int:
        """Bytes of its tables. They grow as texts visit states."""
        return self._compiled.memory

    def serialize_json(self) -> str:
        """The grammar, and the tokenizer's metadata, as JSON. Tables are made again when read."""
        fields = {
            "recipe": self.grammar._recipe,
            "tokenizer_metadata": self._tokenizer_info.dump_metadata(),
        }
        return write_saved("CompiledGrammar", fields)

    @staticmethod
    def deserialize_json(json_str: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar:
        """What `serialize_json` wrote.

        Raises:
            InvalidJSONError: This is no JSON.
            DeserializeVersionError: It is of another version.
            DeserializeFormatError: It is something else, or for other tokens.
        """
        read = read_saved("CompiledGrammar", json_str)
        grammar = grammar_of(read.get("recipe"))
        if read.get("tokenizer_metadata") != tokenizer_info.dump_metadata():
            raise DeserializeFormatError("it was compiled for other tokens")
        return GrammarCompiler(tokenizer_info, cache_enabled=False).compile_grammar(grammar)

    def _for_stops(self, stops: Sequence[int]) -> stencilm.CompiledGrammar:
        """The same where these tokens end a text."""
        vocabulary = self._tokenizer_info.vocabulary(stops)
        if vocabulary is self._compiled.vocabulary:
            return self._compiled
        with runtime_errors():
            compiler = stencilm.Compiler(vocabulary, limits=_LIMITS, cache_entries=0)
            return compiler.compile(self.grammar._grammar)


class GrammarCompiler:
    """Compiles grammars for the tokens of a model. Safe to use from many threads.

    Args:
        tokenizer_info: The tokens.
        max_threads: Counts for nothing: compiling does no work ahead.
        cache_enabled: Whether a grammar that was compiled before is given again.
        cache_limit_bytes: Bytes that the tables of kept grammars may have; -1 for no limit.
        enable_dynamic_compilation: Counts for nothing: states are always made when first visited.

    Raises:
        ValueError: What is given is no `TokenizerInfo`.
        RuntimeError: The limit is below -1, or the tokens cannot be used.

    >>> compiler = GrammarCompiler(TokenizerInfo(["a", "b", "</s>"]))
    >>> compiler.compile_regex("a+b").grammar
    <stencilm.compat.xgrammar.grammar.Grammar object at ...>
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        enable_dynamic_compilation: bool = False,
    ) -> None:
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise ValueError("a TokenizerInfo is expected, such as TokenizerInfo.from_huggingface")
        if cache_limit_bytes < -1:
            raise RuntimeError(f"cache_limit_bytes is -1 or more, and not {cache_limit_bytes}")
        self._tokenizer_info = tokenizer_info
        self._limit = cache_limit_bytes
        self._compiler = stencilm.Compiler(
            tokenizer_info.vocabulary(tokenizer_info.stop_token_ids),
            limits=_LIMITS,
            cache_entries=_CACHE_ENTRIES if cache_enabled else 0,
            cache_bytes=cache_limit_bytes if cache_limit_bytes >= 0 else 1 << 62,
        )

    def compile_json_schema(
        self,
        schema: str | type[Any] | Mapping[str, Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
    ) -> CompiledGrammar:
        """A JSON Schema; the arguments are those of `Grammar.from_json_schema`."""
        options = schema_options(
            any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order
        )
        text = schema_text(schema)
        return self._compile(recipe("json_schema", schema=text, options=options))

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Any JSON object or array."""
        return self._compile(recipe("json"))

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """A regular expression."""
        return self._compile(recipe("regex", pattern=regex))

    def compile_lark(
        self, lark_string: str, *, named_grammars: Mapping[str, Grammar | str] | None = None
    ) -> CompiledGrammar:
        """A grammar in Lark's language."""
        info = self._tokenizer_info
        grammar = Grammar.from_lark(lark_string, tokenizer_info=info, named_grammars=named_grammars)
        return self._compile(grammar._recipe)

    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar:
        """A structural tag; the arguments are those of `Grammar.from_structural_tag`."""
        made_from = tag_recipe(tag_text(args, kwargs), self._tokenizer_info)
        return self._compile(made_from, InvalidStructuralTagError)

    def compile_grammar(
        self, grammar: str | Grammar, *, root_rule_name: str = "root"
    ) -> CompiledGrammar:
        """A grammar, or one in EBNF."""
        if isinstance(grammar, str):
            return self._compile(recipe("ebnf", text=grammar, start=root_rule_name))
        return self._compile(grammar._recipe)

    def clear_cache(self) -> None:
        """Forgets the grammars; those in use stay alive."""
        self._compiler.cache_clear()

    def get_cache_size_bytes(self) -> int:
        """Bytes of the tables of the grammars that are kept."""
        return self._compiler.cache_use().bytes

    @property
    def cache_limit_bytes(self) -> int:
        """Bytes that they may have; -1 for no limit."""
        return self._limit

    def _compile(
        self, made_from: dict[str, Any], kind: type[RuntimeError] = RuntimeError
    ) -> CompiledGrammar:
        def make() -> Grammar:
            return Grammar(cooked(made_from), made_from)

        def cook() -> stencilm.Grammar:
            made = cooked(made_from)
            if not any(self._tokenizer_info.decoded_vocab) and made.tokens:
                raise RuntimeError(f"there is no token {made.tokens[0]}")
            return made

        with runtime_errors(kind):
            compiled = self._compiler.compile_once(repr(made_from), cook)
        return CompiledGrammar(compiled, make, self._tokenizer_info)

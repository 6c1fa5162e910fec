"""Grammars: XGrammar's names over ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import stencilm
from stencilm._inputs import schema_text as encoded
from stencilm.compat.xgrammar.exceptions import (
    DeserializeFormatError,
    InvalidJSONError,
    InvalidStructuralTagError,
    runtime_errors,
)
from stencilm.compat.xgrammar.saved import read_saved, write_saved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stencilm.compat.xgrammar.structural_tag import StructuralTag, StructuralTagItem
    from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = [
    "Grammar",
    "cooked",
    "grammar_of",
    "recipe",
    "schema_options",
    "schema_text",
    "tag_recipe",
    "tag_text",
]

_UNBOUNDED = (1 << 32) - 2
_SHOWN = 10_000
_NAMES_TOKENS = ('"token"', '_tokens"', '"token_dispatch"')
"""A text without these has no member that names a token."""
_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{,\d*\}", re.DOTALL)
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_ESCAPES = {r"\a": r"\x07", r"\e": r"\x1b"}
_TAG_OPTIONS: dict[str, Any] = {
    "additional": "last",
    "numbers": "digits",
    "closed": True,
    "whitespace_cap": _UNBOUNDED,
}
"""As schemas are meant inside of structural tags."""


class Grammar:
    """What a text may be. Made by the `from_…` methods.

    >>> print(Grammar.from_ebnf('root ::= "a" | "b"'), end="")
    root ::= "a" | "b"
    """

    def __init__(self, grammar: stencilm.Grammar, recipe: dict[str, Any]) -> None:
        self._grammar = grammar
        self._recipe = recipe

    def __str__(self) -> str:
        return self._grammar.show(_SHOWN)

    @staticmethod
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """The texts of a grammar in EBNF.

        Raises:
            RuntimeError: It is refused; the message has the place.

        >>> Grammar.from_ebnf("root ::= other")
        Traceback (most recent call last):
        RuntimeError: at byte 9: unknown rule `other`
        """
        return _make(recipe("ebnf", text=ebnf_string, start=root_rule_name))

    @staticmethod
    def from_json_schema(
        schema: str | type[Any] | Mapping[str, Any],
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
    ) -> Grammar:
        """The JSON texts that a schema allows.

        Args:
            schema: JSON text, a dict, or a pydantic model.
            any_whitespace: Any white space between tokens; `indent` and `separators` count for
                nothing then.
            indent: Lines as `json.dumps(…, indent=indent)` writes them; one line if not given.
            separators: Between items and after names; those of `json.dumps` if not given.
            strict_mode: No member and no item that the schema does not describe.
            max_whitespace_cnt: Most white-space characters in a row.
            print_converted_ebnf: Prints the grammar.
            any_order: Members in any order; otherwise in the order of the schema.

        Raises:
            RuntimeError: The schema is refused; the message has the place.
            ValueError: It is none of these kinds of things.
        """
        options = schema_options(
            any_whitespace, indent, separators, strict_mode, max_whitespace_cnt, any_order
        )
        made = _make(recipe("json_schema", schema=schema_text(schema), options=options))
        if print_converted_ebnf:
            print(made)
        return made

    @staticmethod
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """The texts that match a regular expression from end to end.

        Raises:
            RuntimeError: It is refused; the message has the place.

        >>> print(Grammar.from_regex("a+"), end="")
        root ::= [a]+
        """
        made = _make(recipe("regex", pattern=regex_string))
        if print_converted_ebnf:
            print(made)
        return made

    @staticmethod
    def from_lark(
        lark_string: str,
        *,
        tokenizer_info: TokenizerInfo | None = None,
        named_grammars: Mapping[str, Grammar | str] | None = None,
    ) -> Grammar:
        """The texts of a grammar in Lark's language, from the rule `start`.

        Args:
            lark_string: The grammar.
            tokenizer_info: Whose tokens `<name>` are, if there are such.
            named_grammars: What `@name` stands for: grammars, or texts of Lark grammars.

        Raises:
            RuntimeError: It is refused; the message has the place.
        """
        if named_grammars:
            raise RuntimeError("named grammars, `@name`, are not known")
        made = _make(recipe("lark", text=lark_string))
        if tokenizer_info is not None:
            made.check(tokenizer_info)
        elif made._grammar.tokens:
            raise RuntimeError(f"tokenizer_info is needed for {made._grammar.tokens[0]}")
        return made

    @staticmethod
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """Free text and tags with contents of their own.

        Args:
            args: `structural_tag`: a `StructuralTag`, JSON text or a dict. Or, as in old versions,
                `tags` and `triggers`.
            kwargs: The same by name.

        Raises:
            InvalidJSONError: The text is no JSON.
            InvalidStructuralTagError: It is refused; the message has the place.
            TypeError: Other arguments.
        """
        return _make(tag_recipe(tag_text(args, kwargs), None), InvalidStructuralTagError)

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """Any JSON object or array.

        >>> str(Grammar.builtin_json_grammar()) != ""
        True
        """
        return _make(recipe("json"))

    @staticmethod
    def concat(*grammars: Grammar) -> Grammar:
        """One after the other.

        >>> print(Grammar.concat(Grammar.from_regex("a"), Grammar.from_regex("b")), end="")
        root ::= part_1.root part_2.root
        part_2.root ::= [b]
        part_1.root ::= [a]
        """
        return _make(recipe("concat", parts=[grammar._recipe for grammar in grammars]))

    @staticmethod
    def union(*grammars: Grammar) -> Grammar:
        """Any of these.

        >>> print(Grammar.union(Grammar.from_regex("a"), Grammar.from_regex("b")), end="")
        root ::= part_1.root | part_2.root
        part_1.root ::= [a]
        part_2.root ::= [b]
        """
        return _make(recipe("union", parts=[grammar._recipe for grammar in grammars]))

    def serialize_json(self) -> str:
        r"""What it was made from, as JSON.

        >>> saved = Grammar.from_regex("a+").serialize_json()
        >>> str(Grammar.deserialize_json(saved))
        'root ::= [a]+\n'
        """
        return write_saved("Grammar", {"recipe": self._recipe})

    @staticmethod
    def deserialize_json(json_string: str) -> Grammar:
        """What `serialize_json` wrote.

        Raises:
            InvalidJSONError: This is no JSON.
            DeserializeVersionError: It is of another version.
            DeserializeFormatError: It is something else.
        """
        return grammar_of(read_saved("Grammar", json_string).get("recipe"))

    def check(self, tokenizer_info: TokenizerInfo) -> None:
        """Refuses tokens that the vocabulary has not."""
        with runtime_errors():
            vocabulary = tokenizer_info.vocabulary(tokenizer_info.stop_token_ids)
            stencilm.Compiler(vocabulary, cache_entries=0).compile(self._grammar)


def grammar_of(made_from: Any) -> Grammar:
    """The grammar of a recipe that was saved.

    Raises:
        DeserializeFormatError: It is none.
    """
    try:
        return Grammar(cooked(made_from), made_from)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise DeserializeFormatError(f"this is no grammar: {error!r}") from error


def tag_recipe(text: str, info: TokenizerInfo | None) -> dict[str, Any]:
    """What a structural tag is made from, with the numbers of the tokens that it names.

    Raises:
        InvalidStructuralTagError: It nests too deep.
    """
    if info is not None and any(sign in text for sign in _NAMES_TOKENS):
        from stencilm.compat.xgrammar.structural_tag import with_numbers

        try:
            text = json.dumps(with_numbers(json.loads(text), info), ensure_ascii=False)
        except RecursionError as error:
            raise InvalidStructuralTagError("it nests too deep") from error
    return recipe("structural_tag", tag=text)


def tag_text(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The structural tag in these arguments, as JSON text.

    Raises:
        InvalidJSONError: It is no JSON.
        TypeError: These are no such arguments.
    """
    from stencilm.compat.xgrammar.structural_tag import StructuralTag

    names = ["structural_tag"]
    if len(args) + len(kwargs) == 2 or "tags" in kwargs:
        names = ["tags", "triggers"]
    given = dict(zip(names, args, strict=False), **kwargs)
    if set(given) != set(names) or len(args) > len(names):
        raise TypeError("a structural tag is expected, or tags and triggers")
    if len(names) == 2:
        tags: list[StructuralTagItem] = given["tags"]
        made = StructuralTag.from_legacy_structural_tag(tags, given["triggers"])
        return made.model_dump_json(exclude_none=True)
    tag: StructuralTag | str | Mapping[str, Any] = given["structural_tag"]
    try:
        if isinstance(tag, str):
            json.loads(tag)
            return tag
        if isinstance(tag, Mapping):
            return json.dumps(tag, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"this is no JSON: {error}") from error
    return tag.model_dump_json(exclude_none=True)


def schema_options(
    any_whitespace: bool,
    indent: int | None,
    separators: tuple[str, str] | None,
    strict_mode: bool,
    max_whitespace_cnt: int | None,
    any_order: bool,
) -> dict[str, Any]:
    """Our options for XGrammar's."""
    options: dict[str, Any] = {"additional": "last", "numbers": "digits"}
    if strict_mode:
        options["closed"] = True
    if any_order:
        options["key_order"] = "any"
    if any_whitespace:
        cap = _UNBOUNDED if max_whitespace_cnt is None else max_whitespace_cnt
        return {**options, "whitespace_cap": cap}
    if indent is not None:
        options["indent"] = indent
    if indent is None or separators is not None:
        options["separators"] = separators or (", ", ": ")
    return options


def schema_text(schema: Any) -> str:
    """A schema as JSON text."""
    if isinstance(schema, str):
        return schema
    if isinstance(schema, Mapping) or hasattr(schema, "model_json_schema"):
        try:
            return encoded(schema)
        except RecursionError as error:
            raise RuntimeError("the schema nests too deep") from error
    # pydantic 1.
    make = getattr(schema, "schema", None)
    if callable(make):
        return encoded(make())
    raise ValueError("a schema is JSON text, a dict or a pydantic model")


def _ecma_pattern(pattern: str) -> str:
    r"""The pattern with `\a` and `\e`, which ECMA-262 has not, by their numbers.

    Raises:
        RuntimeError: It has `{,n}`, which is no quantifier there, and one in Python.
    """

    def escape(found: re.Match[str]) -> str:
        return _ESCAPES.get(found[0], found[0])

    def piece(found: re.Match[str]) -> str:
        if found[0].startswith("{"):
            raise RuntimeError(f"at {found.start()}: {found[0]!r} is no quantifier: write {{0,n}}")
        return _ESCAPED.sub(escape, found[0])

    return _PIECE.sub(piece, pattern)


def recipe(kind: str, **fields: Any) -> dict[str, Any]:
    """What a grammar is made from, as JSON has it."""
    return {"kind": kind, **fields}


def _make(made_from: dict[str, Any], kind: type[RuntimeError] = RuntimeError) -> Grammar:
    with runtime_errors(kind):
        return Grammar(cooked(made_from), made_from)


def cooked(made_from: Any) -> stencilm.Grammar:
    """Our grammar."""
    ways: dict[str, Callable[[Any], stencilm.Grammar]] = {
        "ebnf": lambda given: stencilm.Grammar.from_ebnf(given["text"], start=given["start"]),
        "regex": lambda given: stencilm.Grammar.from_regex(_ecma_pattern(given["pattern"])),
        "lark": lambda given: stencilm.Grammar.from_lark(given["text"], meaning="xgrammar"),
        "json": lambda _: stencilm.Grammar.from_json_schema('{"type": ["object", "array"]}'),
        "json_schema": lambda given: stencilm.Grammar.from_json_schema(
            given["schema"], **given["options"]
        ),
        "structural_tag": lambda given: stencilm.Grammar.from_structural_tag(
            given["tag"], **_TAG_OPTIONS
        ),
        "concat": lambda given: stencilm.Grammar.sequence(list(map(cooked, given["parts"]))),
        "union": lambda given: stencilm.Grammar.any_of(list(map(cooked, given["parts"]))),
    }
    return ways[made_from["kind"]](made_from)

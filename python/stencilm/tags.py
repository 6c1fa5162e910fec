"""The formats of structural tags, as Python objects.

>>> from stencilm import Grammar
>>> call = Tag("<call>", JsonSchema({"type": "object"}), "</call>")
>>> grammar = Grammar.from_structural_tag(TriggeredTags(["<call>"], [call]))
>>> grammar.kind
'structural_tag'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

__all__ = [
    "AnyText",
    "AnyTokens",
    "ConstString",
    "Dispatch",
    "EbnfGrammar",
    "ExcludeToken",
    "Format",
    "JsonSchema",
    "OptionalFormat",
    "Or",
    "Plus",
    "QwenXmlParameter",
    "Regex",
    "Repeat",
    "SequenceOf",
    "Star",
    "StructuralTag",
    "Style",
    "Tag",
    "TagsWithSeparator",
    "Token",
    "TokenDispatch",
    "TokenTriggeredTags",
    "TriggeredTags",
    "tag_value",
]

Style: TypeAlias = Literal[
    "json",
    "qwen_xml",
    "mimo_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "glm_xml",
    "cohere_xml",
    "kimi_k3_xml",
    "gemma",
    "function_gemma",
    "pythonic",
]
"""How an object is written: as JSON, its members one by one between marks, or in a notation of its
own."""


@dataclass(frozen=True, slots=True)
class Format:
    """A part of a structural tag."""

    type: ClassVar[str]


@dataclass(frozen=True, slots=True)
class ConstString(Format):
    """This text."""

    type: ClassVar[str] = "const_string"
    value: str


@dataclass(frozen=True, slots=True)
class JsonSchema(Format):
    """A value of a JSON Schema."""

    type: ClassVar[str] = "json_schema"
    json_schema: bool | Mapping[str, Any]
    style: Style = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: Sequence[str] = ()
    tokens: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class QwenXmlParameter(Format):
    """An object in Qwen's marks; `JsonSchema(…, style="qwen_xml")` says the same."""

    type: ClassVar[str] = "qwen_xml_parameter"
    json_schema: bool | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Regex(Format):
    """A text that matches from end to end."""

    type: ClassVar[str] = "regex"
    pattern: str
    excludes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class EbnfGrammar(Format):
    """A text of a grammar in EBNF, from the rule `root`, or in Lark's language, from `start`."""

    type: ClassVar[str] = "grammar"
    grammar: str
    syntax: Literal["ebnf", "lark"] | None = None


@dataclass(frozen=True, slots=True)
class AnyText(Format):
    """Free text, without what it excludes and without what ends the tag around it."""

    type: ClassVar[str] = "any_text"
    excludes: Sequence[str] = ()
    max_tokens: int | None = None
    max_chars: int | None = None


@dataclass(frozen=True, slots=True)
class SequenceOf(Format):
    """One after the other."""

    type: ClassVar[str] = "sequence"
    elements: Sequence[Format]


@dataclass(frozen=True, slots=True)
class Or(Format):
    """Any of these."""

    type: ClassVar[str] = "or"
    elements: Sequence[Format]


@dataclass(frozen=True, slots=True)
class OptionalFormat(Format):
    """Once or not at all."""

    type: ClassVar[str] = "optional"
    content: Format


@dataclass(frozen=True, slots=True)
class Plus(Format):
    """Once or more."""

    type: ClassVar[str] = "plus"
    content: Format


@dataclass(frozen=True, slots=True)
class Star(Format):
    """Any number of times."""

    type: ClassVar[str] = "star"
    content: Format


@dataclass(frozen=True, slots=True)
class Repeat(Format):
    """Between `min` and `max` times; `max = -1` for no bound."""

    type: ClassVar[str] = "repeat"
    min: int
    max: int
    content: Format


@dataclass(frozen=True, slots=True)
class Token(Format):
    """One special token by its name, or any by its number."""

    type: ClassVar[str] = "token"
    token: int | str


@dataclass(frozen=True, slots=True)
class ExcludeToken(Format):
    """One token that is none of these numbers, and no stop token."""

    type: ClassVar[str] = "exclude_token"
    exclude_tokens: Sequence[int | str] = ()


@dataclass(frozen=True, slots=True)
class AnyTokens(Format):
    """Any tokens but these numbers, the token that ends the tag around, and stop tokens."""

    type: ClassVar[str] = "any_tokens"
    exclude_tokens: Sequence[int | str] = ()
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Tag(Format):
    """A content between a beginning and one of some ends."""

    type: ClassVar[str] = "tag"
    begin: str | Token
    content: Format
    end: str | Sequence[str] | Token


@dataclass(frozen=True, slots=True)
class TriggeredTags(Format):
    """Free text, in which a trigger can only be the beginning of a tag."""

    type: ClassVar[str] = "triggered_tags"
    triggers: Sequence[str]
    tags: Sequence[Tag]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TokenTriggeredTags(Format):
    """The same with tokens as triggers. Between numbers come any tokens, between names text."""

    type: ClassVar[str] = "token_triggered_tags"
    trigger_tokens: Sequence[int | str]
    tags: Sequence[Tag]
    exclude_tokens: Sequence[int | str] = ()
    at_least_one: bool = False
    stop_after_first: bool = False


@dataclass(frozen=True, slots=True)
class TagsWithSeparator(Format):
    """Tags with a separator between them."""

    type: ClassVar[str] = "tags_with_separator"
    tags: Sequence[Tag]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


@dataclass(frozen=True, slots=True)
class Dispatch(Format):
    """Free text, in which each of some texts is followed by a format."""

    type: ClassVar[str] = "dispatch"
    rules: Sequence[tuple[str, Format]]
    loop: bool = True
    excludes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TokenDispatch(Format):
    """The same with special tokens."""

    type: ClassVar[str] = "token_dispatch"
    rules: Sequence[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: Sequence[int | str] = ()


@dataclass(frozen=True, slots=True)
class StructuralTag:
    """A whole structural tag."""

    format: Format


def tag_value(tag: Mapping[str, Any] | StructuralTag | Format) -> Mapping[str, Any]:
    """A structural tag as JSON has it.

    >>> tag_value(Regex("a+"))
    {'type': 'structural_tag', 'format': {'type': 'regex', 'pattern': 'a+'}}
    """
    if isinstance(tag, StructuralTag):
        tag = tag.format
    if isinstance(tag, Format):
        return {"type": "structural_tag", "format": _plain(tag)}
    return tag


def _plain(value: Any) -> Any:
    """A format as JSON has it; what is not given is left out."""
    if isinstance(value, Format):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
        given = {
            name: part
            for name, part in named.items()
            if part is not None and part is not False and part != ()
        }
        # A schema may be `false`.
        if isinstance(value, JsonSchema | QwenXmlParameter):
            given["json_schema"] = value.json_schema
            return {"type": value.type, **given}
        if isinstance(value, Dispatch | TokenDispatch):
            given["loop"] = value.loop
        return {"type": value.type, **{name: _plain(part) for name, part in given.items()}}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value

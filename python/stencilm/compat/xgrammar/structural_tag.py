"""The formats of structural tags, as pydantic models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = [
    "AnyTextFormat",
    "AnyTokensFormat",
    "ConstStringFormat",
    "DispatchFormat",
    "ExcludeTokenFormat",
    "Format",
    "GrammarFormat",
    "JSONSchemaFormat",
    "OptionalFormat",
    "OrFormat",
    "PlusFormat",
    "QwenXMLParameterFormat",
    "RegexFormat",
    "RepeatFormat",
    "SequenceFormat",
    "StarFormat",
    "StructuralTag",
    "StructuralTagItem",
    "TagFormat",
    "TagsWithSeparatorFormat",
    "TokenDispatchFormat",
    "TokenFormat",
    "TokenTriggeredTagsFormat",
    "TriggeredTagsFormat",
]

_Count = Annotated[int, Field(ge=0, le=(1 << 31) - 1)]
_Style = Literal[
    "json",
    "qwen_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "glm_xml",
    "cohere_xml",
    "kimi_k3_xml",
    "deepseek_v4_1_xml",
    "gemma",
    # These are Stencilm's own.
    "mimo_xml",
    "function_gemma",
    "pythonic",
]


class ConstStringFormat(BaseModel):
    """This text."""

    type: Literal["const_string"] = "const_string"
    value: str


class JSONSchemaFormat(BaseModel):
    """A value of a JSON Schema."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: bool | dict[str, Any]
    style: _Style = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    excludes: list[str] = []


class QwenXMLParameterFormat(BaseModel):
    """An object in Qwen's marks; the style `qwen_xml` says the same."""

    type: Literal["qwen_xml_parameter"] = "qwen_xml_parameter"
    json_schema: bool | dict[str, Any]


class AnyTextFormat(BaseModel):
    """Free text."""

    type: Literal["any_text"] = "any_text"
    excludes: list[str] = []
    max_tokens: _Count | None = None
    max_chars: _Count | None = None


class GrammarFormat(BaseModel):
    """A text of a grammar."""

    type: Literal["grammar"] = "grammar"
    grammar: str
    syntax: Literal["ebnf", "lark"] = "ebnf"


class RegexFormat(BaseModel):
    """A text that matches from end to end."""

    type: Literal["regex"] = "regex"
    pattern: str


class TokenFormat(BaseModel):
    """One token, by its number or its text."""

    type: Literal["token"] = "token"
    token: int | str


class ExcludeTokenFormat(BaseModel):
    """One token that is none of these."""

    type: Literal["exclude_token"] = "exclude_token"
    exclude_tokens: list[int | str] = []


class AnyTokensFormat(BaseModel):
    """Any tokens but these."""

    type: Literal["any_tokens"] = "any_tokens"
    exclude_tokens: list[int | str] = []
    max_tokens: _Count | None = None


class SequenceFormat(BaseModel):
    """One after the other."""

    type: Literal["sequence"] = "sequence"
    elements: list[Format]


class OrFormat(BaseModel):
    """Any of these."""

    type: Literal["or"] = "or"
    elements: list[Format]


class TagFormat(BaseModel):
    """A content between a beginning and one of some ends."""

    type: Literal["tag"] = "tag"
    begin: str | TokenFormat
    content: Format
    end: str | list[str] | TokenFormat


class TriggeredTagsFormat(BaseModel):
    """Free text, in which a trigger can only be the beginning of a tag."""

    type: Literal["triggered_tags"] = "triggered_tags"
    triggers: list[str]
    tags: list[TagFormat]
    at_least_one: bool = False
    stop_after_first: bool = False
    excludes: list[str] = []


class TokenTriggeredTagsFormat(BaseModel):
    """The same with tokens as triggers."""

    type: Literal["token_triggered_tags"] = "token_triggered_tags"
    trigger_tokens: list[int | str]
    tags: list[TagFormat]
    exclude_tokens: list[int | str] = []
    at_least_one: bool = False
    stop_after_first: bool = False


class TagsWithSeparatorFormat(BaseModel):
    """Tags with a separator between them."""

    type: Literal["tags_with_separator"] = "tags_with_separator"
    tags: list[TagFormat]
    separator: str
    at_least_one: bool = False
    stop_after_first: bool = False


class OptionalFormat(BaseModel):
    """Once or not at all."""

    type: Literal["optional"] = "optional"
    content: Format


class PlusFormat(BaseModel):
    """Once or more."""

    type: Literal["plus"] = "plus"
    content: Format


class StarFormat(BaseModel):
    """Any number of times."""

    type: Literal["star"] = "star"
    content: Format


class RepeatFormat(BaseModel):
    """Between `min` and `max` times; -1 for no bound."""

    type: Literal["repeat"] = "repeat"
    min: int
    max: int
    content: Format


class DispatchFormat(BaseModel):
    """Free text, in which each of some texts is followed by a format."""

    type: Literal["dispatch"] = "dispatch"
    rules: list[tuple[str, Format]]
    loop: bool = True
    excludes: list[str] = []


class TokenDispatchFormat(BaseModel):
    """The same with tokens."""

    type: Literal["token_dispatch"] = "token_dispatch"
    rules: list[tuple[int | str, Format]]
    loop: bool = True
    exclude_tokens: list[int | str] = []


Format = Annotated[
    AnyTextFormat
    | ConstStringFormat
    | JSONSchemaFormat
    | GrammarFormat
    | RegexFormat
    | QwenXMLParameterFormat
    | OrFormat
    | SequenceFormat
    | TagFormat
    | TriggeredTagsFormat
    | TokenTriggeredTagsFormat
    | TagsWithSeparatorFormat
    | OptionalFormat
    | PlusFormat
    | StarFormat
    | TokenFormat
    | ExcludeTokenFormat
    | AnyTokensFormat
    | RepeatFormat
    | DispatchFormat
    | TokenDispatchFormat,
    Field(discriminator="type"),
]
"""A part of a structural tag, told apart by `type`."""

for _model in (
    SequenceFormat,
    OrFormat,
    TagFormat,
    TriggeredTagsFormat,
    TokenTriggeredTagsFormat,
    TagsWithSeparatorFormat,
    OptionalFormat,
    PlusFormat,
    StarFormat,
    RepeatFormat,
    DispatchFormat,
    TokenDispatchFormat,
):
    _model.model_rebuild()


class StructuralTagItem(BaseModel):
    """A tag with a schema, as old versions had them.

    >>> StructuralTagItem(begin="<a>", schema={"type": "null"}, end="</a>").end
    '</a>'
    """

    begin: str
    schema_: str | type[BaseModel] | dict[str, Any] = Field(alias="schema")
    end: str


class StructuralTag(BaseModel):
    """A whole structural tag.

    >>> StructuralTag(format=RegexFormat(pattern="a+")).model_dump()["format"]["pattern"]
    'a+'
    """

    type: Literal["structural_tag"] = "structural_tag"
    format: Format

    @staticmethod
    def from_legacy_structural_tag(
        tags: list[StructuralTagItem], triggers: list[str]
    ) -> StructuralTag:
        """Free text and tags with schemas.

        >>> item = StructuralTagItem(begin="<a>", schema={"type": "null"}, end="</a>")
        >>> StructuralTag.from_legacy_structural_tag([item], ["<a"]).format.triggers
        ['<a']
        """
        made = [
            TagFormat(
                begin=tag.begin,
                content=JSONSchemaFormat(json_schema=_schema_value(tag.schema_)),
                end=tag.end,
            )
            for tag in tags
        ]
        return StructuralTag(format=TriggeredTagsFormat(triggers=triggers, tags=made))

    @staticmethod
    def from_json(json_str: str | dict[str, Any]) -> StructuralTag:
        """One that is given as JSON.

        Raises:
            ValueError: It is none.
        """
        if isinstance(json_str, str):
            return StructuralTag.model_validate_json(json_str)
        if isinstance(json_str, dict):
            return StructuralTag.model_validate(json_str)
        raise ValueError("a structural tag is JSON text or a dict")


def _schema_value(schema: Any) -> Any:
    if isinstance(schema, str):
        return json.loads(schema)
    if isinstance(schema, Mapping):
        return dict(schema)
    return schema.model_json_schema()


_TOKENS = {"token", "exclude_tokens", "trigger_tokens"}


def with_numbers(value: Any, info: TokenizerInfo) -> Any:
    """A structural tag with the numbers of the tokens that it names by their texts.

    A text that no token has stays, and is refused when the grammar is compiled.
    """

    def number(token: Any) -> Any:
        return info.ids.get(token.encode(), token) if isinstance(token, str) else token

    if isinstance(value, list):
        return [with_numbers(part, info) for part in value]
    if not isinstance(value, Mapping):
        return value
    made: dict[str, Any] = {}
    for name, part in value.items():
        if name == "json_schema":
            made[name] = part
        elif name in _TOKENS:
            made[name] = list(map(number, part)) if isinstance(part, list) else number(part)
        elif name == "rules" and value.get("type") == "token_dispatch" and isinstance(part, list):
            made[name] = [
                [number(rule[0]), *(with_numbers(rest, info) for rest in rule[1:])]
                if isinstance(rule, list | tuple) and rule
                else rule
                for rule in part
            ]
        else:
            made[name] = with_numbers(part, info)
    return made

"""Arguments that stand one by one between marks, of which the text says no types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ELEMENT", "PARAMETERS", "SPACE_NAME", "Element", "closed", "member_schema", "value_of"]

# Before a name, after it (with an attribute that says the type), and the end of a value.
PARAMETERS = {
    "qwen_xml": (r"<parameter=(?P<key>[^>]*)>(?P<type>)", "</parameter>"),
    "mimo_xml": (r"<parameter=(?P<key>[^>]*)>(?P<type>)", "</parameter>"),
    "minimax_xml": (r'<parameter name="(?P<key>[^"]*)"(?P<type>)>', "</parameter>"),
    "deepseek_xml": (
        r'<｜DSML｜parameter name="(?P<key>[^"]*)" string="(?P<type>true|false)">',
        "</｜DSML｜parameter>",
    ),
    "deepseek_v4_1_xml": (
        r'<｜DSML｜ parameter name="(?P<key>[^"]*)" string="(?P<type>true|false)">',
        "</｜DSML｜ parameter>",
    ),
    "glm_xml": (
        r"<arg_key>(?P<key>.*?)</arg_key>(?P<type>)\s*<arg_value>",
        "</arg_value>",
    ),
    "cohere_xml": (
        r'<cofl:value(?: name="(?P<key>[^"]*)")? type="(?P<type>\w+)">',
        "</cofl:value>",
    ),
    "kimi_k3_xml": (
        r'<\|open\|>argument key="(?P<key>[^"]*)" type="(?P<type>\w+)"<\|sep\|>',
        "<|close|>argument<|sep|>",
    ),
}
SPACE_NAME = "]<]minimax[>["
ELEMENT = re.compile(re.escape(SPACE_NAME) + r"<(?P<close>/?)(?P<name>[^>]*)>")
"""Where an element begins or ends."""


@dataclass(slots=True)
class Element:
    """An element that is not whole yet."""

    name: str
    start: int
    """Where its text begins, behind the beginning of the arguments."""
    schema: Any
    members: list[tuple[str, Any]] = field(default_factory=list)


def closed(element: Element, raw: str) -> Any:
    """The value of an element with this text."""
    kinds = _kinds(element.schema)
    if not element.members:
        if not raw.strip() and kinds and kinds <= {"array", "object"}:
            return [] if "array" in kinds else {}
        return value_of(raw, element.schema)
    is_list = all(name == "item" for name, _ in element.members)
    if is_list and (kinds is None or "array" in kinds):
        return [value for _, value in element.members]
    return dict(element.members)


def member_schema(schema: Any, name: str) -> Any:
    """What a schema says of a member, or of an item; None if it is not plain to see."""
    if not isinstance(schema, Mapping):
        return None
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return properties[name]
    return schema.get("items") if name == "item" else None


def value_of(raw: str, schema: Any) -> Any:
    """What a text between marks means: a string as it stands, another value as JSON."""
    kinds = _kinds(schema)
    if kinds == {"string"}:
        return raw
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    is_other = kinds is not None and "string" in kinds and not kinds & _KINDS[type(value)]
    return raw if is_other else value


_KINDS = {
    type(None): {"null"},
    bool: {"boolean"},
    int: {"integer", "number"},
    float: {"integer", "number"},
    str: {"string"},
    list: {"array"},
    dict: {"object"},
}


def _kinds(schema: Any) -> set[str] | None:
    """The types that a schema names; None if it names none."""
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    if isinstance(kinds, str):
        return {kinds}
    return set(kinds) if isinstance(kinds, list) and kinds else None

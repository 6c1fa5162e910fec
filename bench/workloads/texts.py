"""Sample texts for the grammars beside this file, and schemas of tools with calls of them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

FOLDER = Path(__file__).parent


def grammar(name: str) -> str:
    """The grammar of a workload, in Lark's language."""
    return (FOLDER / f"{name}.lark").read_text(encoding="utf-8")


def texts(name: str) -> list[str]:
    """The sample texts of a workload."""
    return [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob(f"{name}_*.txt"))]


_KINDS: list[tuple[str, dict[str, Any], Any]] = [
    ("city", {"type": "string", "minLength": 1, "maxLength": 80}, "Clermont-Ferrand"),
    ("days", {"type": "integer", "minimum": 1, "maximum": 14}, 5),
    ("unit", {"enum": ["metric", "imperial"]}, "metric"),
    ("since", {"type": "string", "format": "date"}, "2026-11-30"),
    ("mail", {"type": "string", "format": "email"}, "jo.lee@example.org"),
    ("code", {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"}, "AB-1234"),
    ("limit", {"type": "number", "minimum": 0}, 12.5),
    ("labels", {"type": "array", "items": {"type": "string"}, "maxItems": 8}, ["new", "to do"]),
    ("strict", {"type": "boolean"}, True),
    ("page", {"type": ["integer", "null"]}, None),
]
_VERBS = ["get", "list", "create", "update", "delete", "search", "send", "book", "cancel", "check"]
_NOUNS = [
    "order",
    "invoice",
    "flight",
    "room",
    "ticket",
    "user",
    "forecast",
    "payment",
    "report",
    "note",
]


def tool(number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a tool's call, and a call."""
    random = Random(number)
    verb, noun = _VERBS[number % 10], _NOUNS[number // 10 % 10]
    name = f"{verb}_{noun}_{number}" if number >= 100 else f"{verb}_{noun}"
    chosen = random.sample(_KINDS, k=random.randint(2, 5))
    arguments = {
        "type": "object",
        "properties": {key: schema for key, schema, _ in chosen},
        "required": [key for key, _, _ in chosen[:2]],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
    return schema, {"name": name, "arguments": {key: value for key, _, value in chosen}}


def tools(count: int) -> tuple[dict[str, Any], list[str]]:
    """One schema for a call of any of `count` tools, and calls of some."""
    pairs = [tool(number) for number in range(count)]
    places = [0, count // 3, count // 2, count - 1]
    return (
        {"anyOf": [schema for schema, _ in pairs]},
        [json.dumps(pairs[place][1]) for place in sorted(set(places))],
    )


def tagged(count: int) -> tuple[dict[str, Any], list[str]]:
    """Free text with calls of any of `count` tools, each in a tag of its own; and some texts."""
    pairs = [tool(number) for number in range(count)]
    tags = [
        {
            "type": "tag",
            "begin": f"<call={call['name']}>",
            "content": {
                "type": "json_schema",
                "json_schema": schema["properties"]["arguments"],
            },
            "end": "</call>",
        }
        for schema, call in pairs
    ]
    chosen = [pairs[place][1] for place in sorted({0, count // 2, count - 1})]
    samples = [
        f"Let me look that up.\n<call={call['name']}>{json.dumps(call['arguments'])}</call> Done."
        for call in chosen
    ]
    format = {"type": "triggered_tags", "triggers": ["<call="], "tags": tags}
    return {"type": "structural_tag", "format": format}, samples


def workloads() -> dict[str, tuple[str, Any, list[str]]]:
    """Name to kind, grammar and texts."""
    one_schema, one_call = tool(7)
    ten, ten_calls = tools(10)
    many, many_calls = tools(500)
    tag, tag_texts = tagged(500)
    return {
        "JSON, no schema": ("lark", grammar("json"), texts("json")),
        "function call, one tool": ("json_schema", one_schema, [json.dumps(one_call)]),
        "function call, 10 tools": ("json_schema", ten, ten_calls),
        "function call, 500 tools": ("json_schema", many, many_calls),
        "free text, tags of 500 tools": ("structural_tag", tag, tag_texts),
        "XML 1.0": ("lark", grammar("xml"), texts("xml")),
        "language like Python": ("lark", grammar("dsl"), texts("dsl")),
        "SQL": ("lark", grammar("sql"), texts("sql")),
    }

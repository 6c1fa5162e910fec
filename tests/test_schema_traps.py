"""Small schemas on which a plausible construction goes wrong, prefix by prefix.

Each has texts that are whole, texts that are alive but not whole, and texts whose last character is
the first that must be refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar, GrammarSyntaxError, UnsatisfiableError

if TYPE_CHECKING:
    from conftest import Kit

    from stencilm import Matcher


@dataclass(frozen=True, kw_only=True)
class Trap:
    """A schema and texts."""

    schema: Any = field(kw_only=False)
    whole: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)


TRAPS = [
    Trap({"enum": [1]}, whole=["0.1e1", "10e-1"], dead=["-"]),
    Trap({"enum": [10]}, whole=["1e1"], open=["1"], dead=["2"]),
    Trap({"const": 0}, whole=["-0", "0e99999999999999999999", "-0.00e-5"]),
    Trap(
        {"type": "integer"},
        whole=["150e-1", "15e-0"],
        open=["1.5e", "1.5e0", "15e-"],
        dead=["1.5e-", "15e-1"],
    ),
    Trap(
        {"type": "number", "minimum": 5, "maximum": 9, "multipleOf": 4},
        whole=["8", "0.8e1"],
        open=["0.8"],
        dead=["9"],
    ),
    Trap({"type": "integer", "multipleOf": 1000000007}, open=["1"]),
    Trap({"multipleOf": 0.01, "type": "number"}, open=["1.005", "1.005e"], dead=["1.005 "]),
    Trap(
        {"exclusiveMinimum": 0, "exclusiveMaximum": 1, "type": "number"},
        open=["1", "1e"],
        dead=["1e0", "1e1"],
    ),
    Trap(
        {
            "type": "array",
            "uniqueItems": True,
            "prefixItems": [{"enum": [1, 2]}, {"enum": [1]}],
            "minItems": 2,
        },
        whole=["[2,1]"],
        dead=["[1"],
    ),
    Trap(
        {
            "type": "array",
            "uniqueItems": True,
            "prefixItems": [{"enum": ["a", "b"]}, {"enum": ["a"]}],
            "minItems": 2,
        },
        dead=['["a'],
    ),
    Trap(
        {"type": "array", "uniqueItems": True, "items": {"type": "boolean"}}, dead=["[true,false,"]
    ),
    Trap(
        {"type": "array", "uniqueItems": True, "items": {"enum": [1, "1", [1]]}},
        open=['[1.0,"\\u0031",[10e-1]'],
        dead=['[1.0,"1",[1],'],
    ),
    Trap(
        {"type": "array", "uniqueItems": True, "items": {"enum": ["ab", "ac"]}},
        open=['["ab","ac"'],
        dead=['["ab","ab'],
    ),
    Trap(
        {
            "type": "array",
            "uniqueItems": True,
            "items": {"enum": [{"a": 1, "b": 2}, {"a": 1, "b": 3}]},
        },
        dead=['[{"a":1,"b":2},{"b":2'],
    ),
    Trap(
        {"not": {"uniqueItems": True}, "items": {"type": "boolean"}, "maxItems": 3},
        open=["[true,false,"],
    ),
    Trap(
        {
            "not": {"uniqueItems": True},
            "maxItems": 2,
            "minItems": 2,
            "prefixItems": [{"enum": [1, 2]}, {"enum": [2, 3]}],
        },
        whole=["[2,2]"],
        dead=["[1"],
    ),
    Trap(
        {
            "type": "object",
            "propertyNames": {"pattern": "^[ab]$"},
            "minProperties": 2,
            "patternProperties": {"a": {"type": "null"}},
        },
        dead=['{"a":null}'],
    ),
    Trap(
        {"type": "object", "required": ["a"], "maxProperties": 1},
        whole=['{"\\u0061":1}'],
        dead=['{"b'],
    ),
    Trap({"type": "object"}, open=['{"a":1,"a'], dead=['{"a":1,"\\u0061"']),
    Trap(
        {"type": "object", "propertyNames": {"maxLength": 1, "pattern": "^[ab]*$"}},
        dead=['{"":1,"a":1,"b":1,'],
    ),
    Trap(
        {
            "type": "object",
            "properties": {"k": {"const": 1}},
            "patternProperties": {"^k": {"const": 2}},
        },
        open=['{"k'],
        dead=['{"k"'],
    ),
    Trap({"type": "object", "dependentRequired": {"a": ["b"]}, "maxProperties": 1}, dead=['{"a"']),
    Trap(
        {
            "type": ["object", "null"],
            "required": ["n"],
            "properties": {"n": {"$ref": "#"}},
            "maxProperties": 1,
        },
        whole=['{"n":{"n":null}}'],
    ),
    Trap(
        {
            "$ref": "#/$defs/e",
            "$defs": {
                "e": {
                    "type": "array",
                    "items": {"$ref": "#/$defs/e"},
                    "maxItems": 2,
                    "not": {"minItems": 1, "maxItems": 1},
                }
            },
        },
        whole=["[[],[[],[]]]"],
        dead=["[[[]]"],
    ),
    Trap(
        {
            "not": {"$ref": "#/$defs/e"},
            "$defs": {"e": {"type": "array", "items": {"$ref": "#/$defs/e"}}},
        },
        whole=["[[],[[1]]]"],
    ),
    Trap(
        {
            "type": "array",
            "not": {"$ref": "#/$defs/e"},
            "$defs": {"e": {"type": "array", "items": {"$ref": "#/$defs/e"}}},
        },
        dead=["[[],[[]]]"],
    ),
    Trap(
        {
            "type": "array",
            "contains": {"const": 1},
            "maxContains": 1,
            "maxItems": 2,
            "minContains": 1,
            "items": {"type": "integer"},
        },
        open=["[1,1"],
    ),
    Trap(
        {"type": "array", "contains": {"const": 1}, "maxContains": 1, "maxItems": 2}, dead=["[1,1]"]
    ),
    Trap({"type": "array", "contains": {"const": 1}, "maxItems": 1}, dead=["[2"]),
    Trap(
        {"type": "array", "contains": {"const": 1}, "minContains": 0, "unevaluatedItems": False},
        dead=["[1,2"],
    ),
    Trap({"type": "string", "maxLength": 1}, whole=['"\\uD83D\\uDE00"'], dead=['"\\uD83D"']),
    Trap({"type": "string", "const": "é"}, whole=['"\\u00E9"'], dead=['"\\u00F']),
    Trap({"type": "string", "maxLength": 0}, dead=['"\\']),
    Trap(
        {"type": "string", "pattern": "^(?:ab)*$", "minLength": 3, "maxLength": 4}, open=['"abab']
    ),
    Trap({"type": "string", "pattern": "a", "maxLength": 2}, dead=['"xx']),
    Trap({"type": "string", "pattern": "^\\uD83D\\uDE00$"}, whole=['"😀"']),
    Trap({"type": "string", "pattern": "\\u0000"}, whole=['"\\u0000"']),
    Trap(
        {
            "type": "object",
            "anyOf": [
                {"properties": {"a": {"type": "integer"}}, "required": ["t"]},
                {"properties": {"b": True}},
            ],
            "properties": {"t": True},
            "unevaluatedProperties": False,
        },
        whole=['{"a":1,"t":2}'],
        open=['{"a":1', '{"b":1,"a'],
        dead=['{"a":1}', '{"a":"', '{"c'],
    ),
    Trap(
        {
            "not": {"not": {"properties": {"a": True}}},
            "type": "object",
            "unevaluatedProperties": False,
        },
        dead=['{"'],
    ),
    Trap(
        {
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "type": "object",
            "unevaluatedProperties": False,
        },
        whole=['{"a":1}'],
        dead=['{"a":2'],
    ),
    Trap({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, whole=["3.5"], open=["3"]),
    Trap(
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"}, dead=['{"a":1,"b"']
    ),
    Trap(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"i": {"type": "integer"}},
            "$ref": "#/definitions/i",
            "maximum": 3,
        },
        whole=["7"],
    ),
]

UNSATISFIABLE: list[Any] = [
    {"type": "number", "minimum": 5, "maximum": 7, "multipleOf": 4},
    {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}, "minItems": 3},
    {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "minProperties": 3},
    {
        "type": "object",
        "properties": {"k": {"const": 1}},
        "patternProperties": {"^k": {"const": 2}},
        "required": ["k"],
    },
    {"type": "object", "required": ["n"], "properties": {"n": {"$ref": "#"}}},
    {"type": "array", "minContains": 3, "contains": {"const": 1}, "maxItems": 2},
    {"type": "string", "pattern": "^(?:ab)*$", "minLength": 3, "maxLength": 3},
    {"type": "string", "pattern": "^[\\ud800-\\udbff]$"},
]


def matcher(kit: Kit, schema: Any) -> Matcher:
    grammar = Grammar.from_json_schema(
        schema,
        whitespace="any",
        whitespace_cap=8,
        numbers="any",
        key_order="any",
        escapes="any",
    )
    return kit.matcher(grammar)


def alive(matcher: Matcher, text: str) -> int:
    """How many characters may come."""
    reader = matcher.fork()
    for at, character in enumerate(text):
        if not reader.accept_bytes(character.encode()):
            return at
    return len(text)


@pytest.mark.parametrize("trap", [pytest.param(trap, id=str(trap.schema)[:70]) for trap in TRAPS])
def test_a_trap(byte_kit: Kit, trap: Trap) -> None:
    start = matcher(byte_kit, trap.schema)
    for text in [*trap.whole, *trap.open]:
        assert alive(start, text) == len(text), text
        reader = start.fork()
        assert reader.accept_bytes(text.encode())
        assert reader.may_stop() == (text in trap.whole), text
    for text in trap.dead:
        assert alive(start, text) == len(text) - 1, text


@pytest.mark.parametrize("schema", UNSATISFIABLE, ids=lambda schema: str(schema)[:70])
def test_no_text_at_all(byte_kit: Kit, schema: Any) -> None:
    with pytest.raises(UnsatisfiableError):
        matcher(byte_kit, schema)


def test_a_schema_that_is_its_own_negation(byte_kit: Kit) -> None:
    with pytest.raises(GrammarSyntaxError, match="leads back to itself"):
        matcher(byte_kit, {"not": {"$ref": "#"}})

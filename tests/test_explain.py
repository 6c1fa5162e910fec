"""`Matcher.explain`: what forbids a token or a text.

What is found is checked against `jsonschema`, and by leaving it out.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import (
    Compiler,
    Explanation,
    Grammar,
    Limits,
    Matcher,
    VocabularyError,
)

if TYPE_CHECKING:
    from conftest import Kit

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "age": {"type": "integer", "minimum": 3, "maximum": 150},
        "email": {"type": "string", "pattern": "^[a-z]+@b$"},
        "born": {"type": "string", "format": "date"},
        "tags": {
            "type": "array",
            "items": {"enum": ["a", "b"]},
            "minItems": 1,
            "maxItems": 2,
        },
        "different": {"items": {"pattern": "^[ab]+$"}, "uniqueItems": True},
        "never": False,
        "some": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "positive": {"$ref": "#/$defs/positive"},
        "one": {"oneOf": [{"minimum": 3}, {"type": "integer"}]},
        "not": {"not": {"const": "no"}},
        "even": {"type": "integer", "multipleOf": 2},
        "exact": {"const": {"a": 1}},
        "three": {"prefixItems": [{"type": "null"}, {"type": "boolean"}], "items": False},
        "pair": {"type": "object", "maxProperties": 1, "minProperties": 1},
        "names": {"type": "object", "propertyNames": {"pattern": "^x"}},
        "x-a": {"type": "object", "patternProperties": {"^n": {"type": "number"}}},
        "if": {
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
            "else": {"maxProperties": 1},
        },
        "needs": {"dependentRequired": {"a": ["b"]}, "minProperties": 1},
        "holds": {"type": "array", "contains": {"const": 7}},
    },
    "required": ["email"],
    "additionalProperties": False,
    "$defs": {"positive": {"type": "number", "exclusiveMinimum": 0}},
}
GOOD = {"email": "a@b"}


def explain(kit: Kit, schema: Any, text: str, **options: Any) -> Explanation | None:
    """Of a whole text."""
    matcher = kit.matcher(Grammar.from_json_schema(schema, **options))
    found = matcher.explain(text)
    if found is not None or not matcher.accept_bytes(text.encode()):
        return found
    return matcher.explain(None, before=text)


@pytest.mark.parametrize(
    ("change", "pointer", "message"),
    [
        ({"name": 1}, "/properties/name/type", "a string is required here"),
        ({"name": "abcdef"}, "/properties/name/maxLength", "longer than maxLength 5"),
        ({"name": "a"}, "/properties/name/minLength", "shorter than minLength 2"),
        ({"age": "x"}, "/properties/age/type", "an integer is required here"),
        ({"age": 2}, "/properties/age/minimum", "at least 3"),
        ({"age": 151}, "/properties/age/maximum", "at most 150"),
        ({"email": "1"}, "/properties/email/pattern", "does not match the pattern ^[a-z]+@b$"),
        ({"born": "2023-02-30"}, "/properties/born/format", "the string is no date"),
        ({"tags": []}, "/properties/tags/minItems", "fewer items than minItems 1"),
        ({"tags": ["c"]}, "/properties/tags/items/enum", 'one of ["a","b"]'),
        ({"different": ["a", "a"]}, "/properties/different/uniqueItems", "came already"),
        ({"different": ["c"]}, "/properties/different/items/pattern", "does not match"),
        ({"tags": ["a", "b", "a"]}, "/properties/tags/maxItems", "more items than maxItems 2"),
        ({"never": 1}, "/properties/never", "no member `never` may come here"),
        ({"positive": -1}, "/$defs/positive/exclusiveMinimum", "greater than 0"),
        ({"one": 3}, "/properties/one/oneOf", "more than one alternative of oneOf"),
        ({"not": "no"}, "/properties/not/not", "what `not` describes"),
        ({"even": 3}, "/properties/even/multipleOf", "a multiple of 2"),
        ({"exact": {"a": 2}}, "/properties/exact/const", 'only {"a":1} is allowed'),
        ({"three": [None, 1]}, "/properties/three/prefixItems/1/type", "true or false is required"),
        ({"three": [None, True, 1]}, "/properties/three/items", "no such item"),
        ({"pair": {}}, "/properties/pair/minProperties", "fewer members than minProperties 1"),
        ({"pair": {"a": 1, "b": 2}}, "/properties/pair/maxProperties", "more members than"),
        ({"names": {"y": 1}}, "/properties/names/propertyNames/pattern", "the name does not match"),
        ({"x-a": {"n": "1"}}, "/properties/x-a/patternProperties/^n/type", "a number is required"),
        ({"if": {"a": 1}}, "/properties/if/then/required", "`b` is missing: a required member of"),
        ({"if": {"b": 1, "c": 1}}, "/properties/if/else/maxProperties", "more members"),
        ({"needs": {"a": 1}}, "/properties/needs/dependentRequired", "`b` is missing"),
        ({"holds": [1]}, "/properties/holds/contains", "`contains` asks for"),
        ({"holds": 1}, "/properties/holds/type", "an array is required here"),
        ({"foo": 1}, "/additionalProperties", "no member `foo` may come here"),
    ],
)
def test_the_keyword_that_forbids_it(
    byte_kit: Kit, change: dict[str, Any], pointer: str, message: str
) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    checker = jsonschema.Draft202012Validator(
        SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    value = {**GOOD, **change}
    assert not checker.is_valid(value)
    found = explain(byte_kit, SCHEMA, json.dumps(value), key_order="any")
    assert found is not None
    assert [reason.pointer for reason in found.reasons] == [pointer]
    assert message in str(found)
    assert not found.is_joint


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"name": "abcdef"', ["/properties/name/maxLength"]),
        (
            '{"email": "a@b", "some": 1',
            ["/properties/some/anyOf/0/type", "/properties/some/anyOf/1/type"],
        ),
        ('{"age": 2}', ["/properties/age/minimum", "/required"]),
    ],
)
def test_without_what_is_found_it_could_come(byte_kit: Kit, text: str, pointers: list[str]) -> None:
    found = explain(byte_kit, SCHEMA, text)
    assert found is not None
    assert [reason.pointer for reason in found.reasons] == pointers
    some = [pointers] if found.is_joint else [[pointer] for pointer in pointers]
    for left_out in some:
        changed = copy.deepcopy(SCHEMA)
        for pointer in left_out:
            *path, keyword = pointer.split("/")[1:]
            at: Any = changed
            for step in path:
                at = at[int(step) if isinstance(at, list) else step]
            del at[keyword]
        matcher = byte_kit.matcher(Grammar.from_json_schema(changed))
        assert matcher.accept_bytes(text[: found.offset + 1].encode())


def test_what_is_left_may_ask_for_what_is_refused(byte_kit: Kit) -> None:
    # Without both types objects may come, with a member whose pattern cannot be enforced.
    schema = {
        "type": "array",
        "allOf": [{"type": ["array", "null"]}],
        "properties": {"b": {"pattern": r"(a)\1"}},
    }
    found = explain(byte_kit, schema, '"x"')
    assert found is not None
    assert [reason.pointer for reason in found.reasons] == ["/type", "/allOf/0/type"]
    assert found.is_joint


def test_a_missing_member(byte_kit: Kit) -> None:
    found = explain(byte_kit, SCHEMA, "{}")
    assert found is not None
    assert "/: `email` is missing: a required member of /" in str(found)
    inner = {"properties": {"a": {"type": "array", "items": {"required": ["x", "y"]}}}}
    found = explain(byte_kit, inner, '{"a": [{"x": 1}]}')
    assert found is not None
    assert found.place == "/a/0/x"
    assert "`y` is missing: a required member of /a/0" in str(found)


def test_a_name_that_came_already(byte_kit: Kit) -> None:
    found = explain(byte_kit, SCHEMA, '{"email": "a@b", "email": 1}')
    assert found is not None
    assert found.reasons[0].message == "the name `email` came already in this object"


def test_both_of_a_choice_and_many_of_one(byte_kit: Kit) -> None:
    many = {"anyOf": [{"const": f"word {n}"} for n in range(9)]}
    found = explain(byte_kit, many, '"x')
    assert found is not None
    assert [str(reason) for reason in found.reasons] == [
        "/: none of the 9 alternatives of anyOf allows this"
    ]


@pytest.mark.parametrize(
    ("schema", "text", "options", "option"),
    [
        ({"properties": {"a": True, "b": True}}, '{"b": 1, "a": 2}', {}, "key_order"),
        ({"properties": {"a": True}, "required": ["a"]}, '{"x": 1, "a": 2}', {}, "additional"),
        ({"type": "integer", "minimum": 3}, "1e3", {}, "numbers"),
        ({"const": "a"}, '"\\u0061"', {}, "escapes"),
        (True, '{"\\u0061": 1}', {}, "escapes"),
        (True, '"é"', {"escapes": "ascii"}, "escapes"),
        (True, "[1, 2]", {"whitespace": "compact"}, "whitespace"),
        (True, "[1,2]", {"indent": 2}, "whitespace"),
        (True, '{"a":1}', {"separators": (", ", ": ")}, "whitespace"),
        (True, f"[{' ' * 65}]", {}, "whitespace"),
    ],
)
def test_options_forbid_too(
    byte_kit: Kit, schema: Any, text: str, options: dict[str, Any], option: str
) -> None:
    found = explain(byte_kit, schema, text, **options)
    assert found is not None
    assert [reason.pointer for reason in found.reasons] == [f"/{option}"]


@pytest.mark.parametrize("text", ["{,", '{"a"}', "[1,]", "01", '"\n"', "tru e", "[1}"])
def test_what_is_no_json(byte_kit: Kit, text: str) -> None:
    found = explain(byte_kit, True, text)
    assert found is not None
    assert [reason.message for reason in found.reasons] == ["this is no JSON"]


def test_the_end_of_a_text(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_json_schema({"minItems": 1}))
    assert matcher.accept_bytes(b"[1")
    found = matcher.explain(None, before="[1")
    assert found is not None
    assert (found.found, found.may_stop) == (b"", False)
    assert found.reasons[0].message == "the JSON value is not complete"
    stop = byte_kit.vocabulary.stop_ids[0]
    assert matcher.explain(stop, before="[1") == found
    assert matcher.accept_bytes(b"]")
    assert matcher.explain(None) is None
    assert matcher.explain(stop) is None


def test_references_and_other_documents(byte_kit: Kit) -> None:
    schema = {
        "$id": "https://example.org/root",
        "properties": {
            "a": {"$ref": "#named"},
            "b": {"$ref": "other#/$defs/x%20y"},
            "c": {"$ref": "#"},
        },
        "$defs": {"n": {"$anchor": "named", "type": "null"}},
    }
    resources = {"https://example.org/other": {"$defs": {"x y": {"maximum": 3}}}}
    for text, pointer in [
        ('{"a": 1', "/$defs/n/type"),
        ('{"b": 4, ', "https://example.org/other#/$defs/x y/maximum"),
        ('{"c": {"c": {"a": 1', "/$defs/n/type"),
    ]:
        found = explain(byte_kit, schema, text, resources=resources)
        assert found is not None
        assert [reason.pointer for reason in found.reasons] == [pointer]


def test_tokens(many_kit: Kit) -> None:
    vocabulary = many_kit.vocabulary
    matcher = many_kit.matcher(Grammar.from_json_schema({"const": "tall"}))
    written = b""
    for token in range(vocabulary.size):
        found = matcher.explain(token)
        assert (found is None) == matcher.is_allowed(token)
        text = vocabulary.token_bytes(token)
        if found is not None and text:
            fork = matcher.fork()
            assert fork.accept_bytes(text[: found.offset]) or not found.offset
            assert not fork.accept_bytes(text[found.offset : found.offset + 1])
    assert matcher.accept_bytes(b'"ta')
    written = b'"ta'
    found = matcher.explain(ord("x"), before=written)
    assert found is not None
    assert [reason.pointer for reason in found.reasons] == ["/const"]
    assert found.expected_text == b'll"'
    assert found == matcher.explain(b"x", before=list(written))


def test_a_matcher_keeps_no_text(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_json_schema({"items": {"type": "null"}}))
    assert matcher.accept_bytes(b"[null,")
    without = matcher.explain("1")
    assert without is not None
    assert (without.reasons, without.offset) == ((), 0)
    assert b"n" in without.expected
    found = matcher.explain("1", before="[null,")
    assert found is not None
    assert found.reasons[0].pointer == "/items/type"
    for wrong in ("[null", "[nul", "{"):
        with pytest.raises(ValueError, match="`before` is not what this matcher accepted"):
            matcher.explain("1", before=wrong)


def test_explaining_moves_nothing(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_json_schema(SCHEMA))
    assert matcher.accept_bytes(b'{"age":')
    state = matcher.describe(), matcher.rollback_window
    matcher.explain('"x"', before='{"age":')
    assert (matcher.describe(), matcher.rollback_window) == state


def test_ids_that_are_none(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.json())
    for token in (-1, byte_kit.vocabulary.size):
        with pytest.raises(VocabularyError):
            matcher.explain(token)


def test_after_a_stop_token(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_regex("a*"))
    assert matcher.accept(byte_kit.vocabulary.stop_ids[0])
    found = matcher.explain("a")
    assert found is not None
    assert "a stop token was accepted" in str(found)


def test_regular_expressions(byte_kit: Kit) -> None:
    found = byte_kit.matcher(Grammar.from_regex(r"\d{4}-\d\d")).explain("2024/01")
    assert found is not None
    assert (found.offset, found.found, found.expected, found.expected_text) == (4, b"/", b"-", b"-")
    assert str(found) == 'byte 4: "/" may not come here\ncould have come: "-"'


def test_characters_are_shown_whole(byte_kit: Kit) -> None:
    for text, offset, shown in [("éx", 0, "é".encode()), (b"a\xff", 1, b"\xff")]:
        found = byte_kit.matcher(Grammar.from_regex("a+")).explain(text)
        assert found is not None
        assert (found.offset, found.found) == (offset, shown)


@pytest.mark.parametrize(
    "schema",
    [
        '{"items":' * 3_000 + "true" + "}" * 3_000,
        {"anyOf": [{"properties": {f"p{n}": {"type": "null"}}} for n in range(300)]},
        {"properties": {f"p{n}": {"type": "null"} for n in range(20_000)}},
        '{"maximum":1e400}',
    ],
)
def test_hostile_schemas_are_explained_in_time(byte_kit: Kit, schema: Any) -> None:
    limits = Limits(compile_time=3)
    grammar = Grammar.from_json_schema(schema)
    matcher = Compiler(byte_kit.vocabulary, limits=limits).compile(grammar).matcher()
    for text in ('{"p1": 1', "x", '{"p1"' + ":[" * 2_000, "9" * 401 + ","):
        found = matcher.explain(text)
        assert found is None or str(found)


def test_numbers_are_not_rounded(byte_kit: Kit) -> None:
    schema = '{"multipleOf": 0.10000000000000000000000001, "maximum": 1.50}'
    found = explain(byte_kit, schema, "9")
    assert found is not None
    assert "at most 1.50" in str(found)


def test_a_matcher_knows_what_it_was_made_of(byte_kit: Kit) -> None:
    compiled = byte_kit.compiler.compile(Grammar.json())
    matcher = Matcher(compiled)
    assert matcher.compiled is compiled
    assert matcher.fork().compiled is compiled
    assert compiled.vocabulary is byte_kit.vocabulary

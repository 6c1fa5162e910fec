"""Every token of a real vocabulary, mask against `accept`, where masks take short cuts.

`accept` pushes bytes and knows no vocabulary; the masks of these states come from sieves, from
the results of other expressions, and from walks over the long tokens only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar

if TYPE_CHECKING:
    from .conftest import Kit

LETTERS = "a" * 17
STATES: list[tuple[dict[str, Any], str]] = [
    ({}, '"a'),
    ({"maxLength": 3}, '"a'),
    ({"minLength": 5, "maxLength": 40}, '"a'),
    ({"pattern": r"^\S+(\s\S+)*$", "maxLength": 20}, '"a b'),
    ({"pattern": r"^\S+(\s\S+)*$", "maxLength": 20}, f'"{LETTERS} b'),
    ({"pattern": "b", "maxLength": 9}, '"a'),
    ({"pattern": "b", "maxLength": 9}, '"aaaaaaa'),
    ({"pattern": r"^[a-z]+@[a-z]+\.com$", "maxLength": 30}, '"joe'),
    ({"pattern": r"^[\w .-]*x$", "maxLength": 40}, f'"{LETTERS}{LETTERS}'),
    ({"pattern": "é|ü", "maxLength": 6}, '"ab'),
    ({"format": "email", "maxLength": 40}, '"jo@ex'),
    ({"allOf": [{"pattern": "a"}, {"pattern": "b"}], "maxLength": 12}, '"a'),
    ({"pattern": r"^\p{L}{1,64}$"}, '"a'),
    ({"maxLength": 15}, '"'),
    ({"maxLength": 70}, '"a'),
    ({"minLength": 2, "maxLength": 9}, '"'),
    ({"pattern": r"^[a-z.]*\.[a-z]{2,6}$"}, '"www'),
    ({"pattern": r"^[\w:/-]+$"}, '"a'),
    ({"pattern": r"^[a-zé]{0,9}$"}, '"a'),
    ({"pattern": r"^[^/].*$"}, '"'),
    ({"pattern": r"^[A-Z][a-z ]*$"}, '"'),
    ({"minLength": 5, "maxLength": 5}, '"a'),
    ({"minLength": 10, "maxLength": 20}, '"abc'),
    ({"pattern": "^[A-Z][a-z]*$"}, '"Ab'),
    ({"pattern": "^[a-z0-9-]+$"}, '"ab-'),
    ({"pattern": "^[0-9a-f]{32}$"}, '"0a'),
    ({"pattern": "^[A-Za-z0-9+/]*={0,2}$"}, '"aGk'),
    ({"pattern": "^[A-Z]{2,4} .*$"}, '"AB c'),
    ({"pattern": "^[^x]*$"}, '"ab'),
    ({"pattern": "^[^x]*$"}, '"ab\\u'),
    ({"pattern": "^[а-я]{5}$"}, '"а'),
    ({"pattern": "^[а-яё ]*$"}, '"а'),
    ({"pattern": r"^[\w .-]{2,5}$"}, '"a'),
    ({"pattern": r'^["\\a-z]{3,9}$'}, '"a'),
    ({"format": "uuid"}, '"0aF'),
    ({"format": "uri"}, '"https://a'),
    ({"not": {"pattern": "github"}}, '"gith'),
    ({"not": {"pattern": "[0-9a-f]{8}"}}, '"00'),
    ({"not": {"pattern": "^.*$"}}, '"a'),
    ({"not": {"pattern": "^[a-z]*$"}, "maxLength": 5}, '"ab'),
    ({"not": {"pattern": "^[a-z]*$"}, "allOf": [{"not": {"pattern": "^[0-9]{4,}$"}}]}, '"'),
    ({"not": {"enum": ["start", "stop", "é"]}}, '"st'),
    ({"type": "object", "properties": {"name": {}, "names": {}, 'n"': {}}}, '{"n'),
    ({"type": "object", "properties": {"name": {}, "": {"type": "integer"}}}, '{"'),
    ({"type": "object", "properties": {"type": {"const": 1}, "a": {}}}, '{"b": 1,'),
    ({"type": "object", "properties": {"a": {}}, "patternProperties": {"^x": {}}}, '{"'),
    ({"type": "object", "properties": {"name": {"type": "string"}}}, '{"name'),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 3, "maxItems": 4}, "[1"),
    ({"type": "array", "items": {"type": "object"}}, "[{}"),
    ({"type": "object", "properties": {"a": {"type": "number", "minimum": 3}}}, '{"a": '),
]


PATTERNS: list[tuple[str, str]] = [
    (r'[a-z"]{2,9}"', "a"),
    (r'[a-z]*"[0-9]+', "ab"),
    (r'[а-я]{3,5}"', "а"),
    (r"[^x]{2,12}\\n", "a"),
    (r'[a-z]{3,8}"( [a-z]+)*', "ab"),
    ("([a-z]+ )*[a-z]+", "some wor"),
]


@pytest.mark.parametrize(("schema", "text"), STATES)
def test_a_bit_is_set_exactly_if_the_token_is_accepted(
    llama_kit: Kit, schema: dict[str, Any], text: str
) -> None:
    check(llama_kit, Grammar.from_json_schema({"type": "string", **schema}), text)


@pytest.mark.parametrize(("pattern", "text"), PATTERNS)
def test_the_same_holds_where_a_quote_is_no_end_of_a_string(
    llama_kit: Kit, pattern: str, text: str
) -> None:
    check(llama_kit, Grammar.from_regex(pattern), text)


def check(kit: Kit, grammar: Grammar, text: str) -> None:
    matcher = kit.matcher(grammar)
    assert matcher.accept_bytes(text.encode())
    allowed = set(kit.allowed(matcher))
    for token in range(kit.vocabulary.size):
        is_accepted = matcher.accept(token)
        if is_accepted:
            matcher.rollback(1)
        if is_accepted != (token in allowed):
            pytest.fail(f"{token}: {kit.vocabulary.token_bytes(token)!r}: {is_accepted}")

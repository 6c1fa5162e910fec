"""`stencilm check`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

GOOD = {"name": "Bo", "age": 7, "email": "b@o.org", "role": "user", "tags": ["x"]}


def test_a_valid_document(run: Run, write: Write, person: Path) -> None:
    outcome = run("check", "--schema", person, write(json.dumps(GOOD, indent=2) + "\n"))
    assert (outcome.code, outcome.out) == (0, "valid\n")


def test_what_was_captured(run: Run, write: Write) -> None:
    grammar = write('root ::= line*\nline ::= key "=" [0-9]+ "\\n"\nkey[capture] ::= [a-z]+')
    text = write("a=1\nbc=22\n")
    outcome = run("check", "--ebnf", grammar, "--exact", text)
    assert outcome.out.splitlines() == [
        "valid",
        'key (line 1, column 1): "a"',
        'key (line 2, column 1): "bc"',
    ]
    outcome = run("check", "--ebnf", grammar, "--exact", text, "--json-output")
    assert outcome.json["captures"][1] == {"name": "key", "start": 4, "text": "bc"}


def test_the_place_and_the_rule_of_a_wrong_number(run: Run, write: Write, person: Path) -> None:
    outcome = run("check", "--schema", person, write('{"name": "x",\n "age": 200}'))
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert lines[0] == 'not valid, line 2, column 11: "0" may not come here'
    assert lines[1:3] == ['   "age": 200}', " " * 12 + "^"]
    assert lines[3].startswith("could have come: ")
    assert lines[4] == "forbidden by:    /properties/age: the number must be at most 120"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"role": "root"}, "/properties/role/enum"),
        ({"tags": []}, "/properties/tags/minItems"),
        ({"tags": ["a", "b", "c", "d"]}, "/properties/tags/maxItems"),
        ({"tags": ["A"]}, "/properties/tags/items/pattern"),
        ({"name": 1}, "/properties/name/type"),
        ({"name": "x" * 41}, "/properties/name/maxLength"),
        ({"more": 1}, "/additionalProperties"),
    ],
)
def test_the_rule(
    run: Run, write: Write, person: Path, change: dict[str, object], rule: str
) -> None:
    text = write(json.dumps({**GOOD, **change}))
    outcome = run("check", "--schema", person, text, "--json-output")
    assert outcome.code == 1
    assert rule in [reason["pointer"] for reason in outcome.json["reasons"]]


def test_a_missing_member(run: Run, person: Path) -> None:
    outcome = run("check", "--schema", person, "--json-output", stdin="{}")
    assert outcome.json["offset"] == 1
    reason = outcome.json["reasons"][0]
    assert reason["pointer"] == "/required"
    assert "is missing: a required member of /" in reason["message"] or "are missing" in str(reason)


def test_a_schema_that_is_false(run: Run, write: Write) -> None:
    schema = write('{"properties": {"a": false}}')
    outcome = run("check", "--schema", schema, "--json-output", stdin='{"a": 1}')
    assert [reason["pointer"] for reason in outcome.json["reasons"]] == ["/properties/a"]


def test_a_text_that_ends_too_early(run: Run) -> None:
    outcome = run("check", "--choice", "apple,apricot", stdin="ap")
    assert outcome.code == 1
    assert "line 1, column 3: the text ends too early" in outcome.out
    assert "could have come: p r" in outcome.out


def test_what_must_come_is_named(run: Run) -> None:
    outcome = run("check", "--choice", "apple", "--json-output", stdin="ax")
    assert outcome.json["expected_text"] == "pple"
    assert outcome.json["expected_bytes"] == [ord("p")]


def test_the_last_line_end_is_judged_only_if_asked(run: Run) -> None:
    assert run("check", "--regex", "a+", stdin="aa\n").code == 0
    assert run("check", "--regex", "a+", "--exact", stdin="aa\n").code == 1


def test_columns_count_characters(run: Run) -> None:
    outcome = run("check", "--regex", "é*", "--json-output", stdin="ééx")
    assert (outcome.json["column"], outcome.json["offset"]) == (3, 4)


def test_a_byte_that_is_not_text(run: Run, write: Write) -> None:
    outcome = run("check", "--regex", "a+", write(b"a\xff"))
    assert "the byte 0xff may not come here" in outcome.out


def test_long_texts_are_judged_whole(run: Run, write: Write) -> None:
    outcome = run("check", "--regex", "a*", "--json-output", write("a" * 10_000 + "b" + "a" * 9))
    assert outcome.json["offset"] == 10_000


def test_grammar_and_text_cannot_share_stdin(run: Run) -> None:
    assert run("check", "--schema", "-", "-").code == 2


def test_a_missing_file(run: Run) -> None:
    outcome = run("check", "--json", "/no/such/file")
    assert outcome.code == 2
    assert "cannot read /no/such/file" in outcome.err

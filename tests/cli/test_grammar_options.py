"""The options that say which grammar is meant, and the errors in grammars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write


@pytest.mark.parametrize(
    ("options", "good", "bad"),
    [
        (["--regex", "[ab]+"], "abba", "abc"),
        (["--regex", r"(?i)\A[ab]+\Z", "--dialect", "python"], "aBbA", "abc"),
        (["--ebnf", 'root ::= "x" root | "y"'], "xxy", "xx"),
        (["--ebnf", "root ::= #x41 'b'", "--notation", "w3c"], "Ab", "A"),
        (["--grammar", "semver"], "1.0.0-rc.1", "1.0"),
        (["--json"], '{"a": [1, null]}', '{"a": }'),
        (["--choice", "red,green"], "green", "gree"),
        (["--json", "--whitespace", "compact"], '{"a":1}', '{"a": 1}'),
        (["--json", "--escapes", "any"], '{"\\u0061": 1}', '{"a": 1, "\\u0061": 1}'),
        (["--json", "--escapes", "ascii"], '{"\\u00e9": 1}', '{"é": 1}'),
    ],
)
def test_each_kind(run: Run, options: list[str], good: str, bad: str) -> None:
    assert run("check", *options, stdin=good).code == 0
    assert run("check", *options, stdin=bad).code == 1


def test_a_schema_from_stdin(run: Run, write: Write) -> None:
    text = write("12")
    assert run("check", "--schema", "-", text, stdin='{"type": "integer"}').code == 0
    assert run("check", "--schema", "-", text, stdin='{"type": "string"}').code == 1


def test_ebnf_from_a_file(run: Run, write: Write) -> None:
    assert run("check", "--ebnf", write('root ::= "a"'), stdin="a").code == 0


def test_a_pydantic_model(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic")
    (tmp_path / "my_shapes.py").write_text(
        "from pydantic import BaseModel\n"
        "class Outer:\n    class Point(BaseModel):\n        x: int\n        y: int\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert run("check", "--pydantic", "my_shapes:Outer.Point", stdin='{"x": 1, "y": 2}').code == 0
    assert run("check", "--pydantic", "my_shapes:Outer.Point", stdin='{"x": 1}').code == 1
    for wrong in ("my_shapes", "my_shapes:Missing", "no_such_module:X"):
        outcome = run("check", "--pydantic", wrong, stdin="")
        assert outcome.code == 2
        assert "--pydantic" in outcome.err


def test_one_grammar_is_needed(run: Run) -> None:
    outcome = run("check", stdin="")
    assert outcome.code == 2
    assert "give a grammar" in outcome.err
    outcome = run("check", "--json", "--regex", "a", stdin="")
    assert outcome.code == 2
    assert "--regex and --json are both grammars" in outcome.err


def test_options_of_json_are_for_json(run: Run) -> None:
    assert run("check", "--regex", "a", "--whitespace", "any", stdin="a").code == 2
    assert run("check", "--json", "--whitespace", "wide", stdin="1").code == 2
    assert run("check", "--regex", "a", "--escapes", "any", stdin="a").code == 2
    assert run("check", "--json", "--escapes", "none", stdin="1").code == 2


def test_a_text_grammar_with_an_error_shows_its_place(run: Run) -> None:
    grammar = 'root ::= "a" b\nb ::= ("c" | "d"'
    outcome = run("check", "--ebnf", grammar, stdin="")
    assert outcome.code == 2
    assert "error: --ebnf, line 2, column" in outcome.err
    assert "^" in outcome.err
    machine = run("check", "--ebnf", grammar, "--json-output", stdin="").json["error"]
    assert machine["type"] == "GrammarSyntaxError"
    assert machine["line"] == 2
    assert machine["exit_code"] == 2


def test_a_schema_with_an_error_shows_its_pointer(run: Run, write: Write) -> None:
    schema = write(json.dumps({"properties": {"a/b": {"type": "text"}}}))
    outcome = run("explain", "--schema", schema)
    assert outcome.code == 2
    assert "/properties/a~1b" in outcome.err


def test_a_schema_that_is_not_json_shows_its_place(run: Run, write: Write) -> None:
    outcome = run("explain", "--schema", write('{"type":\n  string}'))
    assert outcome.code == 2
    assert "line 2, column 3" in outcome.err


def test_a_file_that_is_not_text(run: Run, write: Write) -> None:
    outcome = run("explain", "--schema", write(b'{"\xff": 1}'))
    assert outcome.code == 2
    assert "not UTF-8, at byte 2" in outcome.err


def test_our_own_bug_has_a_code_of_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("stencilm.cli.options.GrammarOptions.read", fail)
    outcome = run("explain", "--json")
    assert outcome.code == 70
    assert "please report it" in outcome.err


def test_a_limit_has_a_code_of_its_own(run: Run) -> None:
    assert run("explain", "--regex", "(" * 5000 + "a" + ")" * 5000).code == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "--dialect", "python"], "--dialect is for --regex"),
        (["--json", "--notation", "w3c"], "--notation is for --ebnf"),
        (["--regex", "a", "--dialect", "perl"], "ecma or python, not perl"),
        (["--ebnf", 'root ::= "a"', "--notation", "iso"], "gbnf or w3c, not iso"),
        (["--grammar", "cobol"], "--grammar is one of arithmetic, cron"),
        (["--grammar", "sql", "--json"], "--grammar and --json are both grammars"),
    ],
)
def test_options_that_fit_no_grammar(run: Run, options: list[str], message: str) -> None:
    result = run("check", *options, stdin="1")
    assert result.code == 2
    assert message in " ".join(result.err.split())

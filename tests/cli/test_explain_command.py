"""`stencilm explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run


def test_every_keyword_is_listed(run: Run, person: Path) -> None:
    parts = run("explain", "--schema", person, "--json-output").json
    assert set(parts) == {"enforced", "narrower", "widened", "annotations"}
    pointers = {entry["pointer"] for entry in parts["enforced"]}
    assert any(pointer.startswith("/properties/age") for pointer in pointers)
    assert any(entry["pointer"].startswith("/title") for entry in parts["annotations"])


def test_a_table_for_people(run: Run, person: Path) -> None:
    outcome = run("explain", "--schema", person)
    assert outcome.code == 0
    assert "enforced" in outcome.out
    assert "a remark only" in outcome.out


def test_a_grammar_that_is_no_schema(run: Run) -> None:
    outcome = run("explain", "--regex", "a")
    assert outcome.code == 0
    assert outcome.out.split()[-3:] == ["(root)", "regex", "enforced"]

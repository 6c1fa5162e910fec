"""All that XGrammar answered in its own tests, asked of `stencilm.compat.xgrammar`.

The answers, and the script that replays them, lie beside the repository. Where our answer is
another one, `xgrammar_differences.toml` says why: a row that is not in it must be the same, and one
that is must differ.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import stencilm.compat.xgrammar as xgr

SHARED = Path(__file__).parents[2].parent / "shared"
SCRIPT = SHARED / "bench" / "behaviour.py"
DATA = SHARED / "data" / "xgrammar-behaviour-dev.jsonl.gz"
DIFFERENCES = Path(__file__).parent / "xgrammar_differences.toml"
MOST = 60


def replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("behaviour", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows() -> list[tuple[str, dict[str, Any]]]:
    """Each row by its test, and its place among the rows of that test."""
    counts = Counter[str]()
    named = []
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            test = row["test"].split("::")[1]
            named.append((f"{test}#{counts[test]}", row))
            counts[test] += 1
    return named


@pytest.mark.skipif(not DATA.is_file(), reason=f"the answers are not there: {DATA}")
def test_model_tags_take_what_those_of_xgrammar_take() -> None:
    asked = 0
    for _, row in rows():
        model = row["source"].get("model")
        if model is None or "texts" not in row:
            continue
        tag = xgr.get_model_structural_tag(**model["args"])
        grammar = xgr.Grammar.from_structural_tag(tag)
        for text, is_whole, expected in row["texts"]:
            taken = xgr.testing._is_grammar_accept_string(
                grammar, text, require_termination=is_whole
            )
            assert taken == expected, (model, text)
            asked += 1
    assert asked == 130


def differences() -> dict[str, str]:
    listed = tomllib.loads(DIFFERENCES.read_text(encoding="utf-8"))["difference"]
    return {row: entry["reason"] for entry in listed for row in entry["rows"]}


def test_differences_are_few_and_have_reasons() -> None:
    known = differences()
    assert len(known) <= MOST
    assert all(len(reason) > 20 for reason in known.values())


@pytest.mark.skipif(not DATA.is_file(), reason=f"the answers are not there: {DATA}")
def test_answers_are_the_same_but_for_those_that_are_listed() -> None:
    module, known = replay(), differences()
    found: dict[str, str] = {}
    names = set()
    for name, row in rows():
        names.add(name)
        why = module.run_row(xgr, row)
        if why is not None:
            found[name] = why
    new = {name: why for name, why in found.items() if name not in known}
    assert not new, "\n".join(f"{name}: {why}" for name, why in new.items())
    assert sorted(known) == sorted(found), "these are the same now"
    assert known.keys() <= names

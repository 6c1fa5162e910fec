"""The official suite of JSON Schema: what does not pass is listed with a reason, and no more."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def load() -> ModuleType:
    path = ROOT / "bench" / "conformance.py"
    spec = importlib.util.spec_from_file_location("conformance", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["conformance"] = module
    spec.loader.exec_module(module)
    return module


conformance = load()


@pytest.mark.skipif(not conformance.is_here(), reason="the suite lies in ../shared, not here")
def test_the_suite_passes_but_for_what_is_listed() -> None:
    outcome = conformance.run()
    differences = conformance.differences(outcome)
    hint = "`python bench/conformance.py --write` rewrites conformance.toml"
    assert not differences, "\n".join([*differences, hint])
    passing, _ = conformance.listed()
    for (draft, part), total in outcome.total.items():
        assert passing[draft][part] == [outcome.passed[draft, part], total]


def test_the_table_of_the_page_is_that_of_the_list() -> None:
    assert conformance.PAGE.read_text() == conformance.page_with_table()


def test_a_difference_either_way_is_one() -> None:
    outcome = conformance.Outcome()
    _, known = conformance.listed()
    listed = next(iter(known))
    outcome.failed = {("draft7 x.json", "group", "test"): "unexplained"}
    outcome.seen = {("draft7 x.json", "group", "test"): "refuses 1"}
    lines = conformance.differences(outcome)
    assert f"passes, but is listed: {conformance.show(listed)}" in lines
    assert "fails, and is not listed: draft7 x.json: group / test: refuses 1" in lines

"""The languages of bug reports and of other engines' own tests, text by text.

The cases lie beside the repository, `../shared/data`; where they do not, nothing is tested. Those
in Lark's language are `crates/stencilm/tests/lark/cases.rs`, those about interfaces
`test_api_cases.py`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar, GrammarError

if TYPE_CHECKING:
    from conftest import Kit

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = ("cases-dev", "cases-llguidance-dev", "cases-llamacpp-dev")

POLICIES = {
    "js-any-key-order": (
        {"key_order": "any"},
        "names come in the order of the schema unless any order is asked for",
    ),
    "llg-json_schema-4c07ae14": (
        {"formats": False},
        "RFC 1034 (3.1): a host name has 253 characters at most; the case has one with more",
    ),
    "llg-json_schema-25f1f7a8": (
        {"formats": False},
        "RFC 3339 (5.7): a leap second is 23:59:60 UTC; the case has 22:59:60Z",
    ),
}
"""Cases whose texts are taken only with an option, which one, and why it is not the default."""


def cases() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in FILES:
        file = DATA / f"{name}.jsonl.gz"
        if file.exists():
            with gzip.open(file, "rt") as lines:
                found |= {case["id"]: case for case in map(json.loads, lines)}
    return found


CASES = cases()
FORMATS = ("json_schema", "regex", "ebnf", "structural_tag")
NAMES = [name for name, case in CASES.items() if case["format"] in FORMATS]

pytestmark = pytest.mark.skipif(not CASES, reason="the cases lie in ../shared, not here")


def grammar_of(case: dict[str, Any], **options: Any) -> Grammar:
    source = case["grammar"]
    match case["format"]:
        case "json_schema":
            return Grammar.from_json_schema(json.dumps(source), **options)
        case "regex":
            return Grammar.from_regex(source)
        case "ebnf":
            return Grammar.from_ebnf(source)
        case _:
            return Grammar.from_structural_tag(source)


def other_than_said(kit: Kit, case: dict[str, Any], key: str, **options: Any) -> list[str]:
    """The texts under `key`, `"accept"` or `"reject"`, with which the grammar deals otherwise."""
    compiled = kit.compiler.compile(grammar_of(case, **options))

    def is_taken(text: str) -> bool:
        matcher = compiled.matcher()
        return matcher.accept_bytes(text.encode(errors="surrogatepass")) and matcher.may_stop()

    return [text for text in case.get(key, []) if is_taken(text) != (key == "accept")]


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_taken_and_refused_as_the_case_says(byte_kit: Kit, name: str) -> None:
    case = CASES[name]
    if case.get("note", "").startswith("[MUST-ERROR]"):
        with pytest.raises(GrammarError):
            byte_kit.compiler.compile(grammar_of(case))
        return
    assert other_than_said(byte_kit, case, "reject") == []
    refused = other_than_said(byte_kit, case, "accept")
    if name not in POLICIES:
        assert refused == []
        return
    options, _ = POLICIES[name]
    assert refused
    assert other_than_said(byte_kit, case, "accept", **options) == []


def test_every_policy_is_of_a_case() -> None:
    assert set(POLICIES) <= set(NAMES)

"""The grammars of the benchmarks say what they should: judged by others' parsers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from stencilm import Grammar

if TYPE_CHECKING:
    from conftest import Kit

FOLDER = Path(__file__).parents[1] / "bench" / "workloads"
if not FOLDER.is_dir():
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(FOLDER))
import texts  # noqa: E402

WORKLOADS = texts.workloads()


def accepts(kit: Kit, grammar: Grammar, text: bytes) -> bool:
    matcher = kit.matcher(grammar)
    return matcher.accept_bytes(text) and matcher.may_stop()


@pytest.mark.parametrize("name", WORKLOADS)
def test_samples_are_texts_of_their_grammar(byte_kit: Kit, name: str) -> None:
    kind, source, samples = WORKLOADS[name]
    make = {
        "lark": Grammar.from_lark,
        "json_schema": Grammar.from_json_schema,
        "structural_tag": Grammar.from_structural_tag,
    }
    grammar = make[kind](source)
    assert samples
    for sample in samples:
        assert accepts(byte_kit, grammar, sample.encode())
        ends = (1, len(sample) // 2, len(sample.rstrip()) - 1)
        for cut in () if kind == "structural_tag" else ends:
            assert not accepts(byte_kit, grammar, sample[:cut].encode())


def test_samples_are_what_they_say() -> None:
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    for sample in texts.texts("json"):
        json.loads(sample)
    for sample in texts.texts("xml"):
        ElementTree.fromstring(sample.encode())
    for sample in texts.texts("sql"):
        assert len(sqlglot.parse(sample.removesuffix(";"))) == 1


def test_json_is_what_python_reads(byte_kit: Kit) -> None:
    grammar = Grammar.from_lark(texts.grammar("json"))
    random = Random(5)
    verdicts = []
    for sample in texts.texts("json"):
        for _ in range(400):
            start = random.randrange(len(sample) - 40)
            text = list(sample if random.random() < 0.5 else sample[start : start + 40])
            for _ in range(random.randint(0, 2)):
                place = random.randrange(len(text))
                text[place] = random.choice(
                    ['"', "\\", "{", "}", "[", "]", ",", ":", "0", "e", " "]
                )
            verdicts.append(readable("".join(text)))
            assert accepts(byte_kit, grammar, "".join(text).encode()) == verdicts[-1], text
    assert 100 < sum(verdicts) < len(verdicts) - 100


def readable(text: str) -> bool:
    try:
        json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def test_a_tool_for_each_number() -> None:
    names = {texts.tool(number)[1]["name"] for number in range(500)}
    assert len(names) == 500
    for number in range(500):
        schema, call = texts.tool(number)
        assert set(call) == set(schema["required"])
        assert set(call["arguments"]) == set(schema["properties"]["arguments"]["properties"])

"""Structural tags, and grammars made of grammars: what XGrammar answered, what objects mean."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import stencilm
from stencilm import Compiler, Grammar, GrammarSyntaxError, Vocabulary, tags

BEHAVIOUR = Path(__file__).parents[2] / "shared" / "data" / "xgrammar-behaviour-dev.jsonl.gz"
COMPILER = Compiler(Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], stop=[256]))

OTHER_ANSWERS = {
    "test_json_schema_format_any_order": 1,  # a name twice
    "test_token_string_requires_tokenizer": 1,  # known when it is compiled
    "test_token_tag_dispatch_need_tokenizer_info": 1,  # the same
}
"""Tests of which one answer differs, and why."""


def accepts(grammar: Grammar, text: str | bytes, *, to_the_end: bool = True) -> bool:
    matcher = COMPILER.compile(grammar).matcher()
    raw = text.encode() if isinstance(text, str) else text
    return all(matcher.accept(byte) for byte in raw) and (not to_the_end or matcher.accept(256))


def of(format_: Any) -> Grammar:
    return Grammar.from_structural_tag({"type": "structural_tag", "format": format_})


def rows() -> list[dict[str, Any]]:
    if not BEHAVIOUR.exists():
        return []
    with gzip.open(BEHAVIOUR, "rt", encoding="utf-8") as file:
        all_rows = [json.loads(line) for line in file]
    return [row for row in all_rows if row["source"].get("kind") == "structural_tag"]


def differs(row: dict[str, Any]) -> bool:
    tag = row["source"]["args"]["args"][0]
    if "error" in row:
        try:
            Grammar.from_structural_tag(tag)
        except stencilm.GrammarError:
            return False
        return True
    grammar = Grammar.from_structural_tag(tag)
    answers = []
    for text, whole, expected in row["texts"]:
        raw = bytes.fromhex(text["bytes"]) if isinstance(text, dict) else text
        answers.append(accepts(grammar, raw, to_the_end=whole) == expected)
    return not all(answers)


@pytest.mark.skipif(not BEHAVIOUR.exists(), reason="needs ../shared/data")
def test_answers_are_those_of_xgrammar() -> None:
    found: dict[str, int] = {}
    for row in rows():
        if ("texts" in row or "error" in row) and differs(row):
            name = row["test"].split("::")[1]
            found[name] = found.get(name, 0) + 1
    assert found == OTHER_ANSWERS


def test_objects_are_the_same_as_json() -> None:
    call = tags.Tag("<f>", tags.JsonSchema({"type": "object"}, any_order=True), ["</f>", "!"])
    typed = tags.SequenceOf(
        [
            tags.ConstString("a"),
            tags.Repeat(0, -1, tags.Regex("b")),
            tags.Dispatch([("x", tags.JsonSchema(False))], loop=False),
            tags.TriggeredTags(["<f"], [call], at_least_one=True),
        ]
    )
    plain = {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "a"},
            {"type": "repeat", "min": 0, "max": -1, "content": {"type": "regex", "pattern": "b"}},
            {
                "type": "dispatch",
                "rules": [["x", {"type": "json_schema", "json_schema": False, "style": "json"}]],
                "loop": False,
            },
            {
                "type": "triggered_tags",
                "triggers": ["<f"],
                "tags": [
                    {
                        "type": "tag",
                        "begin": "<f>",
                        "content": {
                            "type": "json_schema",
                            "json_schema": {"type": "object"},
                            "style": "json",
                            "any_order": True,
                        },
                        "end": ["</f>", "!"],
                    }
                ],
                "at_least_one": True,
            },
        ],
    }
    assert tags.tag_value(typed) == {"type": "structural_tag", "format": plain}
    assert tags.tag_value(tags.StructuralTag(typed)) == tags.tag_value(typed)


def test_every_format_has_an_object() -> None:
    known = {cls.type for cls in tags.Format.__subclasses__()}
    assert len(known) == 21
    assert {"token_dispatch", "qwen_xml_parameter"} <= known


def test_mistakes_have_a_pointer() -> None:
    with pytest.raises(GrammarSyntaxError) as found:
        of({"type": "sequence", "elements": [{"type": "regex", "pattern": "("}]})
    assert found.value.location == "/format/elements/0/pattern"


def test_free_text_of_few_tokens() -> None:
    content = {"type": "any_text", "max_tokens": 2}
    grammar = of({"type": "tag", "begin": "<t>", "content": content, "end": "</t>"})
    matcher = COMPILER.compile(grammar).matcher()
    mask = stencilm.allocate_mask(1, COMPILER.vocabulary.size)
    allowed = []
    for token in b"<t>ab":
        matcher.fill_mask(mask)
        allowed.append(len(stencilm.allowed_ids(mask[0])))
        assert matcher.accept(token)
    matcher.fill_mask(mask)
    assert min(allowed[3:]) > 100
    assert stencilm.allowed_ids(mask[0]).tolist() == [ord("<")]
    # What is given as text is no token.
    matcher.rollback(2)
    assert matcher.accept_bytes(b"a long text")
    assert matcher.accept(ord("b"))
    assert matcher.is_allowed(ord("b"))


def test_a_special_token_must_exist() -> None:
    grammar = of({"type": "token", "token": "<x>"})
    with pytest.raises(stencilm.VocabularyError, match="<x>"):
        COMPILER.compile(grammar)
    tokens = [*(bytes([b]) for b in range(256)), None, None]
    vocabulary = Vocabulary.from_tokens(tokens, special={"<x>": 256}, stop=[257])
    tag = {"type": "token", "token": "<x>"}
    whole = of({"type": "tag", "begin": tag, "content": {"type": "any_text"}, "end": tag})
    matcher = Compiler(vocabulary).compile(whole).matcher()
    assert all(matcher.accept(token) for token in [256, *b"<x> free", 256, 257])


def test_grammars_compose() -> None:
    number = Grammar.from_regex("[0-9]+")
    value = number | Grammar.from_json_schema({"type": "object"}, whitespace="compact")
    line = Grammar.literal("x = ") + value + Grammar.literal(";").optional()
    lines = line.repeat(1, 2)
    for text, expected in [
        ("x = 12", True),
        ('x = {"a":1};x = 2', True),
        ("x = 1;x = 2;x = 3", False),
        ("", False),
        ('x = {"a":1,"a":2}', False),
    ]:
        assert accepts(lines, text) is expected, text
    assert line.key == (Grammar.literal("x = ") + value + Grammar.literal(";").optional()).key
    assert line.key != lines.key
    with pytest.raises(ValueError, match="between 3 and 2"):
        line.repeat(3, 2)
    with pytest.raises(TypeError):
        _ = line + "text"  # type: ignore[operator]


def test_quotations() -> None:
    quotation = Grammar.literal('"') + Grammar.substring_of("to be or not") + Grammar.literal('"')
    for text, expected in [('"be or"', True), ('""', True), ('"or be"', False), ('"tob', False)]:
        assert accepts(quotation, text) is expected, text


def test_the_report_is_that_of_the_schemas_inside() -> None:
    schema = {"type": ["object", "null"], "properties": {"a": {"type": "string", "title": "A"}}}
    said = "the arguments of a call are an object, and no other value comes"
    for style in ("qwen_xml", "minimax_m3_xml", "kimi_k3_xml", "cohere_xml", "pythonic"):
        format_ = {"type": "json_schema", "style": style, "json_schema": schema}
        report = of({"type": "optional", "content": format_}).report
        assert report.narrower == [("/format/content/json_schema/type", said)], style
        lines = [*report.enforced, *report.annotations]
        assert ("/format/content/json_schema/properties/a/title", "title") in lines
        assert ("/format/content/json_schema/type", "type") not in lines
        objects = {**format_, "json_schema": {**schema, "type": "object"}}
        assert of(objects).report.narrower == []
        assert of({**format_, "json_schema": True}).report.narrower == [
            ("/format/json_schema", said)
        ]
    for style in ("json", "gemma"):
        format_ = {"type": "json_schema", "style": style, "json_schema": schema}
        assert of(format_).report.narrower == []
        assert accepts(of(format_), "null")

"""What servers' requests ask for: `stencilm.integrations._serving`."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stencilm import (
    GrammarError,
    GrammarSyntaxError,
    LimitError,
    UnsatisfiableError,
    UnsupportedError,
    VocabularyError,
)
from stencilm.integrations._serving import Kind, ServedModel, Settings, refusal, request_grammar

TOKENS = [*(bytes([byte]) for byte in range(256)), b"ab", b"\n\n", None, None]
END, TURN = 258, 259
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


def model(**settings: Any) -> ServedModel:
    return ServedModel(TOKENS, len(TOKENS), Settings.read(json.dumps(settings)))


def accepts(served: ServedModel, kind: Kind, spec: str, text: str, **more: Any) -> bool:
    matcher = served.compile(kind, spec, {END}, **more).matcher()
    return matcher.accept_bytes(text.encode()) and matcher.may_stop()


@pytest.mark.parametrize(
    ("kind", "spec", "right", "wrong"),
    [
        ("json", json.dumps(PERSON), '{"name": "Ann", "age": 3}', '{"age": 3}'),
        ("json_object", "", '{"a": [1]}', "[1]"),
        ("regex", "[A-Z]{2}-[0-9]{4}", "AB-1234", "AB-123"),
        ("regex", "(?i)yes", "YeS", "no"),
        ("regex", r"(?P<first>a)b\Z", "ab", "abc"),
        ("choice", '["yes", "no\\n"]', "no\n", "no"),
        ("choice", '["\\u2028\\"]"]', '\u2028"]', '"]'),
        ("grammar", 'root ::= "[" [0-9]+ "]"', "[12]", "[]"),
        ("grammar", '# comment\nroot ::= x\nx::="a"', "a", "b"),
        ("grammar", 'start: "::=" | NAME\nNAME: /[a-z]+/', "::=", ":"),
    ],
)
def test_requests_mean_what_they_say(kind: Kind, spec: str, right: str, wrong: str) -> None:
    served = model()
    assert accepts(served, kind, spec, right)
    assert not accepts(served, kind, spec, wrong)


def test_both_forms_of_structural_tags_are_read() -> None:
    schema = {"type": "integer"}
    first = {
        "type": "structural_tag",
        "structures": [{"begin": "<f>", "schema": schema, "end": "</f>"}],
        "triggers": ["<f"],
    }
    tag = {
        "type": "tag",
        "begin": "<f>",
        "content": {"type": "json_schema", "json_schema": schema},
        "end": "</f>",
    }
    second = {
        "type": "structural_tag",
        "format": {"type": "triggered_tags", "triggers": ["<f"], "tags": [tag]},
    }
    for form in (first, second):
        spec = json.dumps(form)
        assert accepts(model(), "structural_tag", spec, "so: <f>12</f> and <f>3</f>.")
        assert not accepts(model(), "structural_tag", spec, "so: <f>x</f>")


def test_the_first_form_may_ask_for_a_tag() -> None:
    form = {"structures": [{"begin": "<f>", "end": "</f>"}], "triggers": ["<f"]}
    assert accepts(model(), "structural_tag", json.dumps(form), "no")
    form["at_least_one"] = True  # type: ignore[assignment]
    assert not accepts(model(), "structural_tag", json.dumps(form), "no")
    assert accepts(model(), "structural_tag", json.dumps(form), "<f>[]</f>")
    for place in (form, form["structures"][0]):
        place["unheard_of"] = False  # type: ignore[index]
        with pytest.raises(GrammarSyntaxError, match="unheard_of"):
            request_grammar("structural_tag", json.dumps(form))
        del place["unheard_of"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "spec", "error", "place"),
    [
        ("json", '{"properties": {"a": {"type": "no"}}}', GrammarSyntaxError, "/properties/a/type"),
        ("json", "", GrammarSyntaxError, "byte 0"),
        ("json", '{"minimum": 2, "maximum": 1, "type": "integer"}', UnsatisfiableError, ""),
        ("regex", "[a-", GrammarSyntaxError, "byte 0"),
        ("regex", r"(a)\1", UnsupportedError, "byte 3"),
        ("choice", "[]", UnsatisfiableError, ""),
        ("choice", '"yes"', GrammarSyntaxError, ""),
        ("choice", "[1]", GrammarSyntaxError, ""),
        ("grammar", 'root ::= "a', GrammarSyntaxError, "byte 9"),
        ("grammar", "start: (", GrammarSyntaxError, "byte"),
        ("structural_tag", '{"structures": [1], "triggers": []}', GrammarSyntaxError, ""),
        ("structural_tag", '{"structures": [{}], "triggers": ["a"]}', GrammarSyntaxError, ""),
        ("structural_tag", '{"structures"', GrammarSyntaxError, ""),
        ("structural_tag", "[" * 100_000 + '"structures"', GrammarSyntaxError, ""),
    ],
)
def test_mistakes_have_their_place(
    kind: Kind, spec: str, error: type[GrammarError], place: str
) -> None:
    with pytest.raises(error) as raised:
        request_grammar(kind, spec)
    assert place in refusal(raised.value)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(LimitError):
        request_grammar("json", json.dumps({"enum": ["x" * (2 << 20)]}))
    with pytest.raises(LimitError):
        request_grammar("regex", "aa", Settings.read('{"source_bytes": 1}'))


def test_compact_goes_before_the_operators_white_space() -> None:
    served = model(whitespace_cap=2)
    spec = json.dumps(PERSON)
    assert accepts(served, "json", spec, '{"name":  "a"}')
    assert not accepts(served, "json", spec, '{"name":   "a"}')
    assert accepts(served, "json", spec, '{"name":"a"}', is_compact=True)
    assert not accepts(served, "json", spec, '{"name": "a"}', is_compact=True)


def test_options_hold_for_all_schemas() -> None:
    served = model(key_order="any", compile_time=2)
    assert served.settings.limits.compile_time == 2
    assert accepts(served, "json", json.dumps(PERSON), '{"age": 3, "name": "a"}')


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"key_order": "none"}', '{"no_such": 1}', '{"compile_time": -1}']
)
def test_settings_that_are_none_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="STENCILM_OPTIONS"):
        Settings.read(text)


def test_a_text_ends_with_the_tokens_that_its_request_names() -> None:
    served = model()
    for stop in ({END}, {TURN}, {END, TURN}):
        matcher = served.compile("regex", "a?", stop).matcher()
        assert [matcher.is_allowed(token) for token in (END, TURN)] == [END in stop, TURN in stop]


def test_a_stop_token_that_spells_a_text_only_ends_it() -> None:
    newlines = TOKENS.index(b"\n\n")
    spec = r"a[ab\n]+"
    matcher = model().compile("regex", spec, {END}).matcher()
    assert matcher.accept(97)
    assert matcher.accept(newlines)
    matcher = model().compile("regex", spec, {END, newlines}).matcher()
    assert matcher.accept(97)
    assert not matcher.is_allowed(newlines)
    assert matcher.accept(98)
    assert matcher.accept(newlines)
    assert matcher.has_stopped()


def test_tokens_that_the_model_does_not_have_are_an_error() -> None:
    tag = {"type": "structural_tag", "format": {"type": "token", "token": "<|no|>"}}
    with pytest.raises(VocabularyError):
        model().compile("structural_tag", json.dumps(tag))


def test_vocabularies_are_shared_and_few() -> None:
    served = model()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: served.compiler({END}), range(8)))
    assert len({id(compiler) for compiler in made}) == 1
    for token in range(64):
        served.compiler({END, token})
    assert len(served._compilers) <= 4


def test_compiled_grammars_are_kept_only_where_they_come_again() -> None:
    served = model()
    assert served.compile("regex", "a+") is served.compile("regex", "a+")
    assert served.compile("regex", "a+", {END}) is not served.compile("regex", "a+", {TURN})
    compact = served.compile("json", "true", is_compact=True)
    assert served.compile("json", "true") is not compact
    front = ServedModel(TOKENS, len(TOKENS), Settings(), is_caching=False)
    assert front.compile("regex", "a+") is not front.compile("regex", "a+")


def test_grammars_of_strangers_fill_no_memory() -> None:
    served = model()
    for number in range(600):
        served.compile("regex", f"a{number}")
    assert len(served._kept._entries) == 256
    for number in range(30):
        served.compile("choice", json.dumps([f"{number}" + "x" * 900_000]))
    specs = [spec for _, _, spec, _ in served._kept._entries]
    assert sum(map(len, specs)) == served._kept._characters <= 8 << 20
    assert len(specs) == 9

"""A matcher: walks over its masks, steps back, copies, ends."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from stencilm import Compiler, Grammar, Limits, VocabularyError, allocate_mask

if TYPE_CHECKING:
    from conftest import Kit

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

STOP = 256

REGEXES = [
    "",
    "abc",
    "a|bc|def",
    "[a-z]+",
    "[a-z]{3}",
    "[^a-z]{1,4}",
    "(ab|ba)*c",
    r"\d{4}-\d{2}-\d{2}",
    r"[+-]?\d+(\.\d+)?",
    r"(\w{1,5} ){2}end",
    "x{2,5}y{0,3}",
    "(a{2,3}b){2}",
    "(?:ab)+(?:cd)?",
    "(?=.*[0-9])[a-z0-9]{4,8}",
    "(?!.*aa)[ab]{5}",
    "a(?=b)b",
    "[ab]*(?<=bb)c",
    r"\bword\b",
    ".{0,10}",
    "é+|日本",
    "[α-ω]{2,4}",
    r"[\u4e00-\u4eff]{1,3}",
    "(a|b)*a(a|b){3}",
    "((a|b)(c|d)){3}",
    "(yes|no|maybe)",
    "[A-Z][a-z]{1,5}( [A-Z][a-z]{1,5}){0,2}",
    r"[\w.]{1,8}@[a-z]{1,8}\.(com|org)",
    "#[0-9a-fA-F]{6}",
    r"\(\d{3}\) \d{3}-\d{4}",
    '"[^"\\n]{0,8}"',
    r"(\{\"a\": \d+\},? ?){1,3}",
    "[^\\x00-\\x7f]{1,3}",
]

OBJECT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "ab"]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TREE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
SCHEMAS: list[Any] = [
    True,
    {"type": "null"},
    {"type": "boolean"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "string"},
    {"type": "array"},
    {"type": "object"},
    {"type": ["integer", "null"]},
    {"const": {"a": [1, "x"]}},
    {"enum": ["red", "green", 3, None, True, {"x": 1}]},
    {"type": "integer", "minimum": -17, "maximum": 342},
    {"type": "integer", "exclusiveMinimum": 5},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "minimum": -1.5, "maximum": 2.25},
    {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 90},
    {"type": "string", "minLength": 3, "maxLength": 6},
    {"type": "string", "pattern": "^[a-f]{2,5}$"},
    {"type": "string", "pattern": "^.?b+$", "maxLength": 9},
    {"type": "string", "enum": ["one", "two", "three"]},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4},
    {"type": "array", "prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
    {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
    OBJECT,
    {"type": "object", "properties": {"a": True, "b": False}},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "patternProperties": {"^x": {"type": "null"}}},
    {"type": "object", "required": ["z", "y"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1},
    {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "minimum": 10}]},
    {"anyOf": [OBJECT, {"type": "array", "items": OBJECT}]},
    {"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 9}]},
    TREE,
    {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2, "$defs": TREE["$defs"]},
    {"not": {"type": "string"}},
    {"oneOf": [{"type": "integer"}, {"type": "string", "maxLength": 2}]},
    {"if": {"type": "integer"}, "then": {"minimum": 5}, "else": {"type": "null"}},
]


def number(text: str) -> int | Fraction:
    """The value, or one as large or small as it where that would be too long to write."""
    digits, _, exponent = text.lower().partition("e")
    power = max(-400, min(400, int(exponent or 0)))
    value = Fraction(digits) * Fraction(10) ** power
    return value.numerator if value.denominator == 1 else value


def read(text: bytes) -> Any:
    return json.loads(text.decode(), parse_float=number, parse_int=int)


# Walks.


@pytest.mark.parametrize("pattern", REGEXES)
def test_walks_end_in_texts_that_match(kit: Kit, pattern: str) -> None:
    for seed in range(12):
        tokens = kit.walk(kit.matcher(pattern), Random(seed))
        text = kit.text(tokens).decode()
        assert re.fullmatch(pattern, text), text


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_walks_end_in_json_that_is_valid(kit: Kit, schema: Any) -> None:
    grammar = Grammar.from_json_schema(schema)
    for seed in range(8):
        text = kit.text(kit.walk(kit.matcher(grammar), Random(seed)))
        jsonschema.validate(read(text), schema)


def test_the_escapes_of_the_last_character_that_fits(byte_kit: Kit) -> None:
    schema = {"type": "string", "pattern": "b", "maxLength": 2}
    matcher = byte_kit.matcher(Grammar.from_json_schema(schema))
    assert matcher.accept_bytes(b'"a\\u')
    assert byte_kit.allowed(matcher) == [ord("0")]


@pytest.mark.parametrize("pattern", REGEXES[::4])
def test_walks_over_a_real_vocabulary_match(llama_kit: Kit, pattern: str) -> None:
    for seed in range(3):
        tokens = llama_kit.walk(llama_kit.matcher(pattern), Random(seed))
        assert re.fullmatch(pattern, llama_kit.text(tokens).decode())


@pytest.mark.parametrize("schema", SCHEMAS[::5], ids=json.dumps)
def test_walks_over_a_real_vocabulary_are_valid(llama_kit: Kit, schema: Any) -> None:
    grammar = Grammar.from_json_schema(schema)
    for seed in range(3):
        text = llama_kit.text(llama_kit.walk(llama_kit.matcher(grammar), Random(seed)))
        jsonschema.validate(read(text), schema)


@pytest.mark.parametrize("options", [{"whitespace": "compact"}, {"indent": 2}, {"indent": 0}])
def test_walks_keep_to_the_white_space_that_was_asked_for(
    kit: Kit, options: dict[str, Any]
) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "boolean"}}, "b": {"const": "x"}},
        "required": ["b"],
        "additionalProperties": False,
    }
    indent = options.get("indent")
    separators = (",", ":") if indent is None else None
    for seed in range(10):
        matcher = kit.matcher(Grammar.from_json_schema(schema, **options))
        text = kit.text(kit.walk(matcher, Random(seed))).decode()
        assert text == json.dumps(json.loads(text), indent=indent, separators=separators)


def test_white_space_runs_no_longer_than_its_cap(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_json_schema({"type": "array"}, whitespace_cap=3))
    assert matcher.accept_bytes(b"[ \n\t")
    assert not matcher.accept_bytes(b" ")
    assert matcher.accept_bytes(b"]")


@pytest.mark.parametrize("pattern", REGEXES)
def test_texts_of_a_walk_are_taken_in_any_pieces(kit: Kit, pattern: str) -> None:
    random = Random(pattern)
    text = kit.text(kit.walk(kit.matcher(pattern), random))
    matcher = kit.matcher(pattern)
    at = 0
    while at < len(text):
        piece = text[at : at + random.randint(1, 5)]
        assert matcher.accept_bytes(piece)
        at += len(piece)
    assert matcher.may_stop()
    whole = kit.matcher(pattern)
    assert whole.accept_bytes(text)
    np.testing.assert_array_equal(kit.mask(whole), kit.mask(matcher))


# Steps and their return.


GRAMMARS = [
    Grammar.from_regex("(?=.*[0-9])[a-z0-9 ]{4,80}"),
    Grammar.from_regex("[^x]{0,1000}(x[ab]{3})?"),
    Grammar.from_ebnf('root ::= root "+" root | "(" root ")" | [0-9]+ | "ab"'),
    Grammar.from_ebnf('root ::= "a" root "a" | "b" root "b" | "c" | "ab"'),
    Grammar.json(),
    Grammar.from_json_schema(OBJECT),
]


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_rollback_brings_back_every_mask_bit_by_bit(kit: Kit, grammar: Grammar) -> None:
    for seed in range(5):
        random = Random(seed)
        tokens = kit.walk(kit.matcher(grammar), random)
        matcher = kit.matcher(grammar)
        masks = [kit.mask(matcher)]
        for token in tokens:
            assert matcher.accept(token)
            masks.append(kit.mask(matcher))
        assert matcher.has_stopped()
        at = len(tokens)
        for _ in range(40):
            back = random.randint(0, at)
            matcher.rollback(back)
            at -= back
            assert matcher.rollback_window == at
            np.testing.assert_array_equal(kit.mask(matcher), masks[at])
            for token in tokens[at : at + random.randint(0, 9)]:
                assert matcher.accept(token)
                at += 1
            np.testing.assert_array_equal(kit.mask(matcher), masks[at])


def test_a_stop_token_is_one_step(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab?")
    assert matcher.accept(97)
    before = byte_kit.mask(matcher)
    assert matcher.accept(STOP)
    assert (matcher.has_stopped(), matcher.is_finished(), matcher.may_stop()) == (True,) * 3
    assert not matcher.accept(98)
    assert not matcher.accept(STOP)
    assert not matcher.accept_bytes(b"b")
    assert not matcher.is_allowed(98)
    assert matcher.next_bytes() == b""
    assert matcher.forced_text() == b""
    matcher.rollback()
    assert (matcher.has_stopped(), matcher.is_finished(), matcher.may_stop()) == (
        False,
        False,
        True,
    )
    np.testing.assert_array_equal(byte_kit.mask(matcher), before)
    assert matcher.accept(98)


def test_a_refused_token_changes_nothing(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab")
    before = byte_kit.mask(matcher)
    for token in (98, STOP, 0, 255):
        assert not matcher.accept(token)
    assert not matcher.accept_bytes(b"ac")
    assert matcher.rollback_window == 0
    np.testing.assert_array_equal(byte_kit.mask(matcher), before)


def test_bytes_are_one_step(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("abcdef")
    assert matcher.accept_bytes(b"abc")
    assert matcher.accept_bytes(b"")
    assert matcher.rollback_window == 2
    matcher.rollback(2)
    assert matcher.next_bytes() == b"a"


def test_more_steps_than_were_made_cannot_be_given_back(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("abc")
    assert matcher.accept(97)
    with pytest.raises(ValueError, match="2 steps cannot be given back: 1 are remembered"):
        matcher.rollback(2)
    assert matcher.next_bytes() == b"b"
    matcher.rollback(0)
    matcher.rollback()
    assert matcher.next_bytes() == b"a"


@pytest.mark.parametrize("window", [0, 1, 5])
def test_the_window_is_that_of_the_limits(byte_kit: Kit, window: int) -> None:
    compiler = Compiler(byte_kit.vocabulary, limits=Limits(rollback=window))
    matcher = compiler.compile(Grammar.from_regex("[a-z]*")).matcher()
    for token in b"abcdefgh":
        assert matcher.accept(token)
    assert matcher.rollback_window == window
    with pytest.raises(ValueError, match=f"{window} are remembered"):
        matcher.rollback(window + 1)
    matcher.rollback(window)
    assert matcher.rollback_window == 0


def test_a_thousand_steps_can_be_given_back(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a{0,5000}b")
    for _ in range(3_000):
        assert matcher.accept(97)
    matcher.rollback(1_024)
    assert matcher.validate([97] * 5_000) == 5_000 - 3_000 + 1_024


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_forks_go_their_own_ways(kit: Kit, grammar: Grammar) -> None:
    random = Random(3)
    matcher = kit.matcher(grammar)
    while not matcher.has_stopped() and matcher.rollback_window < 6:
        matcher.accept(random.choice(kit.allowed(matcher)))
    before = kit.mask(matcher)
    window = matcher.rollback_window
    fork = matcher.fork()
    np.testing.assert_array_equal(kit.mask(fork), before)
    while not fork.has_stopped() and fork.rollback_window < 30:
        fork.accept(random.choice(kit.allowed(fork)))
    assert matcher.rollback_window == window
    np.testing.assert_array_equal(kit.mask(matcher), before)
    kept = kit.mask(fork)
    matcher.reset()
    np.testing.assert_array_equal(kit.mask(fork), kept)
    fork.rollback(fork.rollback_window - window)
    np.testing.assert_array_equal(kit.mask(fork), before)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_reset_is_a_new_beginning(kit: Kit, grammar: Grammar) -> None:
    matcher = kit.matcher(grammar)
    before = kit.mask(matcher)
    kit.walk(matcher, Random(4))
    matcher.reset()
    assert matcher.rollback_window == 0
    assert not matcher.has_stopped()
    np.testing.assert_array_equal(kit.mask(matcher), before)
    np.testing.assert_array_equal(kit.mask(kit.matcher(grammar)), before)


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_validate_counts_what_accept_takes_and_changes_nothing(kit: Kit, grammar: Grammar) -> None:
    random = Random(5)
    tokens = kit.walk(kit.matcher(grammar), random)
    matcher = kit.matcher(grammar)
    for at, token in enumerate(tokens):
        before = kit.mask(matcher)
        assert matcher.validate(tokens[at:]) == len(tokens) - at
        broken = [*tokens[at : at + 3], random.randrange(kit.vocabulary.size), *tokens[:3]]
        count = matcher.validate(broken)
        np.testing.assert_array_equal(kit.mask(matcher), before)
        assert matcher.rollback_window == at
        fork = matcher.fork()
        assert [fork.accept(t) for t in broken[: count + 1]] == [
            *[True] * count,
            *[False] * (count < len(broken)),
        ]
        assert matcher.accept(token)
    assert matcher.validate([]) == 0
    assert matcher.validate(tokens) == 0


def test_tokens_may_be_integers_of_numpy(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("[ab]*")
    assert matcher.accept(np.int64(97))  # type: ignore[arg-type]
    assert matcher.is_allowed(np.int32(98))  # type: ignore[arg-type]
    assert matcher.validate(np.array([97, 98, 99])) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("token", [257, -1, 2**32, 2**40 + 97])
def test_ids_outside_the_vocabulary(byte_kit: Kit, token: int) -> None:
    matcher = byte_kit.matcher(".*")
    message = f"token {token} is not in the vocabulary of 257 tokens"
    for call in (
        lambda: matcher.accept(token),
        lambda: matcher.is_allowed(token),
        lambda: matcher.validate([97, token]),
    ):
        with pytest.raises(VocabularyError, match=message):
            call()
    assert matcher.rollback_window == 0
    assert matcher.accept(97)


@pytest.mark.parametrize("token", ["a", None, 1.5, b"a"])
def test_tokens_are_integers(byte_kit: Kit, token: Any) -> None:
    with pytest.raises(TypeError):
        byte_kit.matcher(".*").accept(token)


# Ends.


def test_when_a_text_may_end(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab?")
    assert (matcher.may_stop(), matcher.is_finished(), matcher.has_stopped()) == (False,) * 3
    matcher.accept(97)
    assert (matcher.may_stop(), matcher.is_finished()) == (True, False)
    matcher.accept(98)
    assert (matcher.may_stop(), matcher.is_finished(), matcher.has_stopped()) == (True, True, False)
    assert byte_kit.allowed(matcher) == [STOP]


def test_the_empty_text(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("")
    assert matcher.may_stop()
    assert byte_kit.allowed(matcher) == [STOP]


def test_tokens_without_text_are_refused(kit: Kit) -> None:
    matcher = kit.matcher(".*")
    size = kit.vocabulary.size
    assert not any(matcher.accept(token) for token in range(size - 5, size))


def test_next_bytes_are_those_that_accept_takes(kit: Kit) -> None:
    for grammar in GRAMMARS:
        random = Random(6)
        matcher = kit.matcher(grammar)
        while not matcher.has_stopped() and matcher.rollback_window < 12:
            taken = [byte for byte in range(256) if matcher.fork().accept_bytes(bytes([byte]))]
            assert list(matcher.next_bytes()) == taken
            matcher.accept(random.choice(kit.allowed(matcher)))


def test_what_remains_can_be_shown(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("[ab]{3}|")
    assert "the text may end here" in matcher.describe()
    matcher.accept(97)
    assert matcher.describe() == "[a-b]{2}\n"
    assert matcher.live_size == (1, 0)


def test_ways_to_one_frame_are_not_counted_one_by_one(many_kit: Kit) -> None:
    """`root root root` has exponentially many trees, but few frames."""
    matcher = many_kit.matcher(Grammar.from_ebnf('root ::= root root root | "a"'))
    mask = allocate_mask(1, many_kit.vocabulary.size)
    for count in range(1, 80):
        assert matcher.accept_bytes(b"a")
        matcher.fill_mask(mask)
        assert matcher.may_stop() == (count % 2 == 1)
    items, frames = matcher.live_size
    assert items <= 2
    assert frames <= 80

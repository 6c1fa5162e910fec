"""What must hold for any input: properties, with inputs that a machine makes up."""

from __future__ import annotations

import itertools
import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import HealthCheck, example, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from stencilm import (  # noqa: E402
    Compiler,
    Grammar,
    InternalError,
    Limits,
    StencilmError,
    UnsatisfiableError,
    Vocabulary,
    allocate_mask,
    allowed_ids,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit

QUICK = Limits(
    compile_time=2,
    expressions=200_000,
    search=5_000,
    items=500,
    alternatives=300,
    mask_work=500_000,
)
usual = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def use(kit: Kit, make: Callable[..., Grammar], source: Any) -> None:
    """Reads, compiles, and walks a little: nothing but errors of our tree."""
    try:
        grammar = make(source, limits=QUICK)
        matcher = Compiler(kit.vocabulary, limits=QUICK, cache_entries=0).compile(grammar).matcher()
        random = Random(0)
        for _ in range(6):
            allowed = kit.allowed(matcher)
            assert allowed, "a dead end"
            matcher.forced_text(20)
            matcher.describe()
            assert matcher.accept(random.choice(allowed))
            if matcher.has_stopped():
                break
        grammar.show()
    except InternalError:
        raise
    except StencilmError:
        pass


# Any text at all.

REGEX_PARTS = st.sampled_from(
    [
        *"ab01.*+?|()[]{}^$\\-,:=!<>é日\n",
        *("(?=", "(?!", "(?<=", "(?<!", "(?:", "{2,3}", "{0,}", "{99999}", "(?<n>", r"\k<n>"),
        *(r"\b", r"\B", r"\w", r"\S", r"\d", r"\p{L}", r"\u{1F600}", r"\x41", r"\cA", r"\1"),
        *("[^a]", "[a-f]", r"[\w-]", "[^]", "[]"),
    ]
)
EBNF_PARTS = st.sampled_from(
    [
        *'ab |*+?(){}[]^-",:;=<>\\#\n',
        *(
            "root ::= ",
            '"a" ',
            "root ",
            "x ",
            "\nx ::= ",
            "[a-z]",
            "{2,4}",
            "<|tool|>",
            " & ",
            " - ",
        ),
        *("!", "'b' ", "/a+/", "(* c *)", "// c\n", "\\u00e9", '"" '),
    ]
)


@usual
@given(st.text(max_size=40) | st.lists(REGEX_PARTS, max_size=14).map("".join))
@example("(a{2,3}){2,3}(?=b)b")
@example("(?!(?=a)a)b|[^\\s\\S]")
def test_any_text_as_a_regular_expression(kit: Kit, text: str) -> None:
    use(kit, Grammar.from_regex, text)


@usual
@given(st.text(max_size=40) | st.lists(EBNF_PARTS, max_size=18).map("".join))
@example('root ::= root root | ""')
@example('root ::= x\nx ::= root | "a"')
def test_any_text_as_ebnf(kit: Kit, text: str) -> None:
    use(kit, Grammar.from_ebnf, text)
    use(kit, Grammar.from_ebnf, f"root ::= {text}")


# fmt: off
KEYWORDS = st.sampled_from(
    [
        "type", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
        "minProperties", "maxProperties", "items", "prefixItems", "contains", "minItems",
        "maxItems", "uniqueItems", "minimum", "maximum", "exclusiveMinimum", "multipleOf",
        "minLength", "maxLength", "pattern", "format", "$ref", "$defs", "$id", "$anchor",
        "dependentRequired", "unevaluatedProperties", "title",
    ]
)
# fmt: on
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 40)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.sampled_from(["object", "array", "string", "integer", "number", "null", "a", "^a+b$", "#"])
    | st.sampled_from(["#/$defs/a", "date", "uuid", "é", "", "x{3,5}", "(", "#a", "ipv4"])
)
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYWORDS, inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "^c"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@usual
@given(st.text(max_size=40) | st.dictionaries(KEYWORDS, VALUES, max_size=5).map(json.dumps))
@example('{"$ref": "#"}')
@example('{"not": {"$ref": "#"}}')
@example('{"allOf": [{"$ref": "#"}, {"type": "null"}]}')
def test_any_text_as_a_schema(kit: Kit, text: str) -> None:
    use(kit, Grammar.from_json_schema, text)


# Schemas whose keywords have values of the right kind.

SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({"type": st.sampled_from(["null", "boolean", "integer", "string"])})
    | st.builds(
        lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span},
        st.integers(-200, 200),
        st.integers(0, 300),
    )
    | st.builds(
        lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span},
        st.integers(0, 4),
        st.integers(0, 4),
    )
    | st.builds(
        lambda values: {"enum": values},
        st.lists(st.integers(0, 9) | st.text('ab"é'), min_size=1, max_size=4),
    ),
    lambda inner: (
        st.builds(
            lambda properties, required: {
                "type": "object",
                "properties": properties,
                "required": sorted(required),
            },
            st.dictionaries(st.sampled_from(["a", "ab", "b", "é"]), inner, max_size=3),
            st.sets(st.sampled_from(["a", "b"]), max_size=2),
        )
        | st.builds(
            lambda items, most: {"type": "array", "items": items, "maxItems": most},
            inner,
            st.integers(0, 3),
        )
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=6,
)


@usual
@given(SCHEMAS, st.integers(0, 1_000))
def test_walks_over_any_schema_are_valid(kit: Kit, schema: Any, seed: int) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    try:
        matcher = kit.matcher(Grammar.from_json_schema(schema))
    except UnsatisfiableError:
        return
    text = kit.text(kit.walk(matcher, Random(seed), 15)).decode()
    value = json.loads(text, parse_float=lambda digits: digits and 0.5 if "." in digits else 0)
    if "e" not in text.lower() and "." not in text:
        jsonschema.validate(value, schema)


@usual
@given(
    st.recursive(
        ATOMS,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=10,
    )
)
def test_any_value_is_json(byte_kit: Kit, value: Any) -> None:
    for options, dumps in (
        ({}, {}),
        ({"whitespace": "compact"}, {"separators": (",", ":")}),
        ({"indent": 3}, {"indent": 3}),
        ({"separators": (", ", ": ")}, {}),
    ):
        text = json.dumps(value, ensure_ascii=False, **dumps).encode()  # type: ignore[arg-type]
        matcher = byte_kit.matcher(Grammar.json(**options))
        assert matcher.validate(list(text)) == len(text)
        assert matcher.accept_bytes(text)
        assert matcher.may_stop()


# Regular expressions against enumeration.

PATTERNS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", "ab", ""]),
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,3}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        )
        | st.tuples(st.sampled_from(["(?=", "(?!"]), inner).map(lambda pair: f"{pair[0]}{pair[1]})")
        | st.tuples(st.sampled_from(["(?<=", "(?<!"]), st.sampled_from(["a", "ab", "bb"])).map(
            lambda pair: f"{pair[0]}{pair[1]})"
        )
    ),
    max_leaves=6,
)
TEXTS = ["".join(t) for n in range(1, 4) for t in itertools.product("ab", repeat=n)]
ALL = ["".join(t) for n in range(9) for t in itertools.product("ab", repeat=n)]
SMALL = Vocabulary.from_tokens([*(text.encode() for text in TEXTS), None], stop=[len(TEXTS)])


@usual
@given(PATTERNS)
def test_masks_are_those_of_enumeration(pattern: str) -> None:
    compiled_pattern = re.compile(pattern)
    sentences = {text for text in ALL if compiled_pattern.fullmatch(text)}
    prefixes = {text[:end] for text in sentences for end in range(len(text) + 1)}
    try:
        compiled = Compiler(SMALL).compile(Grammar.from_regex(pattern))
    except UnsatisfiableError:
        assert not sentences
        return
    mask = allocate_mask(1, SMALL.size)
    for start in ["", "a", "b", "ab", "ba"]:
        matcher = compiled.matcher()
        if not matcher.accept_bytes(start.encode()):
            assert start not in prefixes
            continue
        matcher.fill_mask(mask)
        allowed = set(allowed_ids(mask[0]).tolist())
        # What enumeration finds is allowed; what is allowed and short enough, it finds, since
        # each byte of these patterns needs at most a few more to end.
        for token, text in enumerate(TEXTS):
            if start + text in prefixes:
                assert token in allowed
            elif token in allowed:
                going_on = matcher.fork()
                assert going_on.accept(token)
                for _ in range(30):
                    if going_on.may_stop():
                        break
                    following = going_on.next_bytes()
                    assert following
                    assert going_on.accept_bytes(following[:1])
        assert (len(TEXTS) in allowed) == (start in sentences) == matcher.may_stop()


@usual
@given(st.lists(st.text(max_size=6), min_size=1, max_size=8))
def test_choices_are_their_texts(byte_kit: Kit, texts: list[str]) -> None:
    grammar = Grammar.choice(texts)
    for text in texts:
        matcher = byte_kit.matcher(grammar)
        assert matcher.accept_bytes(text.encode())
        assert matcher.may_stop()
        goes_on = any(other != text and other.startswith(text) for other in texts)
        # That nothing follows the empty text is not looked for before the first step.
        assert matcher.is_finished() == (not goes_on) or not text
    walked = byte_kit.text(byte_kit.walk(byte_kit.matcher(grammar), Random(1)))
    assert walked.decode() in texts


@usual
@given(st.data())
def test_any_sequence_of_calls_keeps_matchers_true(kit: Kit, data: Any) -> None:
    """A matcher that is moved about is always where a fresh one is after the same tokens."""
    grammar = Grammar.from_regex('(?=.*b)(?:[a-c]{2,4} ?)+|abc"é*')
    matcher, path = kit.matcher(grammar), []
    for _ in range(data.draw(st.integers(1, 12))):
        action = data.draw(
            st.sampled_from(["accept", "accept", "accept", "rollback", "reset", "fork"])
        )
        if action == "accept":
            allowed = kit.allowed(matcher)
            token = data.draw(st.sampled_from(allowed) if allowed else st.just(97))
            token = data.draw(st.sampled_from([token, token, 98, 500 % kit.vocabulary.size]))
            if matcher.accept(token):
                path.append(token)
        elif action == "rollback":
            steps = data.draw(st.integers(0, len(path)))
            matcher.rollback(steps)
            path = path[: len(path) - steps]
        elif action == "reset":
            matcher.reset()
            path = []
        else:
            matcher = matcher.fork()
        fresh = kit.matcher(grammar)
        assert fresh.validate(path) == len(path)
        assert all(fresh.accept(token) for token in path)
        assert kit.allowed(fresh) == kit.allowed(matcher)
        assert fresh.may_stop() == matcher.may_stop()
        assert fresh.is_finished() == matcher.is_finished()
        assert fresh.forced_text() == matcher.forced_text()
        assert fresh.next_bytes() == matcher.next_bytes()

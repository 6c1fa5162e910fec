"""Numbers of JSON Schema, by value and in every spelling, against `jsonschema` over fractions."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import jsonschema
import pytest

from stencilm import Grammar, LimitError, Limits, UnsatisfiableError

if TYPE_CHECKING:
    from conftest import Kit

    from stencilm import Matcher

DIVISORS = ["1", "2", "3", "7", "10", "12", "0.5", "0.01", "2.5", "0.3", "1e-4", "1024", "83"]
WAYS: list[Literal["plain", "any"]] = ["plain", "any"]
SCALES = [Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10_000), Fraction(5)]
BOUNDS = ["0", "-1", "5", "0.5", "12.25", "100", "-3e2", "1e3", "7e-3", "99999999999999999999"]


def number(text: str) -> int | Fraction:
    """The value of a text whose exponent is small."""
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else value


def read(text: str) -> Any:
    return json.loads(text, parse_float=number, parse_int=int)


def takes(kit: Kit, grammar: Grammar, text: str) -> bool:
    matcher = kit.matcher(grammar)
    return matcher.accept_bytes(text.encode()) and matcher.may_stop()


def random_schema(random: Random) -> str:
    """A schema as JSON text: its numbers must not become floats."""
    parts = [f'"type": "{random.choice(["number", "integer"])}"']
    for keyword, pool, share in [
        (random.choice(["minimum", "exclusiveMinimum"]), BOUNDS, 0.4),
        (random.choice(["maximum", "exclusiveMaximum"]), BOUNDS, 0.4),
        ("multipleOf", DIVISORS, 0.6),
    ]:
        if random.random() < share:
            parts.append(f'"{keyword}": {random.choice(pool)}')
    if random.random() < 0.3:
        parts.append(f'"not": {{"multipleOf": {random.choice(DIVISORS)}}}')
    if random.random() < 0.3:
        parts.append(f'"allOf": [{{"multipleOf": {random.choice(DIVISORS)}}}]')
    if random.random() < 0.2:
        other = random.choice(["multipleOf", "minimum"])
        parts.append(f'"oneOf": [{{"multipleOf": {random.choice(DIVISORS)}}}, {{"{other}": 3}}]')
    return "{" + ", ".join(parts) + "}"


def spellings(value: Fraction, random: Random) -> list[str]:
    """Legal spellings of a decimal: plain ones, then one with an exponent."""
    sign = "-" if value < 0 else random.choice(["", "-"]) if value == 0 else ""
    digits, power = abs(value), 0
    while digits.denominator != 1:
        digits, power = digits * 10, power - 1
    zeros = random.randrange(3)
    text = str(digits.numerator).zfill(1 - power)
    whole, fraction = (text[:power], text[power:]) if power else (text, "")
    fraction += "0" * zeros
    plain = f"{sign}{whole}" + (f".{fraction}" if fraction else "")
    shift = random.randrange(-3, 4)
    moved = str(digits.numerator) + "0" * zeros
    letter, plus = random.choice("eE"), random.choice(["", "+"])
    power = power - zeros + shift
    whole, fraction = moved, ""
    if shift > 0:
        moved = moved.zfill(shift + 1)
        whole, fraction = moved[:-shift], moved[-shift:]
    else:
        power -= shift
    exponent = f"{letter}{plus if power >= 0 else '-'}{'0' * random.randrange(2)}{abs(power)}"
    return [plain, f"{sign}{whole}" + (f".{fraction}" if fraction else "") + exponent]


def ending(matcher: Matcher, most: int) -> bytes | None:
    """The bytes of a way to the end, at most so many."""
    if matcher.may_stop():
        return b""
    for byte in matcher.next_bytes() if most else b"":
        after = matcher.fork()
        assert after.accept_bytes(bytes([byte]))
        if (rest := ending(after, most - 1)) is not None:
            return bytes([byte]) + rest
    return None


def finished_walk(kit: Kit, grammar: Grammar, random: Random) -> bytes:
    matcher, text = kit.matcher(grammar), b""
    for _ in range(random.randrange(6)):
        tokens = [token for token in kit.allowed(matcher) if token not in kit.vocabulary.stop_ids]
        if not tokens:
            break
        token = random.choice(tokens)
        assert matcher.accept(token)
        text += kit.text([token])
    ways = (ending(matcher, most) for most in range(7))
    return text + next(way for way in ways if way is not None)


def random_value(random: Random) -> Fraction:
    return random.randrange(-2000, 2000) * random.choice(SCALES)


@pytest.mark.parametrize("seed", range(60))
def test_verdicts_on_random_numbers(byte_kit: Kit, seed: int) -> None:
    random = Random(seed)
    schema = random_schema(random)
    validator = jsonschema.Draft202012Validator(read(schema))
    try:
        grammars = [Grammar.from_json_schema(schema, numbers=numbers) for numbers in WAYS]
    except UnsatisfiableError:
        grammars = []
    for _ in range(120):
        value = random_value(random)
        texts = spellings(value, random)
        is_valid = validator.is_valid(number(str(value)))
        for text in texts:
            assert Fraction(text) == value
        verdicts = [takes(byte_kit, grammar, texts[0]) for grammar in grammars]
        verdicts += [takes(byte_kit, grammar, texts[1]) for grammar in grammars[1:]]
        assert verdicts == [is_valid] * len(verdicts), (schema, texts)
        assert grammars or not is_valid, (schema, texts)


@pytest.mark.parametrize("numbers", WAYS)
@pytest.mark.parametrize("seed", range(30))
def test_walks_end_in_numbers_that_are_valid(many_kit: Kit, seed: int, numbers: Any) -> None:
    random = Random(seed)
    schema = random_schema(random)
    try:
        grammar = Grammar.from_json_schema(schema, numbers=numbers)
    except UnsatisfiableError:
        return
    for _ in range(4):
        text = finished_walk(many_kit, grammar, random).decode()
        power = int(text.lower().partition("e")[2] or 0)
        if abs(power) < 2_000:
            jsonschema.Draft202012Validator(read(schema)).validate(number(text))


def test_numbers_are_plain_unless_asked(byte_kit: Kit) -> None:
    for schema, plain, other in [
        ({"type": "integer"}, ["7", "-0", "1.0"], ["1e3", "10E-1"]),
        ({"type": "number", "minimum": 0}, ["0.5", "1", "1e-06"], []),
        ({"enum": [1, 2.5]}, ["1", "1.0", "2.50"], ["25e-1", "0.1e+01"]),
        ({"const": 0}, ["0", "-0", "0.00"], ["0e99"]),
    ]:
        narrow = Grammar.from_json_schema(schema)
        wide = Grammar.from_json_schema(schema, numbers="any")
        for text in plain:
            assert takes(byte_kit, narrow, text), text
            assert takes(byte_kit, wide, text), text
        for text in other:
            assert not takes(byte_kit, narrow, text), text
            assert takes(byte_kit, wide, text), text
    assert takes(byte_kit, Grammar.from_json_schema({"type": "number"}), "1e-7")


@pytest.mark.parametrize("value", [1e16, 1e300, 2.5e-7, 1e-5, 1.5e22, 123456.5, 0.0001, 10**20])
def test_listed_numbers_as_json_dumps_writes_them(byte_kit: Kit, value: float) -> None:
    for schema in ({"const": value}, {"enum": [value, "x"]}):
        assert takes(byte_kit, Grammar.from_json_schema(schema), json.dumps(value))


def test_draft_4_integers_are_spelled_so(byte_kit: Kit) -> None:
    schema = {"type": "integer", "multipleOf": 3}
    grammar = Grammar.from_json_schema(schema, dialect="draft4", numbers="any")
    assert takes(byte_kit, grammar, "9")
    assert not takes(byte_kit, grammar, "9.0")
    assert not takes(byte_kit, grammar, "9e0")
    schema = {"type": "number", "not": {"type": "integer"}}
    grammar = Grammar.from_json_schema(schema, dialect="draft4", numbers="any")
    assert takes(byte_kit, grammar, "9.0")
    assert not takes(byte_kit, grammar, "9")


def test_large_numbers(byte_kit: Kit) -> None:
    huge = 10**400 + 7
    grammar = Grammar.from_json_schema(
        {"type": "integer", "minimum": huge, "multipleOf": 10**9 + 7}
    )
    right = -(-huge // (10**9 + 7)) * (10**9 + 7)
    assert takes(byte_kit, grammar, str(right))
    assert not takes(byte_kit, grammar, str(right + 1))
    assert not takes(byte_kit, grammar, str(right - 10**9 - 7))
    with pytest.raises(LimitError, match="number_digits"):
        Grammar.from_json_schema({"multipleOf": 10**60 + 7}, limits=Limits(number_digits=50))

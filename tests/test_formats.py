"""Formats: no text of one is outside of it, said by others."""

from __future__ import annotations

import base64
import json
import re
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

import pytest

from stencilm import Grammar, UnsatisfiableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Kit

idna = pytest.importorskip("idna")


def format_of(kit: Kit, name: str) -> Callable[[str], bool]:
    compiled = kit.compiler.compile(Grammar.from_json_schema({"type": "string", "format": name}))

    def accepts(text: str) -> bool:
        matcher = compiled.matcher()
        return matcher.accept_bytes(json.dumps(text).encode()) and matcher.may_stop()

    return accepts


def test_a_leap_second_is_at_midnight_in_utc(byte_kit: Kit) -> None:
    accepts, random = format_of(byte_kit, "time"), Random(1)
    for offset in range(-1439, 1440):
        sign = "-" if offset < 0 else "+"
        zone = f"{sign}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
        right = (23 * 60 + 59 + offset) % 1440
        for minute in {right, (right + 1) % 1440, (right + 60) % 1440, random.randrange(1440)}:
            text = f"{minute // 60:02}:{minute % 60:02}:60{random.choice(['', '.25'])}{zone}"
            expected = minute == right and offset % 30 == 0
            assert accepts(text) is expected, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1998-12-31T15:59:60-08:00", True),
        ("1999-01-01T08:59:60+09:00", True),
        ("2016-06-30t23:59:60.1z", True),
        ("1998-12-30T15:59:60-08:00", False),
        ("1998-12-31T08:59:60+09:00", False),
        ("1999-01-01T23:59:60Z", False),
        ("2000-02-29T00:00:00Z", True),
        ("1900-02-29T00:00:00Z", False),
    ],
)
def test_leap_seconds_and_years_of_dates(byte_kit: Kit, text: str, expected: bool) -> None:
    assert format_of(byte_kit, "date-time")(text) is expected


ALPHABET = "aZ09--.\u3002xn\u00fc\u00df\u00d7\u0133\u017f\u03b1\u03ac\u03c2\u0375\u0436\u0451\u0300"
SCRIPTS = [
    "abcz09-\u00e9\u00f1\u00ff\u03ac\u03c9\u03ce\u0430\u044f\u045f",
    "az9-\u3041\u3096\u30a2\u30fa\u30fc\u4e00\u9fa5\uac00\ud7a3\ud55c",
    "ll\u00b7\u03ac\u03ce\u0375\u00ff\u00df\u03c2\u0f0b\u3007a9",
    "\u30fb\u3041\u30a1\u4e00\u30fb\u9fa5",
    "\u0915\u0939\u094d\u200c\u094d\u200d\u0929",
    "\u05d0\u05ea\u05f3\u05f4\u05d1",
    "\u0628\u063a\u0660\u0669\u06fd\u200c\u064a0",
    "\u06f0\u06f909\u0660",
]


def names_of_hosts(seed: int) -> Iterator[str]:
    random = Random(seed)
    for number in range(6_000):
        letters = random.choice(SCRIPTS) if number % 3 else ALPHABET
        labels = []
        for _ in range(random.choice([1, 1, 2, 3, 5])):
            longest = random.choice([3, 12, 30, 64])
            labels.append("".join(random.choices(letters, k=random.randint(1, longest))))
        yield ".".join(labels)


def test_a_host_has_labels_of_letters_digits_and_hyphens(byte_kit: Kit) -> None:
    accepts, count = format_of(byte_kit, "hostname"), 0
    for name in names_of_hosts(5):
        text = name.encode("ascii", "ignore").decode()
        labels = text.split(".")
        is_name = len(text) <= 253 and all(
            re.fullmatch("(?!-)[A-Za-z0-9-]{1,63}(?<!-)", label) for label in labels
        )
        is_punycode = any(label.lower().startswith("xn--") for label in labels)
        assert accepts(text) is (is_name and not is_punycode), text
        count += is_name
    assert count > 300
    longest = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 61])
    assert accepts(longest)
    assert not accepts(longest + "d")


def test_international_names_of_hosts_are_names(byte_kit: Kit) -> None:
    accepts, count = format_of(byte_kit, "idn-hostname"), 0
    for text in names_of_hosts(2):
        if accepts(text):
            count += 1
            # Raises for what is none.
            assert len(idna.encode(text.lower())) <= 253
    assert count > 300


def test_every_walk_through_international_names_is_one(byte_kit: Kit) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "idn-hostname"})
    # Without what is plain, so that rare letters come.
    rare = {"type": "string", "format": "idn-hostname", "pattern": "[^-a-z.A-Z]{5}"}
    random = Random(6)
    for made in (grammar, Grammar.from_json_schema(rare)):
        for _ in range(200):
            matcher = byte_kit.matcher(made)
            text = json.loads(byte_kit.text(byte_kit.walk(matcher, random, 70)))
            assert len(idna.encode(text.lower())) <= 253, text


@pytest.mark.parametrize(("name", "alphabet"), [("base64", b"+/"), ("base64url", b"-_")])
def test_base64_is_what_it_decodes_to(byte_kit: Kit, name: str, alphabet: bytes) -> None:
    accepts, random = format_of(byte_kit, name), Random(3)
    for _ in range(2_000):
        raw = random.randbytes(random.randint(0, 7))
        text = base64.b64encode(raw, alphabet).decode()
        assert accepts(text), text
        at = random.randrange(len(text) + 1)
        other = text[:at] + random.choice("A=+-/_w") + text[at + random.randint(0, 1) :]
        try:
            decoded = base64.b64decode(other, alphabet, validate=True)
        except ValueError:
            assert not accepts(other), other
        else:
            assert accepts(other) is (base64.b64encode(decoded, alphabet).decode() == other), other


def test_integers_have_their_range(byte_kit: Kit) -> None:
    for name, low, high in [("int32", -(2**31), 2**31 - 1), ("uint64", 0, 2**64 - 1)]:
        grammar = Grammar.from_json_schema({"format": name})
        compiled = byte_kit.compiler.compile(grammar)
        for value in [low, high, low - 1, high + 1, 1.5, "text", None]:
            matcher = compiled.matcher()
            found = matcher.accept_bytes(json.dumps(value).encode()) and matcher.may_stop()
            is_number = isinstance(value, int | float)
            expected = not is_number or (value == int(value) and low <= value <= high)
            assert found is expected, (name, value)


def test_every_walk_through_the_format_of_patterns_is_a_pattern(byte_kit: Kit) -> None:
    grammar = Grammar.from_json_schema({"type": "string", "format": "regex", "maxLength": 40})
    random = Random(4)
    for _ in range(150):
        matcher = byte_kit.matcher(grammar)
        text = byte_kit.text(byte_kit.walk(matcher, random)).decode()
        # One that nothing matches is one.
        with suppress(UnsatisfiableError):
            Grammar.from_regex(json.loads(text))

r"""The dialect `python` against Python's own `re`: random patterns, its own table, all characters.

`STENCILM_REGEXES=20000 pytest tests/test_python_regex.py` looks at other and at more patterns.

Two things differ by version and are left out where the running Python is not the one that is meant:
the tables of Unicode, and `\B` in an empty text (which holds since Python 3.14).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sys
import tomllib
import unicodedata
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from stencilm import (  # noqa: E402
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    LimitError,
    Limits,
    UnsatisfiableError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from random import Random

    from conftest import Kit

LIMITS = Limits(compile_time=2, search=20_000)
PAIRS = int(os.environ.get("STENCILM_REGEXES", "300"))
LETTERS = "aB_1 \n-éſıΣ２\x1c"
"""Letters of each kind that the dialect tells apart."""


def accepts(kit: Kit, grammar: Grammar, text: str) -> bool:
    matcher = kit.matcher(grammar)
    return matcher.accept_bytes(text.encode()) and matcher.may_stop()


def differs_by_version(pattern: str, text: str) -> bool:
    return text == "" and r"\B" in pattern and sys.version_info >= (3, 14)


def disagreement(kit: Kit, pattern: str, flags: str, texts: list[str]) -> str | None:
    """What we say otherwise than `re`, of a pattern that both read."""
    letters = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}
    theirs = re.compile(pattern, sum(letters[flag] for flag in flags))

    def search(text: str) -> bool:
        # `search` itself skips to characters that may come first, and takes those of `(?a:\\W)`
        # for those of `\\W`.
        return any(theirs.match(text, at) for at in range(len(text) + 1))

    for mode, match in (("full", theirs.fullmatch), ("search", search)):
        try:
            grammar = Grammar.from_regex(
                pattern, dialect="python", mode=mode, flags=flags, limits=LIMITS
            )
        except UnsatisfiableError:
            grammar = None
        for text in texts:
            if differs_by_version(pattern, text):
                continue
            expected = bool(match(text))
            found = grammar is not None and accepts(kit, grammar, text)
            if found != expected:
                return f"{mode} {pattern!r} {flags!r} on {text!r}: {found}, re says {expected}"
    return None


# Random patterns.

ATOMS = st.sampled_from(
    [
        *"aaBB_1é-.^$",
        *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", r"\A", r"\Z"),
        *(r"\n", r"\x61", r"\u00e9", r"\U000000e9", r"\101", r"\0", r"\-", r"\ ", r"\\", r"\a"),
        *("[aB]", "[^a]", "[a-z]", "[A-ſ]", r"[^\w]", r"[\s\d]", "[]a]", "[^]-]", r"[\b\x31]"),
        *(
            "[ı-ĳ]",
            r"[^É\W]",
            "ſ",
            "ı",
            "İ",
            "Σ",
            "ς",
            "(?#é(c)",
            " ",
            "#\n",
            "[ #]",
            "{",
            "}",
            "]",
        ),
        *("", "a{,2}", "a{,}", "B{1}", "{,x}", "{}"),
    ]
)
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "+?", "??"])
OPENINGS = st.sampled_from(
    [
        *("(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!"),
        *("(?i:", "(?s:", "(?m:", "(?x:", "(?a:", "(?u:", "(?-i:", "(?im-s:", "(?ai-x:"),
    ]
)


def composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(inner, QUANTIFIERS).map("".join),
        st.tuples(OPENINGS, inner).map(lambda parts: f"{parts[0]}{parts[1]})"),
    )


PATTERNS = st.tuples(
    st.sampled_from(["", "", "", "(?i)", "(?m)", "(?sx)", "(?a)", "(?i)(?#c)(?a)"]),
    st.recursive(ATOMS, composed, max_leaves=10),
).map("".join)
TEXTS = st.lists(st.text(LETTERS + "AbÉsSiIİςσK]{}#\a\0,", max_size=6), max_size=40)
SHORT = ["".join(text) for size in range(3) for text in itertools.product(LETTERS, repeat=size)]


usual = settings(
    max_examples=PAIRS,
    deadline=None,
    derandomize="STENCILM_REGEXES" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@usual
@given(PATTERNS, st.sampled_from(["", "", "i", "m", "s", "x", "a", "aix"]), TEXTS)
def test_random_patterns_mean_what_re_says(
    byte_kit: Kit, pattern: str, flags: str, texts: list[str]
) -> None:
    with warnings.catch_warnings():
        # "Possible nested set" and the like: what `[[` may mean one day.
        warnings.simplefilter("ignore")
        try:
            letters = {"i": re.I, "m": re.M, "s": re.S, "x": re.X, "a": re.A}
            re.compile(pattern, sum(letters[flag] for flag in flags))
        except (re.error, ValueError) as error:
            # Only their look-behind has to have one width.
            if "look-behind requires" not in str(error):
                with pytest.raises((GrammarSyntaxError, UnsupportedError)):
                    Grammar.from_regex(pattern, dialect="python", flags=flags, limits=LIMITS)
            return
        # A possessive quantifier after more than one class, or look-around that has to tell too
        # many situations apart: these are honest answers.
        with contextlib.suppress(UnsupportedError, LimitError):
            assert disagreement(byte_kit, pattern, flags, [*SHORT, *texts]) is None


@usual
@given(PATTERNS, st.randoms(use_true_random=False))
def test_masks_allow_what_is_accepted(kit: Kit, pattern: str, random: Random) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            grammar = Grammar.from_regex(pattern, dialect="python", mode="search", limits=LIMITS)
        except GrammarError:
            return
    matcher = kit.matcher(grammar)
    for _ in range(4):
        allowed = kit.allowed(matcher)
        every = range(kit.vocabulary.size)
        assert allowed == [token for token in every if matcher.fork().accept(token)], pattern
        matcher.accept(random.choice(allowed))
        if matcher.has_stopped():
            return


def test_ways_without_a_text_are_masked(kit: Kit) -> None:
    """After a letter none may come that has a word's edge before it."""
    matcher = kit.matcher(r"\w*(?<=\bA)")
    assert kit.text(kit.allowed(matcher)) == b"A"


# All characters.


@pytest.mark.parametrize("flags", ["", "a", "i", "ia"])
@pytest.mark.parametrize("sign", [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", r"[^\w\s]"])
def test_classes_have_the_same_characters(byte_kit: Kit, sign: str, flags: str) -> None:
    theirs = re.compile(sign, sum({"i": re.I, "a": re.A}[flag] for flag in flags))
    matcher = byte_kit.matcher(Grammar.from_regex(sign, dialect="python", flags=flags))
    for c in known_characters():
        found = matcher.accept_bytes(c.encode())
        if found:
            matcher.reset()
        assert found == (theirs.match(c) is not None), (sign, flags, hex(ord(c)))


def known_characters() -> list[str]:
    """The characters that this Python knows, as our tables do."""
    listed = (chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    return [c for c in listed if unicodedata.category(c) != "Cn"]


def test_letters_are_equal_to_the_same_others(byte_kit: Kit) -> None:
    cased = [c for c in known_characters() if c != c.lower() or c != c.upper()]
    text = "".join(cased)
    for c in cased:
        expected = {*re.findall(f"(?i){c}", text)}
        matcher = byte_kit.matcher(Grammar.from_regex(f"(?i){c}", dialect="python"))
        # Only what could be one: characters of which either folds to a letter of the other.
        others = {c, c.lower(), c.upper(), c.swapcase(), c.casefold(), *expected, *"iIıİſßẞ"}
        found = set()
        for other in filter(lambda other: len(other) == 1, others):
            if matcher.accept_bytes(other.encode()):
                found.add(other)
                matcher.reset()
        assert found == expected, hex(ord(c))


# Tables of others.


def test_the_table_of_the_standard_library(byte_kit: Kit) -> None:
    table = pytest.importorskip("test.re_tests", reason="Python has no tests of its own here").tests
    counts = {"right": 0, "refused": 0}
    for pattern, text, outcome, *_ in table:
        if not text.isascii() and text.encode("utf-8", "replace").decode() != text:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                grammar = Grammar.from_regex(pattern, dialect="python", mode="search")
        except UnsatisfiableError:
            assert outcome == 1, pattern
        except UnsupportedError:
            counts["refused"] += 1
            assert re.search(r"\\\d|\(\?P=|\(\?\(|\(\?>|[+*?}]\+|\\N", pattern), pattern
            continue
        except GrammarSyntaxError:
            assert outcome == 2, pattern
        else:
            assert outcome != 2, pattern
            assert accepts(byte_kit, grammar, text) == (outcome == 0), (pattern, text)
        counts["right"] += 1
    assert counts["right"] > 300
    assert counts["refused"] < 80


def crate_cases() -> list[dict[str, Any]]:
    """The rows of the test data of the crate `regex` in the registry of cargo."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    files = sorted(home.glob("registry/src/*/regex-1.*/testdata/**/*.toml"))
    return [row for file in files for row in tomllib.loads(file.read_text("utf-8"))["test"]]


def test_the_table_of_the_crate_regex(byte_kit: Kit) -> None:
    """Its patterns and texts; what they mean in Python is for `re` to say."""
    cases = crate_cases()
    if not cases:
        pytest.skip("cargo's registry has no sources of the crate `regex`")
    right = 0
    for row in cases:
        patterns = row["regex"] if isinstance(row["regex"], list) else [row["regex"]]
        text = row["haystack"]
        if row.get("unescape"):
            text = text.encode().decode("unicode_escape")
        flags = "i" if row.get("case-insensitive") else ""
        for pattern in patterns:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    re.compile(pattern)
                wrong = disagreement(byte_kit, pattern, flags, [text])
            except (re.error, OverflowError, UnicodeEncodeError, LimitError, UnsupportedError):
                continue
            assert wrong is None
            right += 1
    assert right > 500

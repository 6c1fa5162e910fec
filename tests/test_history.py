"""What a text leaves behind: nothing but what its grammar makes grow."""

from __future__ import annotations

from itertools import cycle, islice, pairwise
from typing import TYPE_CHECKING

import pytest

from stencilm import Compiler, Grammar, Limits

if TYPE_CHECKING:
    from conftest import Kit

    from stencilm import CompiledGrammar, Matcher

FLAT = {
    "right recursion": (Grammar.from_ebnf('root ::= "a" root | "b"'), b"", b"a"),
    "left recursion": (Grammar.from_ebnf('root ::= root "a" | "b"'), b"b", b"a"),
    "brackets that close": (Grammar.from_ebnf('root ::= "(" root? ")" root?'), b"", b"()"),
    "ambiguous": (Grammar.from_ebnf('root ::= root "+" root | "1"'), b"", b"1+"),
    "rules that may be empty": (
        Grammar.from_ebnf('root ::= x* "!"\nx ::= y?\ny ::= x | "a"'),
        b"",
        b"a",
    ),
    "an array": (Grammar.json(), b"[", b'1,"ab",'),
}
NESTING = {
    "one rule in another": (Grammar.from_ebnf('root ::= "(" root ")" | "x"'), b"("),
    "palindromes": (Grammar.from_ebnf('root ::= "a" root "a" | "b" root "b" | "c"'), b"ab"),
    "arrays in objects": (Grammar.json(), b'{"a":['),
}


def begun(kit: Kit, grammar: Grammar, text: bytes) -> tuple[CompiledGrammar, Matcher]:
    compiled = Compiler(kit.vocabulary, limits=Limits(rollback=16)).compile(grammar)
    matcher = compiled.matcher()
    assert not text or matcher.accept_bytes(text)
    return compiled, matcher


def go_on(kit: Kit, matcher: Matcher, period: bytes, count: int) -> tuple[bytes, tuple[int, int]]:
    """The last mask of so many tokens more, and the live alternatives and frames."""
    for byte in islice(cycle(period), count):
        assert matcher.accept(byte)
    return kit.mask(matcher).tobytes(), matcher.live_size


@pytest.mark.parametrize("name", FLAT)
def test_a_long_text_leaves_nothing_behind(byte_kit: Kit, name: str) -> None:
    grammar, head, period = FLAT[name]
    compiled, matcher = begun(byte_kit, grammar, head)
    short = 60 * len(period)
    mask, live = go_on(byte_kit, matcher, period, short)
    tables, learnt = compiled.memory, compiled.learnt()
    again, live_later = go_on(byte_kit, matcher, period, 100_000 // len(period) * len(period))
    assert again == mask
    assert live_later == live
    assert compiled.memory == tables
    assert compiled.learnt() == learnt
    assert compiled.generations == 1


@pytest.mark.parametrize("name", NESTING)
def test_nesting_keeps_a_frame_for_each_level_and_no_more(byte_kit: Kit, name: str) -> None:
    grammar, period = NESTING[name]
    compiled, matcher = begun(byte_kit, grammar, b"")
    mask, (_, few) = go_on(byte_kit, matcher, period, 100 * len(period))
    tables = compiled.memory
    again, (_, many) = go_on(byte_kit, matcher, period, 10_000 * len(period))
    assert again == mask
    assert compiled.memory == tables
    assert 10_000 <= many - few <= 20_000


def test_true_ambiguity_grows_with_the_text_and_no_faster(byte_kit: Kit) -> None:
    """`S → S S S | S S | a` reads a text in ever more ways, with two frames for each character."""
    grammar = Grammar.from_ebnf('root ::= root root root | root root | "a"')
    _, matcher = begun(byte_kit, grammar, b"")
    frames = [go_on(byte_kit, matcher, b"a", 8)[1][1] for _ in range(4)]
    assert len({later - sooner for sooner, later in pairwise(frames)}) == 1
    assert frames[-1] <= 2 * 32

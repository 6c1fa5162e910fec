"""Lark's language against the `lark` package itself: random grammars and texts, in both meanings.

`STENCILM_LARKS=2000 pytest tests/test_lark.py` looks at other and at more grammars.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import (
    Grammar,
    GrammarSyntaxError,
    UnsatisfiableError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from conftest import Kit

LITERALS = ['"a"', '"b"', '"ab"', '"if"', '"="', '"=="', '"+"', '"A"i']
# Every way of cutting these is found by both.
PLAIN = ["/a+/", "/[a-c]+/", "/[0-9]+/", "/[ab]/", '/"[^"]*"/', "/i./"]
# Which match of these is taken depends on the order of their choices.
ORDERED = [
    "/ab?/",
    "/a*?b/",
    "/(?:a|ab)/",
    "/[ab]{1,2}/",
    '/".*?"/',
    "/b+?/",
    "/(?:a+b|a)/",
    "/(aa|a)b*/",
    "/a??b?a/",
    "/[0-9]+(\\.[0-9]+)?/",
    "/\\w+/",
    "/#[^\\n]*/",
]
# What these match depends on what comes before and after.
LOOKING = [
    "/if\\b/",
    "/\\b[a-c]+/",
    "/a(?=b)/",
    "/a(?!b)/",
    "/(?!if)\\w+/",
    "/\\w+(?= *=)/",
    "/(?<=a)b+/",
    "/(?<![a-c])[a-c]/",
    "/b\\B/",
    "/^a+/",
    "/(?m:^)[a-c]/",
    "/[0-9]+$/",
    "/(?m:[a-c]+$)/",
    "/x(?=.*=)/",
    "/(?:(?!if)[a-z])+/",
    "/#(?:(?!\\n).)*/",
    "/(?:a(?=b)|b(?!a)|c)+/",
    "/(?<=(?<!a)b)[a-c]/",
    "/a*?(?=b|$)b?/",
    "/(?=ab|x)[a-x]{1,2}/",
    "/[ab]+(?<=b)/",
    "/i(?!f\\b)\\w*/",
]
ALPHABET = 'aabbcif=+ 12."#\nAx'
COUNT = int(os.environ.get("STENCILM_LARKS", "60"))
FIRST = 1 if COUNT == 60 else random.randrange(10**9)


def random_part(rng: random.Random, depth: int, names: list[str], terminals: list[str]) -> str:
    part = rng.choice([*names, rng.choice(terminals)])
    if depth == 0 or rng.random() < 0.55:
        return part
    inner = random_sequence(rng, depth - 1, names, terminals)
    other = random_sequence(rng, depth - 1, names, terminals)
    suffix = rng.choice("*+?")
    count = rng.choice(["~2", "~0..2", "~1..3"])
    return rng.choice(
        [f"({inner} | {other})", f"({inner}){suffix}", f"[{inner}]", f"{part}{count}"]
    )


def random_sequence(rng: random.Random, depth: int, names: list[str], terminals: list[str]) -> str:
    count = rng.randint(1, 3)
    return " ".join(random_part(rng, depth, names, terminals) for _ in range(count))


def random_grammar(rng: random.Random, terminals: list[str], ignored: list[str]) -> str:
    names = [f"T{place}" for place in range(rng.randint(1, 3))]
    rules = ["start", "r"]
    lines = []
    for rule in rules:
        ways = [
            random_sequence(rng, 1, names * 2 + rules, terminals) for _ in range(rng.randint(1, 3))
        ]
        lines.append(f"{rule}: " + " | ".join(ways))
    for name in names:
        first, second = rng.choice(terminals), rng.choice(terminals)
        body = rng.choice([first, first, f"{first} {second}", f"{first} | {second}", f"({first})+"])
        priority = rng.choice(["", "", "", ".1", ".-1"])
        lines.append(f"{name}{priority}: {body}")
    if rng.random() < 0.6:
        lines.append("%ignore " + rng.choice(ignored))
    return "\n".join(lines)


def check(kit: Kit, rng: random.Random, text: str, meaning: str, parser: Any) -> int:
    """How many texts were compared; none where we refuse what has no texts."""
    lark = pytest.importorskip("lark")
    mistakes = (lark.exceptions.UnexpectedInput, lark.exceptions.ParseError)

    def is_in(sample: str) -> bool:
        try:
            parser.parse(sample)
        except mistakes:
            return False
        return True

    try:
        grammar = Grammar.from_lark(text, meaning=meaning)  # type: ignore[arg-type]
    except UnsatisfiableError:
        assert not any(map(is_in, ["", "a", "b", "ab", "if"])), text
        return 0
    taken: list[str] = []
    for _ in range(60):
        sample = "".join(rng.choices(ALPHABET, k=rng.randint(0, 5)))
        if taken and rng.random() < 0.5:
            first, second = rng.choice(taken), rng.choice(taken)
            cut = rng.randint(0, len(first))
            letter = rng.choice(ALPHABET)
            sample = rng.choice([first + second, first[:cut] + letter + first[cut:], first[:-1]])
        sample = sample[:10]
        expected = is_in(sample)
        if expected:
            taken.append(sample)
        assert takes(kit, grammar, sample) == expected, (
            f"{sample!r} in the meaning {meaning}\n{text}"
        )
    return 60


@pytest.mark.parametrize(
    ("meaning", "more"),
    [("contextual", ORDERED), ("contextual", [*ORDERED, *LOOKING * 2]), ("cfg", [])],
    ids=["contextual", "looking", "cfg"],
)
def test_random_grammars(byte_kit: Kit, meaning: str, more: list[str]) -> None:
    lark = pytest.importorskip("lark", reason="the package lark is not installed")
    terminals = LITERALS + PLAIN + more
    ignored = ['" "'] if meaning == "cfg" else ['" "', "/ +/", "/[ \\n]+/", "/#[^\\n]*/"]
    options = (
        {"parser": "lalr", "lexer": "contextual"}
        if meaning == "contextual"
        else {"parser": "earley", "lexer": "dynamic_complete"}
    )
    looked_at, compared, seed = 0, 0, FIRST
    while looked_at < COUNT:
        seed += 1
        rng = random.Random(seed)
        text = random_grammar(rng, terminals, ignored)
        try:
            parser = lark.Lark(text, **options)
        except lark.exceptions.GrammarError as error:
            # A rule that comes to be the same twice is no error here: there is no tree to shape.
            if meaning == "contextual" and "Reduce/Reduce" in str(error):
                with pytest.raises((GrammarSyntaxError, UnsatisfiableError)):
                    Grammar.from_lark(text, meaning="contextual")
            continue
        except lark.exceptions.LexError:
            continue
        looked_at += 1
        try:
            compared += check(byte_kit, rng, text, meaning, parser)
        except UnsupportedError:
            # A bar that Lark would tear a pattern apart at.
            continue
    assert compared > 20 * COUNT


def takes(kit: Kit, grammar: Grammar, text: str) -> bool:
    matcher = kit.matcher(grammar)
    return all(matcher.accept(kit.bytes[byte]) for byte in text.encode()) and matcher.may_stop()


def test_the_two_meanings(byte_kit: Kit) -> None:
    text = 'start: "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "'
    plain = Grammar.from_lark(text)
    contextual = Grammar.from_lark(text, meaning="contextual")
    assert takes(byte_kit, plain, "ifx")
    assert takes(byte_kit, contextual, "ifx")
    assert takes(byte_kit, plain, "if")
    assert not takes(byte_kit, contextual, "if")
    assert plain.key != contextual.key


def test_start_and_errors() -> None:
    assert Grammar.from_lark('a: "x"', start="a").kind == "lark"
    with pytest.raises(GrammarSyntaxError) as caught:
        Grammar.from_lark('start: nmae\nname: "a"')
    assert caught.value.location == 7
    with pytest.raises(ValueError, match="the meaning cannot be greedy"):
        Grammar.from_lark('start: "a"', meaning="greedy")  # type: ignore[arg-type]
    with pytest.raises(GrammarSyntaxError, match="half a surrogate pair"):
        Grammar.from_lark('start: "\ud800"')

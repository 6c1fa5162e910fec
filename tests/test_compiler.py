"""The compiler: its cache, its limits on memory, its work on other threads."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import (
    Cancel,
    Cancelled,
    Compiler,
    Grammar,
    LimitError,
    Limits,
    Vocabulary,
    allocate_mask,
    fill_masks,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit

SLOW = "root ::= r0\n" + "\n".join(
    f"r{rule} ::= "
    + " | ".join(
        f'r{(7 * rule + 31 * part) % 700} r{(11 * rule + part) % 700} "x"' for part in range(6)
    )
    + ' | "y"'
    for rule in range(700)
)
"""A grammar whose left recursion takes far longer to solve than any test waits."""


# The cache.


def test_equal_grammars_are_compiled_once(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary)
    first = compiler.compile(Grammar.from_regex("ab"))
    assert compiler.compile(Grammar.from_regex("ab")) is first
    assert compiler.compile(Grammar.from_regex("abc")) is not first
    assert compiler.cache_len == 2


def test_what_a_grammar_is_depends_on_its_language_and_options(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary)
    grammars = [
        Grammar.from_regex("true"),
        Grammar.from_json_schema("true"),
        Grammar.from_json_schema("true", indent=2),
        Grammar.from_json_schema("true", indent=4),
        Grammar.from_json_schema("true", whitespace="compact"),
        Grammar.from_json_schema("true", whitespace_cap=4),
        Grammar.from_json_schema("true", separators=(", ", ": ")),
        Grammar.from_json_schema("true", resources={"http://a.org/": {"type": "null"}}),
        Grammar.from_ebnf('root ::= "a"\nx ::= "b"'),
        Grammar.from_ebnf('root ::= "a"\nx ::= "b"', start="x"),
        Grammar.choice(["true"]),
        Grammar.choice(["true", "x"]),
    ]
    assert len({compiler.compile(grammar) for grammar in grammars}) == len(grammars)
    assert len({grammar.key for grammar in grammars}) == len(grammars)


def test_the_entry_that_was_not_used_for_longest_goes_first(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_entries=2)
    a, b, c = map(Grammar.from_regex, "abc")
    kept = {source: compiler.compile(grammar) for source, grammar in zip("ab", (a, b), strict=True)}
    assert compiler.compile(a) is kept["a"]
    compiler.compile(c)
    assert compiler.cache_len == 2
    assert compiler.compile(a) is kept["a"]
    assert compiler.compile(b) is not kept["b"]


def test_bytes_in_the_cache_are_bounded(byte_kit: Kit) -> None:
    big = [Grammar.from_regex(f"({'|'.join('abcd')}|x{{{n}}}){{9}}") for n in range(2, 30)]
    size = Compiler(byte_kit.vocabulary).compile(big[0]).memory
    assert size > 0
    compiler = Compiler(byte_kit.vocabulary, cache_bytes=4 * size)
    for grammar in big:
        compiler.compile(grammar)
    assert 1 <= compiler.cache_len <= 6


def test_tables_that_grow_after_compiling_count(many_kit: Kit) -> None:
    compiler = Compiler(many_kit.vocabulary, cache_bytes=200_000)
    grammars = [Grammar.from_regex(f"([a-z]{{{n}}}[0-9 ]*)+") for n in range(2, 12)]
    for grammar in grammars:
        matcher = compiler.compile(grammar).matcher()
        for letter in b"abcdefgh 12":
            many_kit.mask(matcher)
            matcher.accept(letter)
    kept = [compiler.compile(grammar) for grammar in reversed(grammars)]
    assert compiler.cache_len < len(grammars)
    assert len(kept) == len(grammars)


def test_an_entry_that_is_too_large_is_kept_alone(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_bytes=1)
    a, b = Grammar.from_regex("a"), Grammar.from_regex("b")
    assert compiler.compile(a) is compiler.compile(a)
    compiler.compile(b)
    assert compiler.cache_len == 1


def test_no_cache(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_entries=0)
    grammar = Grammar.from_regex("a")
    assert compiler.compile(grammar) is not compiler.compile(grammar)
    assert compiler.cache_len == 0


def test_matchers_outlive_the_cache(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_entries=1)
    matcher = compiler.compile(Grammar.from_regex("[ab]c")).matcher()
    compiler.compile(Grammar.from_regex("z"))
    compiler.cache_clear()
    assert compiler.cache_len == 0
    del compiler
    gc.collect()
    assert byte_kit.allowed(matcher) == [97, 98]
    assert matcher.accept(97)
    assert byte_kit.allowed(matcher) == [99]


def test_failures_are_not_kept(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, limits=Limits(expressions=1))
    for _ in range(2):
        with pytest.raises(LimitError, match="expressions"):
            compiler.compile(Grammar.from_regex("(a|bc){3}d")).matcher().next_bytes()


def test_compilers_of_two_vocabularies(byte_kit: Kit, kit: Kit) -> None:
    grammar = Grammar.from_regex("ab")
    assert byte_kit.allowed(byte_kit.matcher(grammar)) == [97]
    assert kit.allowed(kit.matcher(grammar)) == [97, 256, 261]


# Other threads.


def test_compile_async(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary)

    async def both() -> list[object]:
        makers = [lambda cancel: Grammar.from_regex("a", cancel=cancel)] * 2
        return await asyncio.gather(*(compiler.compile_async(make) for make in makers))

    first, second = asyncio.run(both())
    assert first is second is compiler.compile(Grammar.from_regex("a"))


def test_errors_come_through_compile_async(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary)
    with pytest.raises(ValueError, match="at byte"):
        asyncio.run(compiler.compile_async(lambda _: Grammar.from_regex("(")))


def slow(cancel: Cancel) -> Grammar:
    return Grammar.from_ebnf(SLOW, cancel=cancel, limits=Limits(compile_time=600))


class Watched:
    """Makes the slow grammar, and keeps how that ended."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.outcome: BaseException | Grammar | None = None

    def __call__(self, cancel: Cancel) -> Grammar:
        self.started.set()
        try:
            self.outcome = slow(cancel)
        except BaseException as error:
            self.outcome = error
            raise
        return self.outcome


def test_a_timeout_stops_the_work(byte_kit: Kit) -> None:
    make = Watched()
    with pytest.raises(TimeoutError):
        asyncio.run(byte_kit.compiler.compile_async(make, timeout=0.05))
    # `asyncio.run` waits for the threads: had the work gone on, this would not be reached.
    assert make.outcome is None or isinstance(make.outcome, Cancelled)


def test_cancelling_the_task_stops_the_work(byte_kit: Kit) -> None:
    make = Watched()

    async def give_up() -> None:
        task = asyncio.create_task(byte_kit.compiler.compile_async(make))
        await asyncio.to_thread(make.started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up())
    assert isinstance(make.outcome, Cancelled)


def test_the_event_loop_goes_on_meanwhile(byte_kit: Kit) -> None:
    async def count() -> int:
        task = asyncio.create_task(byte_kit.compiler.compile_async(slow, timeout=0.2))
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        with pytest.raises(TimeoutError):
            await task
        return turns

    assert asyncio.run(count()) > 10


def test_cancel_from_another_thread() -> None:
    cancel = Cancel()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    with pytest.raises(Cancelled, match="cancelled by the caller"):
        slow(cancel)
    timer.join()
    assert cancel.is_cancelled


def hard_schema() -> str:
    patterns = [f"^(a|b)*{letter}(a|b){{{16 + at}}}$" for at, letter in enumerate("abab")]
    return json.dumps({"type": "string", "allOf": [{"pattern": pattern} for pattern in patterns]})


def test_the_gil_is_released_while_a_short_schema_is_read(progress: Callable[[], int]) -> None:
    """Or nothing could cancel it."""
    schema = hard_schema()
    assert len(schema) < 4_096
    before = progress()
    with pytest.raises(LimitError, match="search"):
        Grammar.from_json_schema(schema, limits=Limits(search=30_000))
    assert progress() > before


# Memory.


def schema(number: int) -> dict[str, object]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    word = "".join(letters[(number // 26**at) % 26] for at in range(3))
    return {
        "type": "object",
        "properties": {
            word: {
                "type": "string",
                "pattern": f"^[{word[0]}-z{number % 10}]+ ?[0-9]{{1,{number % 9 + 1}}}$",
            },
            f"{word}_2": {"enum": [f"{word}{n}" for n in range(number % 7 + 1)]},
        },
        "required": [word],
        "additionalProperties": False,
    }


def test_memory_stays_bounded_whatever_streams_through(many_kit: Kit) -> None:
    limit = 300_000
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes(), store_bytes=limit)
    compiler = Compiler(vocabulary, cache_entries=20)
    mask = allocate_mask(1, vocabulary.size)
    kept = []
    for number in range(2_000):
        grammar = Grammar.from_json_schema(schema(number), whitespace="compact")
        matcher = compiler.compile(grammar).matcher()
        for byte in matcher.forced_text():
            assert matcher.accept(byte)
        matcher.fill_mask(mask)
        assert mask.any()
        assert vocabulary.store.usage()[1] <= limit
        if number % 250 == 0:
            kept.append((grammar, matcher, matcher.fork()))
    entries, size, _, misses, generations, _ = vocabulary.store.usage()
    assert generations >= 2
    assert 0 < size <= limit
    assert 0 < entries <= misses
    for grammar, matcher, fork in kept:
        fresh = many_kit.matcher(grammar)
        assert fresh.accept_bytes(fresh.forced_text())
        random = Random(1)
        for at in (matcher, fork):
            np.testing.assert_array_equal(many_kit.mask(at), many_kit.mask(fresh))
        while not fresh.has_stopped() and fresh.rollback_window < 15:
            allowed = many_kit.allowed(fresh)
            token = random.choice(allowed)
            assert fresh.accept(token)
            assert matcher.accept(token)
            np.testing.assert_array_equal(many_kit.mask(matcher), many_kit.mask(fresh))


def test_what_is_larger_than_the_store_is_not_kept(many_kit: Kit) -> None:
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes(), store_bytes=0)
    mask = allocate_mask(1, vocabulary.size)
    Compiler(vocabulary).compile(Grammar.from_regex(".*")).matcher().fill_mask(mask)
    assert vocabulary.store.usage()[1] == 0


def test_what_one_grammar_learnt_serves_the_next(many_kit: Kit) -> None:
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes())
    compiler = Compiler(vocabulary)
    for pattern in ["x[a-z]+ [0-9]*", "y[a-z]+ [0-9]*"]:
        matcher = compiler.compile(Grammar.from_regex(pattern)).matcher()
        matcher.accept(ord(pattern[0]))
        many_kit.mask(matcher)
    assert vocabulary.store.usage()[2] > 0


def test_a_new_store(many_kit: Kit) -> None:
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes())
    compiler = Compiler(vocabulary)
    before = compiler.compile(Grammar.from_regex("[a-z]+ [0-9]*")).matcher()
    row = many_kit.mask(before)
    assert vocabulary.store.usage()[1] > 0
    vocabulary.renew_store()
    assert vocabulary.store.usage() == (0, 0, 0, 0, 0, 0)
    assert before.accept(97)
    after = many_kit.matcher("[a-z]+ [0-9]*")
    np.testing.assert_array_equal(many_kit.mask(after), row)
    assert after.accept(97)
    np.testing.assert_array_equal(many_kit.mask(before), many_kit.mask(after))


GROWING = [
    Grammar.from_regex("(?=.*[0-9]{3})([a-z]{1,40}|[0-9 ]{2,30}){3,50}"),
    Grammar.from_ebnf('root ::= root "+" root | "(" root ")" | [0-9]+ | "ab" root*'),
    Grammar.from_ebnf('root ::= "a" root "a" | "b" root "b" | [a-c]{1,30} | ""'),
    Grammar.json(),
    Grammar.from_json_schema(schema(1_234)),
]


@pytest.mark.parametrize("size", [1, 20_000, 60_000])
@pytest.mark.parametrize("grammar", GROWING, ids=lambda grammar: grammar.source)
def test_generations_change_under_a_live_matcher(kit: Kit, grammar: Grammar, size: int) -> None:
    compiled = Compiler(kit.vocabulary, limits=Limits(grammar_bytes=size)).compile(grammar)
    started = compiled.matcher()
    for seed in range(3):
        random = Random(seed)
        matcher, usual = compiled.matcher(), kit.matcher(grammar)
        masks = []
        for _ in range(40):
            masks.append(kit.mask(usual))
            np.testing.assert_array_equal(kit.mask(matcher), masks[-1])
            allowed = kit.allowed(usual)
            if not allowed:
                break
            token = random.choice(allowed)
            assert matcher.validate([token]) == 1
            assert matcher.accept(token)
            assert usual.accept(token)
        at = len(masks) - 1 if usual.has_stopped() else len(masks)
        while at > 0:
            back = random.randint(1, min(at, 7))
            at -= back
            matcher.rollback(back)
            usual.rollback(back)
            np.testing.assert_array_equal(kit.mask(matcher), masks[at])
            assert matcher.forced_text(50) == usual.forced_text(50)
    np.testing.assert_array_equal(kit.mask(started), kit.mask(kit.matcher(grammar)))
    if size < 50_000:
        assert compiled.generations > 1


def test_a_batch_over_changing_generations(many_kit: Kit) -> None:
    compiled = Compiler(many_kit.vocabulary, limits=Limits(grammar_bytes=20_000)).compile(
        Grammar.from_regex("([a-z]{1,30} [0-9]{1,30} )*")
    )
    random = Random(2)
    usual = [many_kit.matcher("([a-z]{1,30} [0-9]{1,30} )*") for _ in range(8)]
    matchers = [compiled.matcher() for _ in usual]
    mask = allocate_mask(8, many_kit.vocabulary.size)
    for _ in range(15):
        fill_masks(matchers, mask)
        for row, (matcher, other) in enumerate(zip(matchers, usual, strict=True)):
            np.testing.assert_array_equal(mask[row], many_kit.mask(other))
            allowed = [t for t in many_kit.allowed(other) if t != 256]
            token = random.choice(allowed)
            assert matcher.accept(token)
            assert other.accept(token)
    assert compiled.generations > 1


def test_a_key_stands_for_what_was_made(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary)
    made: list[str] = []

    def make(pattern: str) -> Grammar:
        made.append(pattern)
        return Grammar.from_regex(pattern)

    one = compiler.compile_once("key", lambda: make("a"))
    assert compiler.compile_once("key", lambda: make("b")) is one
    assert compiler.compile_once("other", lambda: make("c")) is not one
    assert made == ["a", "c"]
    assert compiler.cache_len == 2
    assert compiler.cache_use().bytes >= one.memory > 0

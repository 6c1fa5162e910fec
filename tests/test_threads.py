"""Many threads on one compiled grammar."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import Compiler, Grammar, Limits, Matcher, Vocabulary, allocate_mask, fill_masks

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit
    from numpy.typing import NDArray

GRAMMARS = [
    Grammar.from_regex("(?=.*[0-9])([a-z]{1,9} ?|[0-9]+){1,50}"),
    Grammar.from_ebnf('root ::= root "+" root | "(" root ")" | [0-9]+ | [a-z]+'),
    Grammar.json(),
]
THREADS = 8


def journey(kit: Kit, matcher: Matcher, seed: int) -> list[bytes]:
    """The masks of a random walk, with steps back and forks."""
    random = Random(seed)
    masks = []
    for _ in range(25):
        masks.append(kit.mask(matcher).tobytes())
        allowed = kit.allowed(matcher)
        if not allowed or random.random() < 0.2:
            matcher.rollback(random.randint(0, matcher.rollback_window))
            matcher = matcher.fork()
        else:
            matcher.accept(random.choice(allowed))
    return masks


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
@pytest.mark.parametrize("limits", [None, Limits(grammar_bytes=60_000)], ids=["usual", "tight"])
def test_results_are_those_of_one_thread(
    many_kit: Kit, grammar: Grammar, limits: Limits | None
) -> None:
    alone = [journey(many_kit, many_kit.matcher(grammar), seed) for seed in range(THREADS)]
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes(), store_bytes=200_000)
    compiled = Compiler(vocabulary, limits=limits).compile(grammar)
    barrier = threading.Barrier(THREADS)

    def work(seed: int) -> list[bytes]:
        matcher = compiled.matcher()
        barrier.wait()
        return journey(many_kit, matcher, seed)

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == alone


def test_one_compiler_serves_many_threads(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_entries=5)
    patterns = [f"[ab]{{{n}}}c" for n in range(1, 12)]

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(60):
            pattern = random.choice(patterns)
            matcher = compiler.compile(Grammar.from_regex(pattern)).matcher()
            assert matcher.validate([97] * 20) == patterns.index(pattern) + 1
            assert compiler.cache_len <= 5 + THREADS

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert compiler.cache_len == 5


def test_batches_of_many_threads(many_kit: Kit) -> None:
    compiled = Compiler(many_kit.vocabulary, cache_entries=0).compile(GRAMMARS[2])
    expected = many_kit.mask(many_kit.matcher(GRAMMARS[2]))

    def work(_: int) -> NDArray[np.int32]:
        mask = allocate_mask(6, many_kit.vocabulary.size)
        fill_masks([compiled.matcher() for _ in range(6)], mask)
        return mask

    with ThreadPoolExecutor(4) as pool:
        for mask in pool.map(work, range(8)):
            assert (mask == expected).all()


def test_a_matcher_in_use_by_another_thread_is_refused(many_kit: Kit) -> None:
    """Never a crash: either a result or `RuntimeError`, and the matcher works after that."""
    compiled = Compiler(many_kit.vocabulary, cache_entries=0).compile(GRAMMARS[0])
    matcher = compiled.matcher()
    refusals = []

    def work(_: int) -> None:
        mask = allocate_mask(1, many_kit.vocabulary.size)
        for token in (97, 98, 48):
            try:
                matcher.fill_mask(mask)
                matcher.accept(token)
            except RuntimeError as error:
                refusals.append(str(error))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    assert all("orrowed" in refusal for refusal in refusals)
    matcher.reset()
    np.testing.assert_array_equal(
        many_kit.mask(matcher), many_kit.mask(many_kit.matcher(GRAMMARS[0]))
    )


# The GIL.


def released(
    kit: Kit, progress: Callable[[], int], call: Callable[[Matcher], object], source: str
) -> bool:
    """Whether another thread ran during some call that computes a mask."""
    vocabulary = Vocabulary.restore(kit.vocabulary.to_bytes())
    for number in range(60):
        vocabulary.renew_store()
        compiler = Compiler(vocabulary, cache_entries=0)
        matcher = compiler.compile(Grammar.from_regex(source % (number + 20))).matcher()
        before = progress()
        call(matcher)
        if progress() > before:
            return True
    return False


HEAVY = ".*a.{%d}b"


def test_the_gil_is_released_while_a_mask_is_computed(
    many_kit: Kit, progress: Callable[[], int]
) -> None:
    mask = allocate_mask(1, many_kit.vocabulary.size)
    assert released(many_kit, progress, lambda matcher: matcher.fill_mask(mask), HEAVY)


def test_the_gil_is_released_while_many_masks_are_computed(
    many_kit: Kit, progress: Callable[[], int]
) -> None:
    mask = allocate_mask(2, many_kit.vocabulary.size)
    assert released(
        many_kit, progress, lambda matcher: fill_masks([matcher, matcher.fork()], mask), HEAVY
    )


def test_the_gil_is_released_while_a_token_is_looked_up(
    many_kit: Kit, progress: Callable[[], int]
) -> None:
    assert released(many_kit, progress, lambda matcher: matcher.is_allowed(97), HEAVY)


def test_the_gil_is_kept_while_a_mask_is_known(many_kit: Kit, progress: Callable[[], int]) -> None:
    """A known mask is a copy: handing the GIL over would cost more than it."""
    mask = allocate_mask(1, many_kit.vocabulary.size)
    matcher = many_kit.matcher("[a-z]*")
    matcher.fill_mask(mask)
    before = progress()
    for _ in range(200):
        matcher.fill_mask(mask)
    assert progress() == before

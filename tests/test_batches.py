"""Many matchers in one call: the same as one after the other."""

from __future__ import annotations

import multiprocessing
import os
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import (
    Compiler,
    Grammar,
    LimitError,
    Limits,
    Matcher,
    Vocabulary,
    VocabularyError,
    accept_tokens,
    allocate_mask,
    fill_masks,
)

if TYPE_CHECKING:
    from conftest import Kit

PATTERNS = ["[a-z]+ [0-9]{1,9}", "(?=.*[0-9])[a-z0-9 ]{1,40}", '[^"]*"', "yes|no|never", ".*a.{5}b"]


@pytest.mark.parametrize("count", [1, 3, 4, 40, 600])
def test_a_batch_is_one_after_the_other(many_kit: Kit, count: int) -> None:
    """600 rows are more than a MiB: those are written by several threads."""
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes())
    compiler = Compiler(vocabulary)
    grammars = [Grammar.from_regex(pattern) for pattern in PATTERNS]
    batch = [compiler.compile(grammars[at % 5]).matcher() for at in range(count)]
    single = [many_kit.matcher(grammars[at % 5]) for at in range(count)]
    mask, row = allocate_mask(count, vocabulary.size), allocate_mask(1, vocabulary.size)
    random = Random(count)
    for _ in range(6):
        fill_masks(batch, mask)
        tokens = []
        for at, matcher in enumerate(single):
            matcher.fill_mask(row)
            np.testing.assert_array_equal(mask[at], row[0])
            allowed = many_kit.allowed(matcher)
            tokens.append(random.choice(allowed) if allowed and random.random() < 0.8 else 33)
        expected = [matcher.accept(token) for matcher, token in zip(single, tokens, strict=True)]
        assert accept_tokens(batch, tokens) == expected
        windows = [matcher.rollback_window for matcher in batch]
        assert windows == [matcher.rollback_window for matcher in single]


def test_none_refuses_nothing(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab")
    assert accept_tokens([None, matcher, None], [7, 98, -1]) == [True, False, True]
    assert accept_tokens([None, matcher], np.array([7, 97])) == [True, True]
    assert accept_tokens([], []) == []


def test_mistakes_change_nothing(byte_kit: Kit) -> None:
    first, second = byte_kit.matcher("ab"), byte_kit.matcher("ab")
    with pytest.raises(VocabularyError, match="token 999 is not in the vocabulary"):
        accept_tokens([first, second], [97, 999])
    with pytest.raises(ValueError, match="2 matchers, but 1 tokens"):
        accept_tokens([first, second], [97])
    with pytest.raises(ValueError, match="twice"):
        accept_tokens([first, first], [97, 98])
    with pytest.raises(TypeError):
        accept_tokens([first, "a"], [97, 97])  # type: ignore[list-item]
    assert first.rollback_window == second.rollback_window == 0


def test_a_limit_of_one_leaves_the_others_alone(byte_kit: Kit) -> None:
    small = Compiler(byte_kit.vocabulary, limits=Limits(expressions=30))
    hard = "(a|b)*a(a|b){9}(c|d)*c(c|d){9}"
    failing: Matcher | None = None
    for _ in range(1):
        failing = small.compile(Grammar.from_regex("a{2}b{3}[c-e]{4}x")).matcher()
    assert failing is not None
    others = [byte_kit.matcher(hard) for _ in range(5)]
    try:
        accept_tokens([failing, *others], [97] * 6)
    except LimitError:
        assert failing.rollback_window == 0
    assert all(matcher.rollback_window == 1 for matcher in others)


def test_a_row_for_each(byte_kit: Kit) -> None:
    first, second = byte_kit.matcher("a"), byte_kit.matcher("b")
    mask = allocate_mask(2, byte_kit.vocabulary.size)
    with pytest.raises(ValueError, match="row 1 is given twice"):
        fill_masks([first, second], mask, rows=[1, 1])
    assert not mask.any()
    upon = np.lib.stride_tricks.as_strided(mask, mask.shape, (4, 4), writeable=True)
    with pytest.raises(ValueError, match="lie upon each other"):
        fill_masks([first, second], upon)
    backwards = mask[::-1]
    fill_masks([first, second], backwards)
    assert mask[1, 3] == 1 << (97 - 96)
    assert mask[0, 3] == 1 << (98 - 96)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own(many_kit: Kit) -> None:
    """Threads do not survive a fork: work given to the parent's would wait for ever."""
    compiled = Compiler(many_kit.vocabulary, cache_entries=0).compile(Grammar.json())
    mask = allocate_mask(600, many_kit.vocabulary.size)
    matchers = [compiled.matcher() for _ in range(600)]
    fill_masks(matchers, mask)

    def work(queue: multiprocessing.SimpleQueue[bytes]) -> None:
        again = allocate_mask(600, many_kit.vocabulary.size)
        fill_masks([compiled.matcher() for _ in range(600)], again)
        queue.put(again[599].tobytes())

    context = multiprocessing.get_context("fork")
    queue: multiprocessing.SimpleQueue[bytes] = context.SimpleQueue()
    child = context.Process(target=work, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == mask[599].tobytes()

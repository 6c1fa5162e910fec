"""What a grammar costs and saves, with a clock that only a model moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from stencilm import Compiler, Grammar, Matcher, StencilmError, Vocabulary
from stencilm.sampling import Comparison, compare

STOP = 256
VOCABULARY = Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], stop=[STOP])
TOKEN, PASS = 1.0, 3.0


class Timed:
    """Likes the stop token most, then high bytes; its passes take time, and so does each token."""

    vocab_size = 257

    def __init__(self) -> None:
        self.now = 0.0

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def reset(self) -> None:
        pass

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        self.now += PASS + TOKEN * len(ids)
        return np.arange(257, dtype=np.float32)


def compared(grammar: str, **options: int) -> Comparison:
    model = Timed()
    compiled = Compiler(VOCABULARY).compile(Grammar.from_regex(grammar))

    def new_matcher() -> Matcher:
        return compiled.matcher()

    return compare(
        model, VOCABULARY, new_matcher, [1, 2, 3], clock=lambda: model.now, rounds=3, **options
    )


def test_free_and_held_write_the_same_tokens() -> None:
    found = compared("[a-z]{20}")
    assert found.tokens == 20
    assert found.free_seconds == found.held_seconds == PASS + TOKEN
    assert (found.overhead, found.noise, found.matcher_seconds) == (0, 0, 0)
    assert (found.skipping_forced, found.skipping_tokens) == (0, 20)
    assert found.speed == 1


def test_forced_tokens_save_their_passes() -> None:
    found = compared("[a-z]bcdefghi[a-z]jklmnop[a-z]")
    assert (found.tokens, found.skipping_tokens, found.skipping_forced) == (18, 18, 15)
    # Two passes after the first read the 17 tokens before them.
    assert found.skipping_seconds == pytest.approx((2 * PASS + 17 * TOKEN) / 17)
    assert found.speed == pytest.approx((PASS + TOKEN) / found.skipping_seconds)


def test_forced_tokens_before_the_first_are_read_with_the_prompt() -> None:
    found = compared("abcdefgh[a-z]x[a-z]")
    assert (found.tokens, found.skipping_forced) == (11, 9)
    assert found.skipping_seconds == pytest.approx((8 * TOKEN + PASS + 2 * TOKEN) / 10)


def test_a_text_may_be_cut() -> None:
    assert compared("[a-z]{20}", max_tokens=7).tokens == 7


def test_what_cannot_be_timed_is_refused() -> None:
    with pytest.raises(StencilmError, match="too few"):
        compared("ab")
    model = Timed()
    matcher = Compiler(VOCABULARY).compile(Grammar.from_regex("a*")).matcher
    with pytest.raises(ValueError, match="two rounds"):
        compare(model, VOCABULARY, matcher, [1], rounds=1)

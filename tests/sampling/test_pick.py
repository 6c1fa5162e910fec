"""Choosing one token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm.sampling import pick

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOGITS = np.log(np.array([0.5, 0.05, 0.3, 0.15], dtype=np.float32))


def counts(
    logits: NDArray[np.float32], *, temperature: float = 1.0, top_p: float = 1.0
) -> list[float]:
    rng = np.random.default_rng(7)
    drawn = [pick(logits, temperature=temperature, top_p=top_p, rng=rng) for _ in range(4000)]
    return [drawn.count(token_id) / 4000 for token_id in range(len(logits))]


def test_temperature_0_takes_the_first_of_the_likeliest() -> None:
    rng = np.random.default_rng(0)
    assert pick(np.array([1, 3, 3], dtype=np.float32), temperature=0, top_p=1, rng=rng) == 1


def test_tokens_come_as_often_as_their_probability_says() -> None:
    assert counts(LOGITS) == pytest.approx([0.5, 0.05, 0.3, 0.15], abs=0.03)


def test_temperature_sharpens() -> None:
    squares = np.array([0.5, 0.05, 0.3, 0.15]) ** 2
    assert counts(LOGITS, temperature=0.5) == pytest.approx(squares / squares.sum(), abs=0.03)


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.4, {0}), (0.51, {0, 2}), (0.79, {0, 2}), (0.81, {0, 2, 3})]
)
def test_top_p_keeps_the_fewest_that_reach_it(top_p: float, kept: set[int]) -> None:
    drawn = counts(LOGITS, top_p=top_p)
    assert {token_id for token_id, share in enumerate(drawn) if share} == kept
    whole = sum(float(np.exp(LOGITS[token_id])) for token_id in kept)
    for token_id in kept:
        assert drawn[token_id] == pytest.approx(np.exp(LOGITS[token_id]) / whole, abs=0.03)


def test_a_masked_token_is_never_chosen() -> None:
    logits = LOGITS.copy()
    logits[[0, 3]] = -np.inf
    drawn = counts(logits, temperature=50.0)
    assert drawn[0] == drawn[3] == 0
    assert drawn[1] > 0
    assert drawn[2] > 0


def test_very_unequal_logits_do_not_overflow() -> None:
    logits = np.array([1e4, -1e4, -np.inf], dtype=np.float32)
    assert counts(logits, temperature=0.01, top_p=0.999) == [1, 0, 0]

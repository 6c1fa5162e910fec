"""Choose one token from its logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pick"]


def pick(
    logits: NDArray[np.float32], *, temperature: float, top_p: float, rng: np.random.Generator
) -> int:
    """The chosen id; one whose logit is -inf is never chosen.

    Args:
        logits: At least one of them finite.
        temperature: 0 takes the likeliest, and of equals the first.
        top_p: Draw among the fewest likeliest tokens whose probabilities reach this sum.
        rng: Where the randomness comes from; untouched at temperature 0.

    >>> logits, rng = np.array([0, 2, 1], np.float32), np.random.default_rng(0)
    >>> pick(logits, temperature=0, top_p=1, rng=rng)
    1
    >>> pick(logits, temperature=1, top_p=0.5, rng=rng)
    1
    """
    if temperature == 0:
        return int(logits.argmax())
    ids = np.flatnonzero(logits > -np.inf)
    scaled = logits[ids].astype(np.float64) / temperature
    weights = np.exp(scaled - scaled.max())
    if top_p < 1:
        order = np.argsort(-weights, kind="stable")
        reached = np.cumsum(weights[order])
        count = int(np.searchsorted(reached, top_p * reached[-1])) + 1
        ids, weights = ids[order[:count]], weights[order[:count]]
    reached = np.cumsum(weights)
    return int(ids[np.searchsorted(reached, rng.random() * reached[-1], side="right")])

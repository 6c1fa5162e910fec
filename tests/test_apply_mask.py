"""Masks applied to arrays of every kind, against a loop over their tokens."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stencilm import _core, allocate_mask, allowed_ids, apply_mask


def random_mask(rows: int, tokens: int, random: Random) -> NDArray[np.int32]:
    mask = allocate_mask(rows, tokens)
    for row in mask.view(np.uint32):
        density = random.choice([0.02, 0.5, 0.98])
        for word in range(len(row)):
            bits = [random.random() < density for _ in range(32)]
            kind = random.random()
            row[word] = sum(bit << i for i, bit in enumerate(bits))
            if kind < 0.4:
                row[word] = 0 if kind < 0.2 else 0xFFFF_FFFF
    return mask


def naive(
    logits: NDArray[Any], mask: NDArray[np.int32], rows: list[int] | None
) -> NDArray[np.float64]:
    """What the logits become, token by token."""
    out = logits.astype(np.float64)
    for row in range(len(logits)) if rows is None else rows:
        for token in range(logits.shape[1]):
            word = int(mask[row, token // 32]) if token // 32 < mask.shape[1] else 0
            if not word >> (token % 32) & 1:
                out[row, token] = -math.inf
    return out


def kinds() -> list[Any]:
    found: list[Any] = [np.float16, np.float32, np.float64]
    try:
        from ml_dtypes import bfloat16
    except ModuleNotFoundError:
        return found
    return [*found, bfloat16]


@pytest.mark.parametrize("dtype", kinds())
@pytest.mark.parametrize("layout", ["dense", "wide", "strided", "transposed", "backwards"])
@pytest.mark.parametrize("seed", range(6))
def test_refused_tokens_become_minus_infinity(dtype: Any, layout: str, seed: int) -> None:
    random = Random(f"{layout}{seed}")
    rows, width = random.randint(1, 4), random.choice([1, 31, 32, 33, 64, 200, 321])
    # The mask may be narrower than the logits, or wider.
    mask = random_mask(rows, max(1, width + random.choice([-70, -32, 0, 5, 90])), random)
    whole = np.random.default_rng(seed).standard_normal((rows, 2 * width + 3)).astype(dtype)
    logits = whole[:, :width]
    if layout == "dense":
        logits = np.ascontiguousarray(logits)
    elif layout == "strided":
        logits = whole[:, : 2 * width : 2]
    elif layout == "transposed":
        logits = np.asfortranarray(logits)
    elif layout == "backwards":
        logits = whole[:, width:0:-1]
    logits.flat[0] = math.nan
    chosen = None if seed % 2 else random.sample(range(rows), random.randint(0, rows))
    expected = naive(logits, mask, chosen)
    outside = whole.copy()
    apply_mask(logits, mask, chosen)
    assert np.array_equal(logits.astype(np.float64), expected, equal_nan=True)
    if layout == "wide":
        assert np.array_equal(whole[:, width:], outside[:, width:])


@pytest.mark.parametrize("seed", range(20))
def test_the_first_tokens_of_a_row(seed: int) -> None:
    random = Random(seed)
    row = random_mask(1, 300, random)[0]
    row[: random.randint(0, 10)] = 0
    ids = allowed_ids(row).tolist()
    for most in (0, 1, 2, 7, 400):
        assert _core.first_allowed(row, most) == ids[:most]


def test_one_row_needs_one_axis() -> None:
    logits, mask = np.zeros(40, np.float32), np.array([5, 0], np.int32)
    apply_mask(logits, mask)
    assert np.flatnonzero(logits == 0).tolist() == [0, 2]


def test_masks_may_be_strided() -> None:
    logits, masks = np.zeros((2, 64), np.float32), np.zeros((2, 4), np.int32)
    masks[:, 2] = 3
    apply_mask(logits, masks[:, ::2])
    assert np.argwhere(logits == 0).tolist() == [[0, 32], [0, 33], [1, 32], [1, 33]]


@pytest.mark.parametrize(
    ("logits", "mask", "rows", "error"),
    [
        (np.zeros((2, 32), np.float32), np.zeros((3, 1), np.int32), None, ValueError),
        (np.zeros((2, 32), np.float32), np.zeros(1, np.int32), None, ValueError),
        (np.zeros((1, 1, 32), np.float32), np.zeros((1, 1, 1), np.int32), None, ValueError),
        (np.zeros((2, 32), np.float32), np.zeros((2, 1), np.int32), [2], IndexError),
        (np.zeros((2, 32), np.float32), np.zeros((2, 1), np.int64), None, TypeError),
        (np.zeros(32, np.int64), np.zeros(1, np.int32), None, TypeError),
        (np.zeros(32, np.complex64), np.zeros(1, np.int32), None, TypeError),
        (np.zeros(32, ">f4"), np.zeros(1, np.int32), None, TypeError),
        (np.broadcast_to(np.float32(0), 32), np.zeros(1, np.int32), None, ValueError),
    ],
)
def test_what_does_not_fit_is_refused(
    logits: Any, mask: Any, rows: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        apply_mask(logits, mask, rows)

"""Masks as arrays: one bit a token, in the layout that inference engines exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["allocate_mask", "allowed_ids", "apply_mask"]


def allocate_mask(rows: int, vocabulary_size: int) -> NDArray[np.int32]:
    """A mask with nothing allowed: `int32[rows, ceil(vocabulary_size / 32)]`.

    Token *i* is bit *i % 32* of word *i // 32*.

    >>> allocate_mask(2, 100).shape
    (2, 4)
    """
    return np.zeros((rows, -(-vocabulary_size // 32)), dtype=np.int32)


def allowed_ids(mask_row: NDArray[np.int32]) -> NDArray[np.int64]:
    """The ids whose bit is set in one row, in rising order.

    >>> allowed_ids(np.array([0b101, 1], dtype=np.int32)).tolist()
    [0, 2, 32]
    """
    bits = np.unpackbits(np.ascontiguousarray(mask_row).view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)


def apply_mask(logits: NDArray[Any], mask_row: NDArray[np.int32]) -> None:
    """Sets the logits of tokens that may not come next to minus infinity, in place.

    Args:
        logits: Floats, `[vocabulary]`; may be wider than the mask, whose missing tokens are
            refused.
        mask_row: One row of a mask.

    >>> logits = np.ones(3, dtype=np.float32)
    >>> apply_mask(logits, np.array([0b101], dtype=np.int32))
    >>> logits.tolist()
    [1.0, -inf, 1.0]
    """
    bits = np.unpackbits(
        np.ascontiguousarray(mask_row).view(np.uint8), bitorder="little", count=len(logits)
    )
    logits[bits == 0] = -np.inf

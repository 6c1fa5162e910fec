"""Masks as arrays: one bit a token, in the layout that inference engines exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stencilm import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["MINUS_INFINITY", "allocate_mask", "allowed_ids", "apply_mask", "write_refused"]

MINUS_INFINITY = {
    "float16": 0xFC00,
    "bfloat16": 0xFF80,
    "float32": 0xFF80_0000,
    "float64": 0xFFF0_0000_0000_0000,
}
"""Its bits, for each kind of float."""

_UNSIGNED: dict[int, np.dtype[Any]] = {
    2: np.dtype(np.uint16),
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
}

# Asking a dtype for its name takes longer than all else here but the kernel.
_KINDS: dict[np.dtype[Any], tuple[np.dtype[Any], int]] = {
    np.dtype(name): (_UNSIGNED[np.dtype(name).itemsize], bits)
    for name, bits in MINUS_INFINITY.items()
    if name != "bfloat16"
}


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


def apply_mask(
    logits: NDArray[Any], mask: NDArray[np.int32], rows: Sequence[int] | None = None
) -> None:
    """Sets the logits of tokens that may not come next to minus infinity, in place.

    Args:
        logits: float16, bfloat16 (of the package `ml_dtypes`), float32 or float64, strided or not:
            `[vocabulary]`, or `[rows, vocabulary]`. May be wider than the mask, whose missing
            tokens are refused.
        mask: One row of a mask, or as many rows as the logits have.
        rows: The rows of both that are masked; the others are left alone. All if not given.

    Raises:
        ValueError: The shapes do not fit.
        TypeError: The logits, or the mask, are of another kind.

    >>> logits = np.ones(3, dtype=np.float32)
    >>> apply_mask(logits, np.array([0b101], dtype=np.int32))
    >>> logits.tolist()
    [1.0, -inf, 1.0]
    >>> logits = np.ones((2, 2), dtype=np.float16)
    >>> apply_mask(logits, np.array([[0b01], [0b10]], dtype=np.int32), rows=[1])
    >>> logits.tolist()
    [[1.0, 1.0], [-inf, 1.0]]
    """
    unsigned, refused = _KINDS.get(logits.dtype) or _kind(logits.dtype)
    write_refused(logits.view(unsigned), mask, refused, rows)


def _kind(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    """One that NumPy does not have itself: as which integers it is viewed, and minus infinity."""
    refused = MINUS_INFINITY.get(dtype.name)
    if refused is None or not dtype.isnative:
        raise TypeError(f"logits of {dtype}: they must be {', '.join(MINUS_INFINITY)}")
    return _UNSIGNED[dtype.itemsize], refused


def write_refused(
    logits: NDArray[Any],
    mask: NDArray[np.int32],
    refused: int,
    rows: Sequence[int] | None = None,
) -> None:
    """What `apply_mask` does, for logits viewed as unsigned integers.

    Args:
        logits: uint16, uint32 or uint64, with one or two axes.
        mask: As many axes.
        refused: The bits of minus infinity.
        rows: See `apply_mask`.

    >>> logits = np.ones(2, dtype=np.float32)
    >>> bits = np.array([0b10], dtype=np.int32)
    >>> write_refused(logits.view(np.uint32), bits, MINUS_INFINITY["float32"])
    >>> logits.tolist()
    [-inf, 1.0]
    """
    if logits.ndim != mask.ndim or logits.ndim not in (1, 2):
        raise ValueError(f"logits {logits.shape} and mask {mask.shape} need one axis each, or two")
    if logits.ndim == 1:
        logits, mask = logits[None], mask[None]
    if len(logits) != len(mask) and rows is None:
        raise ValueError(f"{len(logits)} rows of logits, but {len(mask)} of the mask")
    if mask.dtype != np.int32:
        raise TypeError(f"a mask of {mask.dtype}: it must be int32")
    if not logits.flags.writeable:
        raise ValueError("the logits are read-only")
    for row in range(len(logits)) if rows is None else rows:
        words = np.ascontiguousarray(mask[row])
        if logits[row].flags.c_contiguous:
            _core.write_refused(logits[row], words, refused)
        else:
            bits = np.unpackbits(words.view(np.uint8), bitorder="little", count=logits.shape[1])
            logits[row, bits == 0] = refused

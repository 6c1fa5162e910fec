"""Masks for logits that are tensors of torch, on any device.

A mask that `fill_mask` writes may be a CPU tensor itself: `allocate_mask` makes one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch

from stencilm._masks import MINUS_INFINITY, write_refused

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["allocate_mask", "allowed", "apply_mask"]

_REFUSED = {
    torch.float16: (torch.int16, np.uint16, MINUS_INFINITY["float16"]),
    torch.bfloat16: (torch.int16, np.uint16, MINUS_INFINITY["bfloat16"]),
    torch.float32: (torch.int32, np.uint32, MINUS_INFINITY["float32"]),
    torch.float64: (torch.int64, np.uint64, MINUS_INFINITY["float64"]),
}
"""For each kind of logits: integers of its width, and the bits of minus infinity."""


def allocate_mask(rows: int, vocabulary_size: int, *, pinned: bool = False) -> torch.Tensor:
    """A mask with nothing allowed: a CPU tensor `int32[rows, ceil(vocabulary_size / 32)]`.

    Args:
        rows: One for each sequence.
        vocabulary_size: Tokens.
        pinned: In page-locked memory, so that it copies to a GPU without waiting.

    >>> allocate_mask(2, 100).shape
    torch.Size([2, 4])
    """
    words = -(-vocabulary_size // 32)
    return torch.zeros((rows, words), dtype=torch.int32, pin_memory=pinned)


def allowed(mask: torch.Tensor, width: int) -> torch.Tensor:
    """The mask as `bool[rows, width]`, on its device; tokens beyond the mask are refused.

    >>> allowed(torch.tensor([[0b101]], dtype=torch.int32), 4).tolist()
    [[True, False, True, False]]
    """
    # The last bit is the sign: arithmetic shifts keep it, and the mask takes it out.
    places = torch.arange(32, dtype=torch.int32, device=mask.device)
    bits = ((mask.unsqueeze(-1) >> places) & 1).bool().flatten(1)
    if bits.shape[1] < width:
        bits = torch.nn.functional.pad(bits, (0, width - bits.shape[1]))
    return bits[:, :width]


def apply_mask(logits: torch.Tensor, mask: torch.Tensor, rows: Sequence[int] | None = None) -> None:
    """Sets the logits of tokens that may not come next to minus infinity, in place.

    Args:
        logits: float16, bfloat16, float32 or float64, `[rows, vocabulary]`, strided or not; may be
            wider than the mask, whose missing tokens are refused.
        mask: `int32[rows, words]`, moved to the device of the logits if it is on another.
        rows: The rows of both that are masked; the others are left alone. All if not given.

    Raises:
        ValueError: The shapes do not fit.
        TypeError: The logits are of another kind.

    >>> logits = torch.ones(2, 3)
    >>> apply_mask(logits, torch.tensor([[0b101], [0]], dtype=torch.int32), rows=[0])
    >>> logits.tolist()
    [[1.0, -inf, 1.0], [1.0, 1.0, 1.0]]
    """
    if logits.dim() != 2 or mask.dim() != 2:
        raise ValueError(f"logits {tuple(logits.shape)} and mask {tuple(mask.shape)} need two axes")
    if rows is None and len(logits) != len(mask):
        raise ValueError(f"{len(logits)} rows of logits, but {len(mask)} of the mask")
    if logits.dtype not in _REFUSED:
        raise TypeError(f"logits of {logits.dtype}: they must be {', '.join(map(str, _REFUSED))}")
    if logits.device.type == "cpu":
        # NumPy knows no bfloat16, and tensors have few operations on unsigned integers.
        signed, unsigned, refused = _REFUSED[logits.dtype]
        words = logits.detach().view(signed).numpy().view(unsigned)
        write_refused(words, mask.cpu().numpy(), refused, rows)
    else:
        _apply_elsewhere(logits, mask, rows)


def _apply_elsewhere(
    logits: torch.Tensor, mask: torch.Tensor, rows: Sequence[int] | None = None
) -> None:
    """The same in operations that every device has."""
    if rows is None:
        refused = ~allowed(mask.to(logits.device, non_blocking=True), logits.shape[1])
        logits.masked_fill_(refused, -math.inf)
        return
    places = torch.tensor(list(rows), dtype=torch.long)
    chosen = mask[places.to(mask.device)].to(logits.device, non_blocking=True)
    places = places.to(logits.device)
    masked = logits[places].masked_fill_(~allowed(chosen, logits.shape[1]), -math.inf)
    logits[places] = masked

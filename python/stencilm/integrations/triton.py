"""Masks for logits on a GPU, in one kernel of Triton.

`stencilm.integrations.torch.apply_mask` does the same with operations that every device has, and is
what this one is tested against. The only file that imports `triton`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["apply_mask"]

_BLOCK = 4096
_KINDS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def apply_mask(logits: torch.Tensor, mask: torch.Tensor, rows: Sequence[int] | None = None) -> None:
    """Sets the logits of tokens that may not come next to minus infinity, in place.

    Args:
        logits: float16, bfloat16, float32 or float64, `[rows, vocabulary]`, strided or not; may be
            wider than the mask, whose missing tokens are refused.
        mask: `int32[rows, words]`, moved to the device of the logits if it is on another.
        rows: The rows of both that are masked; the others are left alone. All if not given.

    Raises:
        ValueError: The shapes do not fit.
        IndexError: There is no such row.
        TypeError: The logits are of another kind.
    """
    if logits.dim() != 2 or mask.dim() != 2:
        raise ValueError(f"logits {tuple(logits.shape)} and mask {tuple(mask.shape)} need two axes")
    if rows is None and len(logits) != len(mask):
        raise ValueError(f"{len(logits)} rows of logits, but {len(mask)} of the mask")
    if logits.dtype not in _KINDS:
        raise TypeError(f"logits of {logits.dtype}: they must be {', '.join(map(str, _KINDS))}")
    chosen = range(len(logits)) if rows is None else list(rows)
    # A kernel checks no bounds.
    if any(not 0 <= row < min(len(logits), len(mask)) for row in chosen):
        raise IndexError(f"rows {list(chosen)} of {len(logits)} of logits and {len(mask)} of masks")
    if not chosen or logits.shape[1] == 0:
        return
    words = mask.to(logits.device, non_blocking=True)
    places = torch.tensor(list(chosen), dtype=torch.int32, device=logits.device)
    width = logits.shape[1]
    _write_refused[(len(chosen), triton.cdiv(width, _BLOCK))](
        *(logits, words, places, width, 32 * words.shape[1]),
        *(logits.stride(0), logits.stride(1), words.stride(0), words.stride(1)),
        BLOCK=_BLOCK,
    )


@triton.jit  # type: ignore[untyped-decorator, unused-ignore]
def _write_refused(
    logits: Any,
    mask: Any,
    rows: Any,
    width: Any,
    known: Any,
    logits_row: Any,
    logits_token: Any,
    mask_row: Any,
    mask_word: Any,
    BLOCK: tl.constexpr,
) -> None:
    # Offsets beyond 2**31 are those of large batches with large vocabularies.
    row = tl.load(rows + tl.program_id(0)).to(tl.int64)
    token = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)
    word = tl.load(mask + row * mask_row + token // 32 * mask_word, mask=token < known, other=0)
    is_refused = ((word >> (token % 32).to(tl.int32)) & 1) == 0
    where = logits + row * logits_row + token * logits_token
    tl.store(where, -float("inf"), mask=is_refused & (token < width))

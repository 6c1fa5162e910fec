"""Bit masks of tokens: tensors of torch, and what is done with them.

torch is imported when a tensor is made. Where it is not installed, masks are arrays of NumPy.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",  # noqa: F822
    "get_bitmask_shape",
    "reset_token_bitmask",
]

_BACKENDS = ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")


def __getattr__(name: str) -> Any:
    if name == "bitmask_dtype":
        return _dtype()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _torch() -> Any:
    """The library, or None."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    return torch


def _dtype() -> Any:
    torch = _torch()
    return np.dtype(np.int32) if torch is None else torch.int32


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """The shape of a mask for so many sequences.

    >>> get_bitmask_shape(2, 33)
    (2, 2)
    """
    return (batch_size, -(-vocab_size // 32))


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """A mask on the CPU in which every token is allowed.

    >>> allocate_token_bitmask(1, 33)[0].tolist()
    [-1, -1]
    """
    shape = get_bitmask_shape(batch_size, vocab_size)
    torch = _torch()
    made: Any = (
        np.full(shape, -1, dtype=np.int32)
        if torch is None
        else torch.full(shape, -1, dtype=torch.int32)
    )
    return made


def reset_token_bitmask(bitmask: torch.Tensor) -> None:
    """Allows every token again.

    >>> mask = allocate_token_bitmask(1, 3)
    >>> mask[0, 0] = 5
    >>> reset_token_bitmask(mask)
    >>> mask.tolist()
    [[-1]]
    """
    bitmask[...] = -1


def apply_token_bitmask_inplace(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: Literal["auto", "cpu", "cuda", "triton", "torch_compile", "torch_native"] = "auto",
) -> None:
    """Sets the logits of tokens that may not come next to minus infinity, in place.

    Args:
        logits: Floats, `[rows, vocabulary]` or `[vocabulary]`.
        bitmask: `int32[rows, words]` or `[words]`, on the device of the logits.
        vocab_size: So many tokens at the front are masked, the others are left alone.
        indices: The rows that are masked, in both; all if not given.
        backend: As XGrammar names its kernels; which one runs is chosen by the device.

    Raises:
        ValueError: The devices differ, or there is no such backend.
    """
    from stencilm.integrations.torch import apply_mask

    if backend not in _BACKENDS:
        raise ValueError(f"there is no backend {backend!r}; there are {', '.join(_BACKENDS)}")
    if logits.device != bitmask.device:
        raise ValueError(f"logits on {logits.device}, but the bitmask on {bitmask.device}")
    if backend == "cpu" and logits.device.type != "cpu":
        raise ValueError(f"the backend 'cpu' cannot mask logits on {logits.device}")
    rows = logits if logits.dim() == 2 else logits.unsqueeze(0)
    masks = bitmask if bitmask.dim() == 2 else bitmask.unsqueeze(0)
    # Tokens beyond the mask are left alone, as they are there.
    width = min(rows.shape[-1], 32 * masks.shape[-1])
    if vocab_size is not None:
        width = min(width, vocab_size)
    elif width < rows.shape[-1]:
        message = f"the bitmask says nothing of the last {rows.shape[-1] - width} logits"
        warnings.warn(message, stacklevel=2)
    apply_mask(rows[:, :width], masks, indices)

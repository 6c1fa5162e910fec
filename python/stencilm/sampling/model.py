"""What the loop asks of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stencilm import StencilmError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Model", "ModelError"]


class ModelError(StencilmError):
    """A model, or the library that runs it, is missing or cannot be used."""


class Model(Protocol):
    """One sequence of one language model.

    `integrations.openvino.OpenVINOModel` and `integrations.transformers.TransformersModel`
    are two; anything with these members is another.
    """

    @property
    def vocab_size(self) -> int:
        """How many logits `step` returns."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without any that a tokenizer would add around it."""

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids` to the sequence; the logits of what follows, for the caller to change."""

    def reset(self) -> None:
        """Start an empty sequence."""

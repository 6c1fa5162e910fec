"""Hold the generations of MLX LM to grammars.

The only file that imports `mlx`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import mlx.core as mx
import numpy as np

from ._sequences import Sequences

if TYPE_CHECKING:
    from stencilm import Matcher, Vocabulary

__all__ = ["GrammarLogitsProcessor"]


class GrammarLogitsProcessor:
    """Masks the logits of one generation: make a new one for the next.

    It goes into the `logits_processors` list of `mlx_lm.generate`, `stream_generate` or
    `generate_step`. Speculative decoding is refused by `mlx_lm` or by the first step that does not
    go on from its prompt.

    Args:
        matcher: Where the text begins; it is not changed.
        vocabulary: The one that the matcher's grammar was compiled for.
    """

    def __init__(self, matcher: Matcher, vocabulary: Vocabulary) -> None:
        self._sequences = Sequences([matcher], vocabulary)

    def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
        """Go to where the text is, and mask what may not follow.

        Args:
            tokens: What was read and written so far, or from the end of the prompt on.
            logits: `[1, vocabulary]`.
        """
        self._sequences.follow(np.array(tokens).reshape(1, -1))
        width = logits.shape[-1]
        mask = self._sequences.masks(width)
        bits = np.unpackbits(mask.view(np.uint8), axis=1, bitorder="little", count=width)
        return mx.where(mx.array(bits.astype(bool)), logits, mx.array(-np.inf, logits.dtype))

    def is_whole(self, tokens: mx.array) -> bool:
        """Whether these tokens, from where the first step's began, are a whole text."""
        return self._sequences.are_whole(np.array(tokens).reshape(1, -1))[0]

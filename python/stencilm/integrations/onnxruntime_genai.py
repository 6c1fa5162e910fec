"""Hold the generators of ONNX Runtime GenAI to grammars, and run its models in our own loop.

The only file that imports `onnxruntime_genai`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime_genai

from stencilm import apply_mask
from stencilm.sampling import ModelError

from ._sequences import Sequences
from .chat import ChatModel, ChatTokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

__all__ = ["GrammarGuide", "OnnxRuntimeModel"]

_CONFIG = "genai_config.json"


class GrammarGuide:
    """Masks the logits of one generator: call `mask` before each `generate_next_token`.

    Greedy search and sampling, for one or several prompts. Beam search is refused: while it runs,
    its generator gives the prompts and not what follows them.

    Args:
        matchers: One for each prompt of the batch; they are not changed. None leaves it free.
        vocabulary: The one that the matchers' grammars were compiled for.
        pad_id: What the generator writes after a finished text; None for a stop token.
    """

    def __init__(
        self,
        matchers: Sequence[Matcher | None],
        vocabulary: Vocabulary,
        *,
        pad_id: int | None = None,
    ) -> None:
        self._rows = len(matchers)
        self._sequences = Sequences(matchers, vocabulary, pad_id=pad_id)

    def mask(self, generator: Any) -> None:
        """Go to where the generator's sequences are, and mask what may not follow.

        Raises:
            ValueError: It has other sequences than there are matchers.
        """
        logits = generator.get_logits()
        if len(logits) != self._rows:
            raise ValueError(
                f"{self._rows} matchers, but {len(logits)} sequences: give one for each prompt."
                " Beam search multiplies them, and is not supported"
            )
        rows = [generator.get_sequence(row) for row in range(self._rows)]
        self._sequences.follow(np.stack(rows))
        apply_mask(logits[:, -1], self._sequences.masks(logits.shape[-1]))
        generator.set_logits(logits)


class OnnxRuntimeModel(ChatModel):
    """One sequence of one model.

    Args:
        path: A folder with `genai_config.json` and `tokenizer.json`, as the model builder of ONNX
            Runtime GenAI writes it.
        threads: How many to compute with; None leaves it to the library.
        context: The longest sequence, prompt included.
        progress: Called with what comes next, before each step that may take seconds.

    Raises:
        ModelError: ONNX Runtime GenAI cannot load the model.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        context: int = 4096,
        progress: Callable[[str], None] = lambda stage: None,
    ) -> None:
        folder = Path(path)
        if not (folder / _CONFIG).is_file():
            raise ModelError(f"{folder} has no {_CONFIG}")
        progress("reading the tokenizer")
        self._chat = ChatTokenizer.load(folder)
        progress("loading the model")
        try:
            config = onnxruntime_genai.Config(str(folder))
            if threads is not None:
                options = {"session_options": {"intra_op_num_threads": threads}}
                config.overlay(json.dumps({"model": {"decoder": options}}))
            self._model = onnxruntime_genai.Model(config)
        except RuntimeError as error:
            raise ModelError(f"ONNX Runtime GenAI cannot load {folder}: {error}") from error
        self._context = context
        self.reset()
        self._vocab_size = len(self.step([0]))
        self.reset()

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids`, in one forward pass, to the sequence; the logits of what follows."""
        if not ids:
            raise ValueError("no ids to append")
        self._generator.append_tokens(np.array(ids, dtype=np.int32))
        logits: NDArray[np.float32] = self._generator.get_logits()[0, -1].copy()
        return logits

    def reset(self) -> None:
        """Start an empty sequence."""
        parameters = onnxruntime_genai.GeneratorParams(self._model)
        parameters.set_search_options(max_length=self._context)
        self._generator = onnxruntime_genai.Generator(self._model, parameters)

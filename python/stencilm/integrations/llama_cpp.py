"""Hold llama-cpp-python to grammars, and run its models in our own loop.

The only file that imports `llama_cpp`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import llama_cpp
import numpy as np

from stencilm import apply_mask
from stencilm.sampling import ModelError

from ._sequences import Sequences
from .chat import ChatModel, ChatTokenizer

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

__all__ = ["GrammarLogitsProcessor", "LlamaCppModel"]


class GrammarLogitsProcessor:
    """Masks the logits of one completion: make a new one for the next.

    It goes into the `logits_processor` list of `create_completion`, `create_chat_completion` or
    `generate`. A model with a `draft_model` is refused: llama-cpp-python shows processors the whole
    draft, and not which of its tokens the logits follow.

    Args:
        model: The one that will write.
        matcher: Where the text begins; it is not changed.
        vocabulary: The one that the matcher's grammar was compiled for.

    Raises:
        ValueError: The model has a `draft_model`, or the vocabulary no stop token.
    """

    def __init__(self, model: Any, matcher: Matcher, vocabulary: Vocabulary) -> None:
        if getattr(model, "draft_model", None) is not None:
            raise ValueError(
                "a model with a draft_model cannot be held: its logits processors are not told"
                " which token of the draft the logits follow"
            )
        self.error: BaseException | None = None
        """What went wrong while a text was written."""
        self._sequences = Sequences([matcher], vocabulary)
        self._stop_ids = vocabulary.stop_ids

    def __call__(
        self, input_ids: NDArray[np.intc], scores: NDArray[np.single]
    ) -> NDArray[np.single]:
        """Go to where the text is, and mask what may not follow."""
        # They lie between ids and probabilities; a copy side by side is masked sooner.
        masked = np.array(scores)
        try:
            if self.error is None:
                self._sequences.follow(np.asarray(input_ids)[None])
                apply_mask(masked, self._sequences.masks(len(masked))[0])
        except BaseException as error:  # An interrupt would be lost, too, and the mask with it.
            self.error = error
        if self.error is not None:
            masked[:] = -np.inf
            masked[self._stop_ids] = 0
        return masked

    def raise_error(self) -> None:
        """Raise what went wrong while the text was written, if anything did."""
        if self.error is not None:
            raise self.error

    def is_whole(self, input_ids: Sequence[int]) -> bool:
        """Whether these ids, prompt included, are a whole text; raises what went wrong."""
        self.raise_error()
        return self._sequences.are_whole(np.asarray(input_ids)[None])[0]


class LlamaCppModel(ChatModel):
    """One sequence of one model.

    Args:
        path: A GGUF file.
        threads: How many to compute with; None leaves it to the library.
        context: The longest sequence, prompt included.
        progress: Called with what comes next, before each step that may take seconds.

    Raises:
        ModelError: llama.cpp cannot load the model.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        context: int = 4096,
        progress: Callable[[str], None] = lambda stage: None,
    ) -> None:
        source = Path(path)
        if not source.is_file():
            raise ModelError(f"there is no model at {source}")
        progress("reading the tokenizer")
        self._chat = ChatTokenizer.load(source)
        progress("loading the model")
        try:
            self._llama = llama_cpp.Llama(
                str(source),
                n_ctx=context,
                n_threads=threads,
                n_threads_batch=threads,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise ModelError(f"llama.cpp cannot load {source}: {error}") from error
        self._vocab_size = self._llama.n_vocab()

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids`, in one forward pass, to the sequence; the logits of what follows."""
        if not ids:
            raise ValueError("no ids to append")
        self._llama.eval(list(ids))
        logits = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(logits, (self._vocab_size,)).copy()

    def reset(self) -> None:
        """Start an empty sequence."""
        self._llama.reset()

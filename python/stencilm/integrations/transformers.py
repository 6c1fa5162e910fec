"""Hold the generations of `transformers` to grammars, and run its models in our own loop.

The only file that imports `transformers`.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LogitsProcessor

from stencilm.sampling import ModelError

from ._sequences import Sequences
from .chat import ChatModel, ChatTokenizer
from .torch import apply_mask

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

__all__ = ["GrammarLogitsProcessor", "TransformersModel"]


class GrammarLogitsProcessor(LogitsProcessor):
    """Masks the logits of one `generate` call: make a new one for the next call.

    The prompts are not judged, so their lengths and padding do not matter. A sequence whose text
    is finished gets stop and padding tokens only. Each row's place in its grammar is found by
    what it has in common with the rows of the step before (see `Sequences`): so sampling, beams,
    several sequences for a prompt and assisted generation (an assistant with the same tokenizer,
    or prompt lookup) are all exact.

    Where a grammar has fewer texts than there are beams, beam search fills up with sequences of
    score minus infinity, or empty ones: `are_whole` tells them.

    Args:
        matchers: One for each prompt of the batch; they are not changed. None leaves it free.
        vocabulary: The one that the matchers' grammars were compiled for.
        pad_id: What `transformers` writes after a finished text; None for a stop token.
    """

    def __init__(
        self,
        matchers: Sequence[Matcher | None],
        vocabulary: Vocabulary,
        *,
        pad_id: int | None = None,
    ) -> None:
        self._sequences = Sequences(matchers, vocabulary, pad_id=pad_id)

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Go to where the rows are, and mask what may not follow."""
        self._sequences.follow(input_ids.cpu().numpy())
        mask = self._sequences.masks(scores.shape[-1])
        masked = scores.clone()
        apply_mask(masked, torch.from_numpy(mask))
        return masked  # type: ignore[return-value, unused-ignore]

    def are_whole(self, sequences: torch.Tensor) -> list[bool]:
        """Whether each sequence that `generate` returned is its prompt and a whole text.

        One that reached `max_new_tokens` may not be. Sequences without a grammar always are.
        """
        return self._sequences.are_whole(sequences.cpu().numpy())


class TransformersModel(ChatModel):
    """One sequence of one model; loaded from `path`, it is on the CPU.

    Args:
        path: A Hugging Face folder, or a GGUF file.
        threads: How many to compute with; None leaves it to PyTorch. It is the process's own
            setting that changes.
        progress: Called with what comes next, before each step that may take seconds.

    Raises:
        ModelError: `transformers` cannot load the model.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        progress: Callable[[str], None] = lambda stage: None,
    ) -> None:
        source = Path(path)
        if not source.exists():
            raise ModelError(f"there is no model at {source}")
        if threads is not None:
            torch.set_num_threads(threads)
        progress("reading the tokenizer")
        self._chat = ChatTokenizer.load(source)
        progress("loading the model")
        self._take(_load(source))

    @classmethod
    def wrap(cls, model: Any, tokenizer: Any) -> TransformersModel:
        """A model and a tokenizer that are loaded already, on the model's device."""
        made = cls.__new__(cls)
        made._chat = _OwnTokenizer(tokenizer)
        made._take(model)
        return made

    def _take(self, model: Any) -> None:
        self._model = model.eval()
        self._vocab_size = model.get_output_embeddings().weight.shape[0]
        # Older releases call it `past_key_values`.
        parameters = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self._options = {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}
        self.reset()

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids`, in one forward pass, to the sequence; the logits of what follows."""
        if not ids:
            raise ValueError("no ids to append")
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(ids)], device=self._model.device),
                use_cache=True,
                **self._options,
                **{self._cache_name: self._cache},
            )
        logits: NDArray[np.float32] = output.logits[0, -1].float().cpu().numpy().copy()
        return logits

    def reset(self) -> None:
        """Start an empty sequence."""
        self._cache = DynamicCache(config=self._model.config)


class _OwnTokenizer:
    """What the loop asks of a tokenizer, from one of `transformers`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The ids of `text` alone."""
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""
        messages = [{"role": "user", "content": user}]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        text = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return self.encode(text)


def _load(source: Path) -> Any:
    where: dict[str, Any] = {"pretrained_model_name_or_path": source}
    if not source.is_dir():
        where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    try:
        return AutoModelForCausalLM.from_pretrained(**where, local_files_only=True)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ModelError(f"transformers cannot load {source}: {error}") from error

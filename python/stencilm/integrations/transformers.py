"""Hold the generations of `transformers` to grammars, and run its models in our own loop.

The only file that imports `transformers`.
"""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, DynamicCache, LogitsProcessor

from stencilm import InternalError, fill_masks
from stencilm.sampling import ModelError

from .chat import ChatTokenizer
from .torch import allocate_mask, allowed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

__all__ = ["GrammarLogitsProcessor", "TransformersModel"]

_BITS = (np.uint32(1) << np.arange(32, dtype=np.uint32)).view(np.int32)


class GrammarLogitsProcessor(LogitsProcessor):
    """Masks the logits of one `generate` call: make a new one for the next call.

    The prompts are not judged, so their lengths and padding do not matter. A sequence whose
    text is finished gets stop and padding tokens only. Beam search, assisted generation and
    `num_return_sequences` change the rows of a batch, and are refused.

    Args:
        matchers: One fresh matcher for each sequence of the batch; None leaves it free.
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
        self._matchers = list(matchers)
        self._vocabulary = vocabulary
        if not vocabulary.stop_ids:
            raise ValueError("the vocabulary has no stop token, so no text could end")
        self._end_ids = [*vocabulary.stop_ids, *([] if pad_id is None else [pad_id])]
        self._history: torch.Tensor | None = None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Take what was sampled last, then mask what may not follow."""
        if len(input_ids) != len(self._matchers):
            raise ValueError(
                f"{len(self._matchers)} matchers, but {len(input_ids)} sequences: give one for"
                " each. Beam search and num_return_sequences multiply them: neither is supported"
            )
        if self._history is not None:
            self._take(self._history, input_ids)
        self._history = input_ids.clone()
        refused = ~self._allowed(scores.shape[-1]).to(scores.device)
        masked = scores.masked_fill(refused, -math.inf)
        return masked  # type: ignore[return-value, unused-ignore]

    def _take(self, history: torch.Tensor, input_ids: torch.Tensor) -> None:
        is_longer_by_one = input_ids.shape[1] == history.shape[1] + 1
        if not is_longer_by_one or not torch.equal(input_ids[:, :-1], history):
            raise ValueError(
                "the sequences do not go on from those of the last step. Beam search and assisted"
                " generation reorder or shorten them: neither is supported. And each `generate`"
                " needs a new GrammarLogitsProcessor, with fresh matchers"
            )
        for matcher, token_id in zip(self._matchers, input_ids[:, -1].tolist(), strict=True):
            # Not an assert: `python -O` would skip the call along with the check.
            if (
                matcher is not None
                and not matcher.has_stopped()
                and not matcher.accept(int(token_id))
            ):
                raise InternalError(f"the model sampled token {token_id}, which was masked")

    def _allowed(self, width: int) -> torch.Tensor:
        mask = allocate_mask(len(self._matchers), max(width, self._vocabulary.size))
        words = mask.numpy()
        # A finished row only gets stop and padding; masking all of it would sample from NaN.
        running = [None if m is None or m.has_stopped() else m for m in self._matchers]
        fill_masks(running, words)
        for row, matcher in enumerate(self._matchers):
            if matcher is None:
                words[row] = -1
            elif running[row] is None:
                for token_id in self._end_ids:
                    words[row, token_id // 32] |= _BITS[token_id % 32]
        return allowed(mask, width)


class TransformersModel:
    """One sequence of one model, on the CPU.

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
        self._model = _load(source)
        self._model.eval()
        self._vocab_size: int = self._model.get_output_embeddings().weight.shape[0]
        # Older releases call it `past_key_values`.
        parameters = inspect.signature(self._model.forward).parameters
        self._cache_name = "cache" if "cache" in parameters else "past_key_values"
        self.reset()

    @property
    def vocab_size(self) -> int:
        """How many logits `step` returns."""
        return self._vocab_size

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without any that a tokenizer would add around it."""
        return self._chat.encode(text)

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""
        return self._chat.chat_prompt(user, system)

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids`, in one forward pass, to the sequence; the logits of what follows."""
        if not ids:
            raise ValueError("no ids to append")
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(ids)]),
                use_cache=True,
                logits_to_keep=1,
                **{self._cache_name: self._cache},
            )
        logits: NDArray[np.float32] = output.logits[0, -1].float().numpy().copy()
        return logits

    def reset(self) -> None:
        """Start an empty sequence."""
        self._cache = DynamicCache(config=self._model.config)


def _load(source: Path) -> Any:
    where: dict[str, Any] = {"pretrained_model_name_or_path": source}
    if not source.is_dir():
        where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    try:
        return AutoModelForCausalLM.from_pretrained(**where, local_files_only=True)
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise ModelError(f"transformers cannot load {source}: {error}") from error

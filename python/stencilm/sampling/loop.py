"""The loop: mask, model, choice, and the matcher takes what was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from stencilm import InternalError, _core, allocate_mask, apply_mask, forced_tokens

from .pick import pick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

    from .model import Model

__all__ = ["Finish", "Step", "generate"]


class Finish(Enum):
    """Why a text ends."""

    STOP = "stop"
    """The model chose a stop token, or nothing could follow."""
    LENGTH = "length"
    """`max_tokens` were made, and the model would have gone on."""


@dataclass(frozen=True, slots=True)
class Step:
    """One new token."""

    token_id: int
    is_forced: bool
    """Whether it was known without asking the model."""
    mask_seconds: float | None
    """What filling the mask took; None where no mask was needed."""
    stencil_seconds: float
    """What all the matcher's work for this token took, its mask included."""
    seconds: float
    """From the token before (or the start) to this one, the prompt's reading included."""
    finish: Finish | None
    """On the last step only."""


def generate(
    model: Model,
    matcher: Matcher | None,
    vocabulary: Vocabulary,
    prompt_ids: Sequence[int],
    *,
    max_tokens: int = 512,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int | None = None,
    skip_forced: bool = True,
    clock: Callable[[], float] = perf_counter,
) -> Iterator[Step]:
    """Write after `prompt_ids`, one step for every token.

    A stop token is a step too, but the model is not asked for one where nothing else could come.

    Args:
        model: Where the logits come from. It is reset first.
        matcher: What may be written; None for anything. It ends where the text ends.
        vocabulary: The model's tokens: those of the matcher.
        prompt_ids: At least one token.
        max_tokens: The most tokens to write.
        temperature: See `pick`. Rules of the grammar that have their own go first.
        top_p: See `pick`.
        seed: The same seed, the same text.
        skip_forced: Whether tokens that are certain skip the model's turn.
        clock: What the steps' seconds are measured with.

    Raises:
        InternalError: The matcher allowed nothing, or refused what it had allowed.
    """
    if temperature < 0 or not 0 < top_p <= 1:
        raise ValueError("temperature must be at least 0, and top_p above 0 and at most 1")
    guide = _Guide(matcher, vocabulary, model, skip_forced=skip_forced, clock=clock)
    rng = np.random.default_rng(seed)
    unread = list(prompt_ids)
    model.reset()
    for count in range(1, max_tokens + 1):
        begin = clock()
        guide.start_token()
        token_id = guide.certain_token()
        is_forced = token_id is not None
        if token_id is None:
            logits = model.step(unread)
            unread.clear()
            guide.mask_logits(logits)
            degree = guide.temperature(temperature)
            token_id = pick(logits, temperature=degree, top_p=top_p, rng=rng)
        unread.append(token_id)
        is_end = guide.take(token_id)
        finish = Finish.STOP if is_end else Finish.LENGTH if count == max_tokens else None
        yield Step(
            token_id,
            is_forced,
            guide.mask_seconds,
            guide.seconds,
            clock() - begin,
            finish,
        )
        if is_end:
            return


class _Guide:
    """The matcher's side of the loop, with a watch on what it takes; no matcher allows all."""

    def __init__(
        self,
        matcher: Matcher | None,
        vocabulary: Vocabulary,
        model: Model,
        *,
        skip_forced: bool,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._stop_ids = frozenset(vocabulary.stop_ids)
        self._skip_forced = skip_forced
        self._encode = model.encode
        self._mask = allocate_mask(1, max(model.vocab_size, vocabulary.size))
        self._certain: list[int] = []
        self.start_token()

    def start_token(self) -> None:
        """Set the watch to zero."""
        self.seconds = 0.0
        self.mask_seconds: float | None = None

    def certain_token(self) -> int | None:
        """The next token, where there is no choice; otherwise the mask is filled."""
        if self._matcher is None:
            return None
        begin = self._clock()
        if self._skip_forced and not self._certain:
            self._certain = forced_tokens(self._matcher, self._vocabulary, self._encode)
        token_id = self._certain.pop(0) if self._certain else self._fill(self._matcher)
        self.seconds += self._clock() - begin
        return token_id

    def mask_logits(self, logits: NDArray[np.float32]) -> None:
        """Forbid what the mask, filled by `certain_token`, does not have."""
        if self._matcher is None:
            return
        begin = self._clock()
        apply_mask(logits, self._mask[0])
        self.seconds += self._clock() - begin

    def temperature(self, default: float) -> float:
        """What the next token is sampled at."""
        if self._matcher is None:
            return default
        begin = self._clock()
        own = self._matcher.temperature()
        self.seconds += self._clock() - begin
        return default if own is None else own

    def take(self, token_id: int) -> bool:
        """Let the matcher have the token; whether the text ends with it."""
        if self._matcher is None:
            return token_id in self._stop_ids
        begin = self._clock()
        if not self._matcher.accept(token_id):
            raise InternalError(f"the matcher refused token {token_id}, which it had allowed")
        is_end = self._matcher.is_finished()
        self.seconds += self._clock() - begin
        return is_end

    def _fill(self, matcher: Matcher) -> int | None:
        begin = self._clock()
        matcher.fill_mask(self._mask, 0)
        self.mask_seconds = self._clock() - begin
        first = _core.first_allowed(self._mask[0], 2)
        if not first:
            raise InternalError("the matcher allows no token, but its text is not finished")
        return first[0] if self._skip_forced and len(first) == 1 else None

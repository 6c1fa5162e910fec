"""The same tokens written free and held to a grammar, and the text at its fastest."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from stencilm import StencilmError

from .loop import generate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

    from .loop import Step
    from .model import Model

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Figures of one model with one grammar; times are seconds a token, after the first token."""

    tokens: int
    """That were written free and held."""
    free_seconds: float
    """Without a grammar."""
    held_seconds: float
    """With one: mask, choice, accept."""
    noise: float
    """By how much two halves of the free runs differ from each other: 0.01 for 1 %."""
    matcher_seconds: float
    """The matcher's own work (the part of `held_seconds` that was measured by itself)."""
    first_matcher_seconds: float
    """The same in the first run, in which no mask was known."""
    skipping_tokens: int
    """That were written with forced tokens skipped."""
    skipping_forced: int
    """How many of them the model was not asked for."""
    skipping_seconds: float
    """A token of such a text."""

    @property
    def overhead(self) -> float:
        """What holding adds to the time of a token: 0.01 for 1 %."""
        return self.held_seconds / self.free_seconds - 1

    @property
    def speed(self) -> float:
        """How many times faster than free a text is written when forced tokens are skipped."""
        return self.free_seconds / self.skipping_seconds

    def as_dict(self) -> dict[str, float | int]:
        """Everything, for machines."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {**fields, "overhead": self.overhead, "speed": self.speed}


def compare(
    model: Model,
    vocabulary: Vocabulary,
    new_matcher: Callable[[], Matcher],
    prompt_ids: Sequence[int],
    *,
    rounds: int = 10,
    max_tokens: int = 96,
    clock: Callable[[], float] = perf_counter,
    progress: Callable[[str], None] = lambda stage: None,
) -> Comparison:
    """Measure a model with and without a grammar.

    The model first writes with the grammar; then these tokens are written again, free and held in
    turn, so that both do the same work at every position. For each position the fastest of all
    rounds counts: on a machine that does other things too, all others are of those.

    Args:
        model: Reset for each run.
        vocabulary: The model's tokens.
        new_matcher: Gives a matcher at its beginning.
        prompt_ids: At least one token.
        rounds: Free and held runs, at least 2 of each.
        max_tokens: Where a text is cut.
        clock: What is measured; `time.process_time` where other processes take turns.
        progress: Called with what comes next.

    Raises:
        StencilmError: The text is too short to be timed.
    """
    if rounds < 2:
        raise ValueError("at least two rounds are needed to tell the noise")

    def run(teacher: Model, matcher: Matcher | None, *, skip_forced: bool = False) -> list[Step]:
        return list(
            generate(
                teacher,
                matcher,
                vocabulary,
                prompt_ids,
                max_tokens=max_tokens,
                skip_forced=skip_forced,
                clock=clock,
            )
        )

    progress("writing the text once")
    first = run(model, new_matcher())
    ids = [step.token_id for step in first]
    if len(ids) < 3:
        raise StencilmError(f"the text has {len(ids)} tokens: too few to be timed")
    max_tokens = len(ids)
    free, held, own, skipping, whole = [], [], [], [], []
    for turn in range(rounds):
        progress(f"round {turn + 1} of {rounds}")
        for kind in ("free", "held", "free") if turn % 2 else ("free", "free", "held"):
            taught = _Taught(model, ids)
            if kind == "free":
                free.append(_seconds(run(taught, None)))
            else:
                steps = run(taught, new_matcher())
                held.append(_seconds(steps))
                own.append([step.stencil_seconds for step in steps])
        skipping = run(model, new_matcher(), skip_forced=True)
        whole.append(sum(_seconds(skipping)))
    # As many runs as there are held ones: the fastest of more would be faster.
    halves = [_fastest(free[start::2]) for start in (0, 1)]
    # Forced tokens are read along with the prompt; what that takes without them is not theirs.
    reading = min(seconds[0] for seconds in free)
    return Comparison(
        tokens=len(ids),
        free_seconds=float(np.mean(halves)),
        held_seconds=_fastest(held),
        noise=abs(halves[0] / halves[1] - 1),
        matcher_seconds=_fastest(own),
        first_matcher_seconds=float(np.mean([step.stencil_seconds for step in first[1:]])),
        skipping_tokens=len(skipping),
        skipping_forced=sum(step.is_forced for step in skipping),
        skipping_seconds=(min(whole) - reading) / max(1, len(skipping) - 1),
    )


class _Taught:
    """A model that always finds the next token of a known text the likeliest.

    Args:
        model: Does the work.
        ids: The text.
    """

    def __init__(self, model: Model, ids: Sequence[int]) -> None:
        self._model = model
        self._ids = ids
        self._at = 0
        self.encode = model.encode
        self.reset = model.reset

    @property
    def vocab_size(self) -> int:
        """That of the model."""
        return self._model.vocab_size

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The model's logits, with the next token above all."""
        logits = self._model.step(ids)
        logits[self._ids[self._at]] = np.inf
        self._at += 1
        return logits


def _seconds(steps: list[Step]) -> list[float]:
    return [step.seconds for step in steps]


def _fastest(runs: Sequence[Sequence[float]]) -> float:
    """The mean over the tokens after the first of the fastest run's time for each."""
    return float(np.mean(np.min(np.array(runs)[:, 1:], axis=0)))

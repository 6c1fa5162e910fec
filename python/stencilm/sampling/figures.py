"""What a generation cost, in one line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .loop import Finish

if TYPE_CHECKING:
    from .loop import Step

__all__ = ["Figures"]


@dataclass(slots=True)
class Figures:
    """The times of one generation; `add` every step of it.

    >>> from stencilm.sampling import Step
    >>> figures = Figures(compile_seconds=0.0005)
    >>> figures.add(Step(7, False, 20e-6, 40e-6, 0.080, None))
    >>> figures.add(Step(9, False, 10e-6, 20e-6, 0.006, Finish.STOP))
    >>> print(figures.line())
    2 tokens, 6.0 ms a token, 80 ms to the first; mask p50 15 µs, p99 20 µs; stencil 0.1 % of \
the time; first mask 520 µs; 0 tokens forced
    """

    compile_seconds: float = 0.0
    """Compiling the grammar: part of the first mask's time."""
    finish: Finish | None = None
    """Why the text ended; None while it goes on."""
    forced: int = 0
    """How many tokens were known without asking the model."""
    tokens: int = 0
    """How many tokens were made, the stop token included."""
    first_seconds: float = 0.0
    """From the prompt to the first token that the model was asked for."""
    _asked: bool = False
    _rest: list[float] = field(default_factory=list)
    _masks: list[float] = field(default_factory=list)
    _stencil_seconds: float = 0.0

    def add(self, step: Step) -> None:
        """Count one more token."""
        self.tokens += 1
        if self._asked:
            self._rest.append(step.seconds)
        else:
            self.first_seconds += step.seconds
        self._asked |= not step.is_forced
        self._stencil_seconds += step.stencil_seconds
        self.forced += step.is_forced
        self.finish = step.finish
        if step.mask_seconds is not None:
            self._masks.append(step.mask_seconds)

    @property
    def token_seconds(self) -> float:
        """The mean time of the tokens after the first that the model was asked for."""
        return float(np.mean(self._rest)) if self._rest else 0.0

    @property
    def first_mask_seconds(self) -> float:
        """Compiling the grammar and filling its first mask."""
        return self.compile_seconds + (self._masks[0] if self._masks else 0.0)

    @property
    def stencil_share(self) -> float:
        """The matcher's part (masks, accepting, forced tokens) of the whole time, 0 to 1."""
        total = self.first_seconds + sum(self._rest)
        return self._stencil_seconds / total if total else 0.0

    def mask_seconds(self, percentile: float) -> float:
        """A percentile (0 to 100) over the masks filled."""
        return float(np.percentile(self._masks, percentile)) if self._masks else 0.0

    def as_dict(self) -> dict[str, float | int | str | None]:
        """Everything, for machines; times in seconds."""
        return {
            "finish": self.finish.value if self.finish else None,
            "tokens": self.tokens,
            "forced_tokens": self.forced,
            "first_token_seconds": self.first_seconds,
            "token_seconds": self.token_seconds,
            "compile_seconds": self.compile_seconds,
            "first_mask_seconds": self.first_mask_seconds,
            "masks": len(self._masks),
            "mask_p50_seconds": self.mask_seconds(50),
            "mask_p99_seconds": self.mask_seconds(99),
            "stencil_share": self.stencil_share,
        }

    def line(self) -> str:
        """Everything, for people."""
        text = (
            f"{self.tokens} tokens, {self.token_seconds * 1e3:.1f} ms a token, "
            f"{self.first_seconds * 1e3:.0f} ms to the first"
        )
        if not self._masks:
            return text
        return (
            f"{text}; mask p50 {_micro(self.mask_seconds(50))}, p99 {_micro(self.mask_seconds(99))}"
            f"; stencil {self.stencil_share * 100:.1f} % of the time"
            f"; first mask {_micro(self.first_mask_seconds)}; {self.forced} tokens forced"
        )


def _micro(seconds: float) -> str:
    micro = seconds * 1e6
    return f"{micro:.0f} µs" if micro >= 10 else f"{micro:.1f} µs"

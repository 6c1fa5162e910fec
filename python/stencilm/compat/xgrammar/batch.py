"""Many matchers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import stencilm
from stencilm.compat.xgrammar.exceptions import runtime_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from stencilm.compat.xgrammar.matcher import GrammarMatcher

__all__ = ["BatchGrammarMatcher"]


class BatchGrammarMatcher:
    """Many matchers at once.

    Args:
        max_threads: Counts for nothing but being right: as many are used as there are cores.

    Raises:
        RuntimeError: It is less than one, or another text than `"auto"`.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        if max_threads != "auto" and (not isinstance(max_threads, int) or max_threads < 1):
            raise RuntimeError(f"max_threads is 'auto' or at least 1, and not {max_threads!r}")

    def batch_fill_next_token_bitmask(
        self,
        matchers: Sequence[GrammarMatcher],
        bitmask: torch.Tensor,
        indices: Sequence[int] | None = None,
        debug_print: bool = False,
    ) -> None:
        """Writes the masks of all matchers, in parallel: matcher *i* into row `indices[i]`, or *i*.

        Raises:
            RuntimeError: A text has ended, or the mask is not as it should be.
        """
        if not matchers:
            return
        for matcher in matchers:
            matcher._need_more("the next mask")
        array = matchers[0]._as_array(bitmask)
        rows = None if indices is None else list(indices)
        try:
            with runtime_errors():
                stencilm.fill_masks([matcher._matcher for matcher in matchers], array, rows)
        except (ValueError, IndexError) as error:
            raise RuntimeError(str(error)) from error

    @staticmethod
    def batch_fill_temperature(
        matchers: Sequence[GrammarMatcher],
        temperatures: torch.Tensor,
        indices: Sequence[int] | None = None,
    ) -> None:
        """Writes each matcher's temperature; -1 where there is none."""
        places = range(len(matchers)) if indices is None else indices
        for matcher, place in zip(matchers, _same_length(matchers, places), strict=True):
            temperature = matcher.temperature
            temperatures[place] = -1.0 if temperature is None else temperature

    @staticmethod
    def batch_accept_token(
        matchers: Sequence[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False
    ) -> list[bool]:
        """Offers each matcher its token."""
        pairs = zip(matchers, _same_length(matchers, tokens), strict=True)
        return [matcher.accept_token(token) for matcher, token in pairs]

    @staticmethod
    def batch_accept_string(
        matchers: Sequence[GrammarMatcher],
        strings: Sequence[bytes | str],
        debug_print: bool = False,
    ) -> list[bool]:
        """Offers each matcher its text."""
        pairs = zip(matchers, _same_length(matchers, strings), strict=True)
        return [matcher.accept_string(text) for matcher, text in pairs]

    @staticmethod
    def batch_rollback(
        matchers: Sequence[GrammarMatcher], num_tokens: Sequence[int] | int = 1
    ) -> None:
        """Gives back the last steps of each."""
        counts = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else num_tokens
        for matcher, count in zip(matchers, _same_length(matchers, counts), strict=True):
            matcher.rollback(count)


def _same_length(matchers: Sequence[GrammarMatcher], others: Any) -> Any:
    if len(others) != len(matchers):
        raise RuntimeError(f"{len(matchers)} matchers, but {len(others)} of the others")
    return others

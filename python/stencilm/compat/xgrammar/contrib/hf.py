"""A logits processor for `transformers`, as XGrammar has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import transformers

from stencilm.compat.xgrammar.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from stencilm.compat.xgrammar.matcher import GrammarMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from stencilm.compat.xgrammar.compiler import CompiledGrammar

__all__ = ["LogitsProcessor"]


class LogitsProcessor(transformers.LogitsProcessor):
    """Masks the scores of one call of `generate`. A new call needs a new one.

    Args:
        compiled_grammar: A grammar for all sequences, or one for each.
    """

    def __init__(self, compiled_grammar: CompiledGrammar | Sequence[CompiledGrammar]) -> None:
        given: Any = compiled_grammar
        self.compiled_grammars = list(given) if isinstance(given, list | tuple) else [given]
        self.vocab_size = self.compiled_grammars[0].tokenizer_info.vocab_size
        self.matchers: list[GrammarMatcher] = []
        self.token_bitmask: Any = None
        self._width = 0

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores without the tokens that may not come next.

        Raises:
            ValueError: There are other numbers of sequences and of grammars.
            RuntimeError: A token was taken that is not allowed.
        """
        if not self.matchers:
            self._begin(len(input_ids))
        elif len(input_ids) != len(self.matchers):
            raise ValueError(f"{len(self.matchers)} sequences before, {len(input_ids)} now")
        else:
            self._accept(input_ids[:, self._width :].tolist())
        self._width = input_ids.shape[1]
        for row, matcher in enumerate(self.matchers):
            if matcher.is_terminated():
                self.token_bitmask[row] = -1
            else:
                matcher.fill_next_token_bitmask(self.token_bitmask, row)
        apply_token_bitmask_inplace(scores, self.token_bitmask.to(scores.device))
        return scores

    def _begin(self, count: int) -> None:
        grammars = self.compiled_grammars
        if len(grammars) not in (1, count):
            raise ValueError(f"{len(grammars)} grammars for {count} sequences")
        each = grammars * count if len(grammars) == 1 else grammars
        self.matchers = [GrammarMatcher(grammar) for grammar in each]
        self.token_bitmask = allocate_token_bitmask(count, self.vocab_size)

    def _accept(self, added: list[list[int]]) -> None:
        for matcher, tokens in zip(self.matchers, added, strict=True):
            for token in tokens:
                if not matcher.is_terminated() and not matcher.accept_token(token):
                    raise RuntimeError(f"token {token} is not allowed here")

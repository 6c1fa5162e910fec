"""Helpers that XGrammar's own tests and examples use, as far as they speak about texts and masks.

What shows XGrammar's inner parts (its automata, normal forms and EBNF texts) is not here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stencilm.compat.xgrammar.compiler import GrammarCompiler
from stencilm.compat.xgrammar.grammar import Grammar
from stencilm.compat.xgrammar.matcher import GrammarMatcher
from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo

if TYPE_CHECKING:
    import torch

__all__ = ["bitmask_to_bool_mask", "bool_mask_to_bitmask"]


def _get_matcher_from_grammar(grammar: Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher without a vocabulary."""
    return _get_matcher_from_grammar_and_tokenizer_info(
        grammar, None, terminate_without_stop_token=True, **kwargs
    )


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | str, tokenizer_info: TokenizerInfo | None = None, **kwargs: Any
) -> GrammarMatcher:
    """A matcher of a grammar that was not compiled yet."""
    compiler = GrammarCompiler(tokenizer_info or TokenizerInfo([]), cache_enabled=False)
    return GrammarMatcher(compiler.compile_grammar(grammar), **kwargs)


def _is_grammar_accept_string(
    grammar: Grammar | str,
    input_str: str,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Whether a text is one of the grammar's, or (without termination) the beginning of one."""
    matcher = _get_matcher_from_grammar(grammar)
    taken = matcher.accept_string(input_str)
    return taken and (matcher.is_terminated() or not require_termination)


def _get_masked_tokens_from_bitmask(
    bitmask: torch.Tensor, vocab_size: int, index: int = 0
) -> list[int]:
    """The tokens that a row refuses."""
    allowed: Any = bitmask_to_bool_mask(bitmask[index : index + 1], vocab_size)[0]
    return [token for token, is_allowed in enumerate(allowed.tolist()) if not is_allowed]


def _is_single_token_bitmask(
    bitmask: torch.Tensor, vocab_size: int, index: int = 0
) -> tuple[bool, int]:
    """Whether a row allows one token alone, and which; -1 otherwise."""
    allowed: Any = bitmask_to_bool_mask(bitmask[index : index + 1], vocab_size)[0]
    found = [token for token, is_allowed in enumerate(allowed.tolist()) if is_allowed]
    return (True, found[0]) if len(found) == 1 else (False, -1)


def _traverse_draft_tree(
    retrieve_next_token: torch.Tensor,
    retrieve_next_sibling: torch.Tensor,
    draft_tokens: torch.Tensor,
    matcher: GrammarMatcher,
    allocate_token_bitmask: torch.Tensor,
    time_threshold: float = -1.0,
) -> bool:
    """`GrammarMatcher.traverse_draft_tree`."""
    return matcher.traverse_draft_tree(
        retrieve_next_token,
        retrieve_next_sibling,
        draft_tokens,
        allocate_token_bitmask,
        time_threshold,
    )


def bool_mask_to_bitmask(bool_mask: torch.Tensor) -> torch.Tensor:
    """A mask of bits from one of truth values, `[rows, vocabulary]`.

    >>> bool_mask_to_bitmask(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    given: Any = bool_mask
    values = np.asarray(given.cpu() if hasattr(given, "cpu") else given, dtype=bool)
    padded = np.zeros((len(values), -(-values.shape[1] // 32) * 32), dtype=bool)
    padded[:, : values.shape[1]] = values
    return _like(given, np.packbits(padded, axis=1, bitorder="little").view(np.int32))


def bitmask_to_bool_mask(bit_mask: torch.Tensor, vocab_size: int | None = None) -> torch.Tensor:
    """Truth values from a mask of bits.

    >>> bitmask_to_bool_mask(np.array([[5]], dtype=np.int32), 3).tolist()
    [[True, False, True]]
    """
    given: Any = bit_mask
    words = np.ascontiguousarray(given.cpu() if hasattr(given, "cpu") else given)
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little", count=vocab_size)
    return _like(given, bits.astype(bool))


def _like(given: Any, made: Any) -> Any:
    """An array as the kind of thing that was given."""
    if isinstance(given, np.ndarray):
        return made
    import torch

    return torch.from_numpy(made).to(given.device)

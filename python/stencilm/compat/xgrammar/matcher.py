"""Where one sequence stands in a grammar."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from stencilm import StencilmError
from stencilm.compat.xgrammar.compiler import CompiledGrammar
from stencilm.compat.xgrammar.exceptions import runtime_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch


__all__ = ["GrammarMatcher"]


class GrammarMatcher:
    """Where one sequence stands in a grammar.

    Args:
        compiled_grammar: The grammar and the tokens.
        override_stop_tokens: Tokens that end a text, instead of the tokenizer's.
        terminate_without_stop_token: Whether the text ends by itself where it may end.
        max_rollback_tokens: Counts for nothing, as in XGrammar: everything can be given back.
        default_temperature: What `temperature` says.

    Raises:
        ValueError: The grammar is not compiled.

    >>> from stencilm.compat import xgrammar as xgr
    >>> info = xgr.TokenizerInfo(["a", "b", "</s>"])
    >>> matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_regex("ab?"))
    >>> matcher.accept_token(0), matcher.accept_token(2), matcher.is_terminated()
    (True, True, True)
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: Sequence[int] | int | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise ValueError("a CompiledGrammar is expected: compile the grammar first")
        info = compiled_grammar.tokenizer_info
        if override_stop_tokens is None:
            stops = info.stop_token_ids
        elif isinstance(override_stop_tokens, int):
            stops = [override_stop_tokens]
        else:
            stops = list(override_stop_tokens)
        self._stops = stops
        self._ends_itself = terminate_without_stop_token
        self._temperature = default_temperature
        self._info = info
        self._size = info.vocab_size
        self._words = -(-self._size // 32)
        # The bits of the last word that are beyond the vocabulary.
        self._beyond = np.int32(0 if self._size % 32 == 0 else -1 << self._size % 32)
        compiled = compiled_grammar._for_stops([] if terminate_without_stop_token else stops)
        self._matcher = compiled.matcher()
        # The last mask that was filled, and as an array: it is the same one at each step.
        self._mask: Any = None
        self._array: Any = None

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Takes a token; False, and no change, if it may not come next."""
        token = token_id if type(token_id) is int else operator.index(token_id)
        if not 0 <= token < self._size:
            return False
        try:
            return self._matcher.accept(token)
        except StencilmError as error:
            raise RuntimeError(str(error)) from error

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Takes a text as one step; False, and no change, if it may not come next."""
        text = input_str.encode() if isinstance(input_str, str) else input_str
        if self._matcher.has_stopped():
            return False
        with runtime_errors():
            return self._matcher.accept_bytes(text)

    def fill_next_token_bitmask(
        self, bitmask: torch.Tensor, index: int = 0, *, debug_print: bool = False
    ) -> bool:
        """Writes the tokens that may come next into a row.

        Returns:
            Whether any token is refused: if not, the mask need not be applied.

        Raises:
            RuntimeError: The text has ended, or the mask is not as it should be.
        """
        matcher = self._matcher
        if matcher.has_stopped():
            self._need_more("the next mask")
        array = self._array if bitmask is self._mask else self._as_array(bitmask)
        try:
            matcher.fill_mask(array, index)
            # Nearly always the first word tells.
            if self._words > 1 and array[index, 0] != -1:
                return True
            return self._refuses_some(array[index])
        except (StencilmError, IndexError) as error:
            raise RuntimeError(str(error)) from error

    def traverse_draft_tree(
        self,
        retrieve_next_token: torch.Tensor,
        retrieve_next_sibling: torch.Tensor,
        draft_tokens: torch.Tensor,
        token_bitmask: torch.Tensor,
        time_threshold: float = -1.0,
        temperatures: torch.Tensor | None = None,
    ) -> bool:
        """Writes a row for each node of a tree of drafts, of which the first has been accepted.

        Args:
            retrieve_next_token: The first child of each node; -1 for none.
            retrieve_next_sibling: The next sibling; -1 for none.
            draft_tokens: The token of each node.
            token_bitmask: A row for each. Those below a refused token are all zero.
            time_threshold: Counts for nothing: all rows are always written.
            temperatures: Filled with the temperature of each row; -1 where there is none.

        Returns:
            True: there is no row left to be written.

        Raises:
            RuntimeError: The tree is none, or the mask is not as it should be.
        """
        array = self._as_array(token_bitmask)
        tokens = draft_tokens.tolist()
        try:
            with runtime_errors():
                self._matcher.fill_tree_masks(
                    tokens, retrieve_next_token.tolist(), retrieve_next_sibling.tolist(), array
                )
        except (ValueError, IndexError) as error:
            raise RuntimeError(str(error)) from error
        if temperatures is not None:
            links = (retrieve_next_token.tolist(), retrieve_next_sibling.tolist())
            for row, temperature in enumerate(self._temperatures(tokens, *links)):
                temperatures[row] = -1.0 if temperature is None else temperature
        return True

    def _temperatures(
        self, tokens: list[int], first_child: list[int], next_sibling: list[int]
    ) -> list[float | None]:
        """That of each node of a tree of drafts; the default below a refused token."""
        found = [self._temperature] * len(tokens)
        todo = [(0, self)] if tokens else []
        while todo:
            node, at = todo.pop()
            found[node] = at.temperature
            child = first_child[node]
            while child >= 0:
                below = at.fork()
                if below.accept_token(tokens[child]):
                    todo.append((child, below))
                child = next_sibling[child]
        return found

    def find_jump_forward_string(self) -> str:
        """The text that must come next, in whole characters.

        Raises:
            RuntimeError: The text has ended.
        """
        self._need_more("the text that comes next")
        return self._forced().decode(errors="ignore")

    def find_jump_forward_tokens(self) -> list[int]:
        """Tokens that spell what must come next, the longest ones first.

        A heuristic, as in XGrammar: tokens at the end are left out where a longer one could span
        what comes next. None behind the end of the text.
        """
        if self._matcher.has_stopped():
            return []
        info = self._info
        vocabulary = self._matcher.compiled.vocabulary
        forced = self._forced()
        taken: list[int] = []
        at = 0
        while at < len(forced) and not vocabulary.has_longer(forced[at:]):
            lengths = range(min(info.longest, len(forced) - at), 0, -1)
            found = (info.ids.get(forced[at : at + length]) for length in lengths)
            token = next((t for t in found if t is not None and t not in self._stops), None)
            if token is None:
                break
            taken.append(token)
            at += len(info.decoded_vocab[token])
        return taken

    def rollback(self, num_tokens: int = 1) -> None:
        """Gives back the last steps, those that ended the text included.

        Raises:
            RuntimeError: There were fewer.
        """
        if num_tokens <= 0:
            return
        try:
            self._matcher.rollback(num_tokens)
        except ValueError as error:
            raise RuntimeError(str(error)) from error

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        r"""The names and texts of captured rules, by their beginnings.

        Args:
            deduplicate: Whether one that comes again, name and text, is left out.

        >>> from stencilm.compat import xgrammar as xgr
        >>> grammar = 'root ::= item ("," item)*\nitem[capture] ::= [a-z]+'
        >>> compiler = xgr.GrammarCompiler(xgr.TokenizerInfo(["ab", ",", "</s>"]))
        >>> matcher = xgr.GrammarMatcher(compiler.compile_grammar(grammar))
        >>> matcher.accept_string("ab,ab")
        True
        >>> matcher.get_captures(), len(matcher.get_captures(deduplicate=False))
        ([('item', b'ab')], 2)
        """
        found = [(capture.name, capture.text) for capture in self._matcher.captures()]
        return list(dict.fromkeys(found)) if deduplicate else found

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self._matcher.has_stopped() or (self._ends_itself and self._matcher.may_stop())

    def is_completed(self) -> bool:
        """Whether the text may end here."""
        return self._matcher.has_stopped() or self._matcher.may_stop()

    def reset(self) -> None:
        """Back to the beginning."""
        self._matcher.reset()

    def fork(self) -> GrammarMatcher:
        """One at the same place that goes its own way."""
        made = object.__new__(GrammarMatcher)
        made.__dict__.update(self.__dict__)
        made._matcher = self._matcher.fork()
        return made

    @property
    def max_rollback_tokens(self) -> int:
        """-1: everything can be given back."""
        return -1

    @property
    def temperature(self) -> float | None:
        """That of the rule that the next token is in, or the default."""
        with runtime_errors():
            own = self._matcher.temperature()
        return self._temperature if own is None else own

    @property
    def stop_token_ids(self) -> list[int]:
        """Tokens that end a text."""
        return self._stops

    def _debug_print_internal_state(self) -> str:
        return self._matcher.describe()

    def _forced(self) -> bytes:
        with runtime_errors():
            return self._matcher.forced_text()

    def _refuses_some(self, row: Any) -> bool:
        """Whether a token is refused. Where none is, the bits beyond the vocabulary are set too."""
        if (row[:-1] != -1).any() or (row[-1] | self._beyond) != -1:
            return True
        row[-1] = -1
        return False

    def _need_more(self, what: str) -> None:
        if self._matcher.has_stopped():
            raise RuntimeError(f"the text has ended: there is no answer to {what}")

    def _as_array(self, bitmask: Any) -> Any:
        array = bitmask if isinstance(bitmask, np.ndarray) else _from_tensor(bitmask)
        if array.dtype != np.int32:
            raise RuntimeError(f"a mask is of int32, and not of {array.dtype}")
        if array.ndim == 1:
            array = array[np.newaxis]
        if array.ndim != 2 or array.shape[1] != self._words:
            raise RuntimeError(f"a mask is [rows, {self._words}], and not {array.shape}")
        self._mask, self._array = bitmask, array
        return array


def _from_tensor(tensor: Any) -> Any:
    return tensor.numpy() if hasattr(tensor, "numpy") else np.from_dlpack(tensor)

"""Compiling grammars for one vocabulary, with a bounded cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from stencilm import _core
from stencilm._limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from stencilm._grammar import Grammar
    from stencilm._vocabulary import Vocabulary

__all__ = ["CompiledGrammar", "Compiler"]

CompiledGrammar = _core.CompiledGrammar
Matcher = _core.Matcher


class Compiler:
    """Compiles grammars for one vocabulary. Safe to use from many threads.

    Compiling computes nothing ahead: it takes microseconds, and what a grammar needs is found when
    a state is first visited.

    Args:
        vocabulary: The tokens of the model.
        limits: What one grammar may cost.
        cache_entries: Compiled grammars kept, by source and options.
        cache_bytes: Bytes that the tables of kept grammars may have together, about.

    >>> from stencilm import Grammar, Vocabulary
    >>> vocabulary = Vocabulary.from_tokens([bytes([b]) for b in range(256)])
    >>> compiler = Compiler(vocabulary)
    >>> compiler.compile(Grammar.from_regex("ab?")).matcher().next_bytes()
    b'a'
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        limits: Limits | None = None,
        cache_entries: int = 1_000,
        cache_bytes: int = 512 << 20,
    ) -> None:
        self.vocabulary = vocabulary
        self.limits = limits or Limits()
        self._core_limits = None if limits is None else limits._core
        self._cache_entries = cache_entries
        self._cache_bytes = cache_bytes
        self._cache: OrderedDict[Hashable, CompiledGrammar] = OrderedDict()
        self._lock = threading.Lock()

    def compile(self, grammar: Grammar) -> CompiledGrammar:
        """The grammar for this vocabulary; the same object again for the same source.

        Raises:
            UnsatisfiableError: No text can match.
            VocabularyError: The grammar names a special token that the vocabulary lacks.
            LimitError: A field of the limits was reached.
        """
        return self.compile_once(grammar.key, lambda: grammar)

    def compile_once(self, key: Hashable, make: Callable[[], Grammar]) -> CompiledGrammar:
        """What `make` makes, compiled; the same object again for the same key, and nothing made.

        Raises:
            UnsatisfiableError: No text can match.
            VocabularyError: The grammar names a special token that the vocabulary lacks.
            LimitError: A field of the limits was reached.
        """
        if self._cache_entries == 0:
            return self._make(make())
        with self._lock:
            found = self._cache.get(key)
            if found is not None:
                self._cache.move_to_end(key)
                return found
        made = self._make(make())
        with self._lock:
            made = self._cache.setdefault(key, made)
            self._cache.move_to_end(key)
            self._shrink()
        return made

    async def compile_async(
        self, make: Callable[[_core.Cancel], Grammar], timeout: float | None = None
    ) -> CompiledGrammar:
        """Makes and compiles a grammar on another thread; cancelling the task stops the work.

        Args:
            make: Makes the grammar with the cancel flag that it is given, for example
                `lambda cancel: Grammar.from_ebnf(text, cancel=cancel)`.
            timeout: Seconds, after which `TimeoutError` is raised.
        """
        import asyncio  # Half of the time that importing this package would take.

        cancel = _core.Cancel()
        work = asyncio.to_thread(lambda: self.compile(make(cancel)))
        try:
            return await asyncio.wait_for(work, timeout)
        except (asyncio.CancelledError, TimeoutError):
            cancel.cancel()
            raise

    def cache_clear(self) -> None:
        """Forgets the compiled grammars; those in use stay alive."""
        with self._lock:
            self._cache.clear()

    @property
    def cache_len(self) -> int:
        """Compiled grammars kept."""
        return len(self._cache)

    @property
    def cache_memory(self) -> int:
        """Bytes of their tables, about."""
        with self._lock:
            return sum(kept.memory for kept in self._cache.values())

    def _make(self, grammar: Grammar) -> CompiledGrammar:
        vocabulary = self.vocabulary
        return _core.CompiledGrammar(
            grammar._core, vocabulary, vocabulary.store, self._core_limits, (grammar, self.limits)
        )

    def _shrink(self) -> None:
        while len(self._cache) > self._cache_entries:
            self._cache.popitem(last=False)
        # Tables grow after compiling, so all are asked, oldest first.
        total = sum(kept.memory for kept in self._cache.values())
        while total > self._cache_bytes and len(self._cache) > 1:
            _, dropped = self._cache.popitem(last=False)
            total -= dropped.memory

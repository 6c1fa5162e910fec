"""Compiling grammars for one vocabulary, with a bounded cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stencilm import _core
from stencilm._cache import Cache, CacheUse
from stencilm._limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from stencilm._grammar import Grammar
    from stencilm._vocabulary import Vocabulary

__all__ = ["CompiledGrammar", "Compiler"]

_GRAMMAR_BYTES = 20_000
_BYTES_A_CHARACTER = 20

CompiledGrammar = _core.CompiledGrammar
Matcher = _core.Matcher
Capture = _core.Capture


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
        self._cache: Cache[tuple[CompiledGrammar, int]] | None = None
        if cache_entries > 0:
            self._cache = Cache(cache_entries, cache_bytes, _size)

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
        if self._cache is None:
            return self._make(make())
        found = self._cache.get(key)
        if found is None:
            grammar = make()
            found = self._cache.add(key, (self._make(grammar), _weight(grammar)))
        return found[0]

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
        if self._cache is not None:
            self._cache.clear()

    @property
    def cache_len(self) -> int:
        """Compiled grammars kept."""
        return 0 if self._cache is None else len(self._cache)

    def cache_use(self) -> CacheUse:
        """Entries and bytes kept, hits, misses and evictions.

        >>> from stencilm import Grammar, Vocabulary
        >>> compiler = Compiler(Vocabulary.from_tokens([b"a"]))
        >>> for _ in range(4):
        ...     _ = compiler.compile(Grammar.choice(["a"]))
        >>> compiler.cache_use().hit_rate
        0.75
        """
        return CacheUse(0, 0, 0, 0, 0) if self._cache is None else self._cache.use()

    def _make(self, grammar: Grammar) -> CompiledGrammar:
        vocabulary = self.vocabulary
        return _core.CompiledGrammar(
            grammar._core, vocabulary, vocabulary.store, self._core_limits, (grammar, self.limits)
        )


def _size(kept: tuple[CompiledGrammar, int]) -> int:
    compiled, weight = kept
    return compiled.memory + weight


def _weight(grammar: Grammar) -> int:
    """About what a grammar takes before any text: its source, and what was read from it."""
    return _GRAMMAR_BYTES + _BYTES_A_CHARACTER * len(grammar.source)

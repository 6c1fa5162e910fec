"""A cache bounded by bytes, which what it keeps goes on to take."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["Cache", "CacheUse"]

_Kept = TypeVar("_Kept")

_LOOKED_AT = 8
"""Entries whose size is asked for again with each new one. To ask all of a thousand would take as
long as to compile."""


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How a cache is used; counts since it was made."""

    entries: int
    """Entries kept."""
    bytes: int
    """Bytes that they take, about."""
    hits: int
    """Look-ups that found one."""
    misses: int
    """Look-ups that did not."""
    evictions: int
    """Entries that went to make room."""

    @property
    def hit_rate(self) -> float:
        """Look-ups that found an entry, of all; 0 before the first."""
        return self.hits / max(self.hits + self.misses, 1)


class Cache(Generic[_Kept]):
    """The entries that were used last, of a number and of bytes that are bounded.

    Safe to use from many threads: the lock is held to look something up and never while anything
    is made.

    Args:
        most_entries: Entries kept.
        most_bytes: Bytes that they may take together, about; one entry is kept however large.
        size_of: The bytes that an entry takes now. Asked when it comes, when it is used, and in
            turns.

    >>> cache = Cache(2, 100, len)
    >>> for word in ("a", "b", "c"):
    ...     _ = cache.add(word, word)
    >>> cache.get("a"), cache.get("c"), cache.use().evictions
    (None, 'c', 1)
    """

    def __init__(self, most_entries: int, most_bytes: int, size_of: Callable[[_Kept], int]) -> None:
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._size_of = size_of
        self._entries: OrderedDict[Hashable, tuple[_Kept, int]] = OrderedDict()
        self._turn: list[Hashable] = []
        self._bytes = self._hits = self._misses = self._evictions = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> _Kept | None:
        """The entry of this key, if it is kept."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                self._misses += 1
                return None
            self._hits += 1
            self._entries.move_to_end(key)
            self._measure(key)
            return found[0]

    def add(self, key: Hashable, made: _Kept) -> _Kept:
        """Keeps an entry, and gives what is kept: another thread may have come first."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
            else:
                self._entries[key] = (made, 0)
            self._measure(key)
            kept = self._entries[key][0]
            for _ in range(_LOOKED_AT):
                if not self._turn:
                    self._turn = list(self._entries)
                self._measure(self._turn.pop())
            while len(self._entries) > self._most_entries or (
                self._bytes > self._most_bytes and len(self._entries) > 1
            ):
                _, (_, size) = self._entries.popitem(last=False)
                self._bytes -= size
                self._evictions += 1
            return kept

    def clear(self) -> None:
        """Forgets all entries; counts stay."""
        with self._lock:
            self._entries.clear()
            self._turn.clear()
            self._bytes = 0

    def use(self) -> CacheUse:
        """How full it is and how often it helped."""
        with self._lock:
            for key in self._entries:
                self._measure(key)
            return CacheUse(
                len(self._entries), self._bytes, self._hits, self._misses, self._evictions
            )

    def __len__(self) -> int:
        return len(self._entries)

    def _measure(self, key: Hashable) -> None:
        found = self._entries.get(key)
        if found is not None:
            size = self._size_of(found[0])
            self._bytes += size - found[1]
            self._entries[key] = (found[0], size)

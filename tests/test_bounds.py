"""The bounds of what is kept: the cache of a compiler, the store of a vocabulary."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING

import pytest

from stencilm import Compiler, Grammar, Vocabulary, allocate_mask
from stencilm._cache import Cache

if TYPE_CHECKING:
    from conftest import Kit


class Thing:
    """Something with a size that changes."""

    def __init__(self, size: int) -> None:
        self.size = size


def sized(most_entries: int, most_bytes: int) -> Cache[Thing]:
    return Cache(most_entries, most_bytes, lambda thing: thing.size)


def test_counts_are_those_of_a_list_by_hand() -> None:
    """Against the plainest cache there is: a list with the last used at its end."""
    random = Random(4)
    cache, kept, gone = sized(7, 100), list[int](), 0
    things = {key: Thing(random.randint(1, 40)) for key in range(20)}
    hits = misses = 0
    for _ in range(2_000):
        key = random.randrange(20)
        found = cache.get(key)
        assert (found is not None) == (key in kept)
        if found is None:
            misses += 1
            cache.add(key, things[key])
        else:
            hits += 1
            kept.remove(key)
        kept.append(key)
        while len(kept) > 7 or (sum(things[at].size for at in kept) > 100 and len(kept) > 1):
            kept.pop(0)
            gone += 1
        use = cache.use()
        assert (use.entries, use.hits, use.misses, use.evictions) == (len(kept), hits, misses, gone)
        assert use.bytes == sum(things[at].size for at in kept)
    assert gone > 100
    assert use.hit_rate == hits / 2_000


def test_what_grows_later_is_noticed_before_long() -> None:
    cache = sized(1_000, 10_000)
    things = [Thing(1) for _ in range(500)]
    for key, thing in enumerate(things):
        cache.add(key, thing)
    for thing in things[:250]:
        thing.size = 1_000
    for key in range(500, 600):
        cache.add(key, Thing(1))
    use = cache.use()
    assert use.bytes <= 10_000
    assert use.evictions >= 240


def test_the_first_of_two_is_kept() -> None:
    cache = sized(5, 100)
    first, second = Thing(1), Thing(1)
    assert cache.add("a", first) is first
    assert cache.add("a", second) is first
    assert cache.use().entries == 1


def test_forgotten_entries_take_nothing() -> None:
    cache = sized(5, 100)
    cache.add("a", Thing(70))
    cache.clear()
    cache.add("b", Thing(70))
    use = cache.use()
    assert (use.entries, use.bytes, use.evictions) == (1, 70, 0)


def test_many_threads() -> None:
    cache = sized(50, 1_000)

    def work(seed: int) -> None:
        random = Random(seed)
        for _ in range(2_000):
            key = random.randrange(200)
            if cache.get(key) is None:
                cache.add(key, Thing(random.randint(1, 60)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    use = cache.use()
    assert use.entries <= 50
    assert use.bytes <= 1_000
    assert use.hits + use.misses == 16_000


def test_a_compiler_tells_how_its_cache_is_used(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_entries=2)
    for pattern in ("a", "b", "a", "c", "a", "b"):
        compiler.compile(Grammar.from_regex(pattern))
    use = compiler.cache_use()
    assert (use.entries, use.hits, use.misses, use.evictions) == (2, 2, 4, 2)
    assert use.bytes > 2 * 20_000
    assert Compiler(byte_kit.vocabulary, cache_entries=0).cache_use().entries == 0


def test_large_sources_count(byte_kit: Kit) -> None:
    compiler = Compiler(byte_kit.vocabulary, cache_bytes=4_000_000)
    for number in range(20):
        words = [f"{number} {word:06}" for word in range(10_000)]
        compiler.compile(Grammar.choice(words))
    assert compiler.cache_len <= 2


@pytest.mark.parametrize("store_bytes", [60_000, 200_000])
def test_what_is_used_stays_in_the_store(many_kit: Kit, store_bytes: int) -> None:
    """Others come and go; what each grammar asks for again is never made again."""
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes(), store_bytes=store_bytes)
    compiler = Compiler(vocabulary, cache_entries=0)
    mask = allocate_mask(1, vocabulary.size)

    def misses_of(pattern: str) -> int:
        before = vocabulary.store.usage()[3]
        compiler.compile(Grammar.from_regex(pattern)).matcher().fill_mask(mask)
        misses: int = vocabulary.store.usage()[3] - before
        return misses

    assert misses_of("[abc]{2,9}") > 0
    for number in range(300):
        low, high = sorted((chr(97 + number % 26), chr(97 + number // 26 % 26)))
        misses_of(f"[{low}-{high}0-{number % 10}]{{1,{number % 7 + 2}}}")
        assert misses_of("[abc]{2,9}") == 0
        assert vocabulary.store.usage()[1] <= store_bytes
    _, _, _, _, generations, evictions = vocabulary.store.usage()
    assert generations > 2
    assert evictions > 10

"""Masks for drafts: sequences and trees of tokens that another model proposed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import Grammar, Matcher, VocabularyError, allocate_mask, allowed_ids

if TYPE_CHECKING:
    from conftest import Kit
    from numpy.typing import NDArray

STOP = 256
GRAMMARS = [
    Grammar.from_regex("(ab|ba|c)*"),
    Grammar.from_regex("(?=.*c)[abc]{3,6}"),
    Grammar.from_ebnf('root ::= "a" root "b" | root "c" | ""'),
    Grammar.from_json_schema({"enum": ["a", "ab", ["a"], {"b": "ab"}, None]}),
    Grammar.json(),
]


def draft(kit: Kit, matcher: Matcher, random: Random, length: int) -> list[int]:
    """Mostly allowed tokens, some stops, some ids that no vocabulary has."""
    at = matcher.fork()
    tokens = []
    for _ in range(length):
        allowed = kit.allowed(at)
        if not allowed or random.random() < 0.08:
            token = random.choice([97, 98, 99, 257, -1, kit.vocabulary.size, 2**33 + 97])
        else:
            token = random.choice(allowed)
        tokens.append(token)
        if 0 <= token < kit.vocabulary.size:
            at.accept(token)
    return tokens


def rows_one_by_one(kit: Kit, matcher: Matcher, tokens: list[int]) -> list[NDArray[np.int32]]:
    at: Matcher | None = matcher.fork()
    closed = np.zeros(kit.vocabulary.words, dtype=np.int32)
    rows = [kit.mask(matcher)]
    for token in tokens:
        if at and not (0 <= token < kit.vocabulary.size and at.accept(token)):
            at = None
        rows.append(kit.mask(at) if at else closed)
    return rows


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_the_rows_of_a_draft_are_those_of_its_tokens_one_by_one(kit: Kit, grammar: Grammar) -> None:
    for seed in range(30):
        random = Random(seed)
        matcher = kit.matcher(grammar)
        for _ in range(random.randint(0, 4)):
            if allowed := kit.allowed(matcher):
                matcher.accept(random.choice(allowed))
        before, window = kit.mask(matcher), matcher.rollback_window
        tokens = draft(kit, matcher, random, random.randint(0, 8))
        rows = rows_one_by_one(kit, matcher, tokens)
        mask = allocate_mask(len(rows) + 2, kit.vocabulary.size)
        mask[:] = -1
        accepted = matcher.fill_draft_masks(tokens, mask, 1)
        np.testing.assert_array_equal(mask[1:-1], np.stack(rows))
        assert (mask[[0, -1]] == -1).all()
        valid = next((n for n, t in enumerate(tokens) if not 0 <= t < kit.vocabulary.size), None)
        assert accepted == matcher.validate(tokens[:valid])
        assert matcher.rollback_window == window
        np.testing.assert_array_equal(kit.mask(matcher), before)


def test_rows_after_a_refused_token_are_closed(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("[ab]{4}")
    mask = allocate_mask(5, 257)
    mask[:] = -1
    assert matcher.fill_draft_masks(list(b"abcab"[:4]), mask) == 2
    assert [allowed_ids(row).tolist() for row in mask] == [[97, 98]] * 3 + [[], []]


def test_a_draft_may_run_over_the_end(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab?")
    mask = allocate_mask(5, 257)
    assert matcher.fill_draft_masks([97, STOP, 98, 98], mask) == 2
    assert [allowed_ids(row).tolist() for row in mask] == [[97], [98, STOP], [], [], []]
    assert not matcher.has_stopped()


def test_an_empty_draft_is_one_row(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a")
    mask = allocate_mask(1, 257)
    assert matcher.fill_draft_masks([], mask) == 0
    assert allowed_ids(mask[0]).tolist() == [97]


def test_a_draft_after_the_end_is_closed(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a")
    assert matcher.validate([97, STOP]) == 2
    matcher.accept(97)
    matcher.accept(STOP)
    mask = allocate_mask(3, 257)
    mask[:] = -1
    assert matcher.fill_draft_masks([97, 97], mask) == 0
    assert not mask.any()


def test_a_draft_needs_a_row_more_than_tokens(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a*")
    mask = allocate_mask(3, 257)
    with pytest.raises(IndexError, match="row 3 of a mask with 3 rows"):
        matcher.fill_draft_masks([97, 97, 97], mask)
    with pytest.raises(IndexError, match="row 3 of a mask with 3 rows"):
        matcher.fill_draft_masks([97, 97], mask, 1)
    assert matcher.rollback_window == 0


# Trees.


def random_tree(random: Random, count: int) -> tuple[list[int], list[int], list[int]]:
    """Parents, and the same tree as first children and next siblings."""
    parents = [-1, *(random.randrange(node) for node in range(1, count))]
    first, sibling = [-1] * count, [-1] * count
    for node in range(count - 1, 0, -1):
        sibling[node] = first[parents[node]]
        first[parents[node]] = node
    return parents, first, sibling


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.source)
def test_the_rows_of_a_tree_are_those_of_forks(kit: Kit, grammar: Grammar) -> None:
    for seed in range(30):
        random = Random(seed)
        matcher = kit.matcher(grammar)
        if random.random() < 0.5 and (allowed := kit.allowed(matcher)):
            matcher.accept(random.choice(allowed))
        before, window = kit.mask(matcher), matcher.rollback_window
        parents, first, sibling = random_tree(random, random.randint(1, 12))
        tokens = [random.randrange(-1, 400)]
        forks: list[Matcher | None] = [matcher.fork()]
        for parent in parents[1:]:
            above = forks[parent]
            fork = above.fork() if above else None
            token = draft(kit, fork, random, 1)[0] if fork else random.choice([97, -1])
            is_known = 0 <= token < kit.vocabulary.size
            forks.append(fork if fork and is_known and fork.accept(token) else None)
            tokens.append(token)
        mask = allocate_mask(len(tokens) + 1, kit.vocabulary.size)
        mask[:] = -1
        reached = matcher.fill_tree_masks(tokens, first, sibling, mask, 1)
        assert reached == [fork is not None for fork in forks]
        assert (mask[0] == -1).all()
        for row, fork in zip(mask[1:], forks, strict=True):
            assert row.any() == bool(fork and not fork.has_stopped())
            if fork:
                np.testing.assert_array_equal(row, kit.mask(fork))
        np.testing.assert_array_equal(kit.mask(matcher), before)
        assert matcher.rollback_window == window


def test_a_tree_that_is_one_branch_is_a_draft(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("(ab)*")
    draft_rows, tree_rows = allocate_mask(5, 257), allocate_mask(5, 257)
    matcher.fill_draft_masks(list(b"abaa"), draft_rows)
    links = [1, 2, 3, 4, -1]
    reached = matcher.fill_tree_masks([0, *b"abaa"], links, [-1] * 5, tree_rows)
    assert reached == [True, True, True, True, False]
    np.testing.assert_array_equal(draft_rows, tree_rows)


def test_siblings_below_a_refused_node(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("ab|cd")
    mask = allocate_mask(5, 257)
    reached = matcher.fill_tree_masks([0, *b"xbcd"], [1, 2, -1, 4, -1], [-1, 3, -1, -1, -1], mask)
    assert reached == [True, False, False, True, True]
    assert [allowed_ids(row).tolist() for row in mask] == [[97, 99], [], [], [100], [STOP]]


@pytest.mark.parametrize(
    ("first", "sibling"),
    [
        ([1, 0], [-1, -1]),
        ([1, -1], [-1, 1]),
        ([1, 7], [-1, -1]),
        ([1, -1], [-1, 2]),
        ([0, -1], [-1, -1]),
        ([1, 2**40], [-1, -1]),
    ],
)
def test_links_that_are_no_tree(byte_kit: Kit, first: list[int], sibling: list[int]) -> None:
    mask = allocate_mask(2, 257)
    with pytest.raises(VocabularyError, match=r"the links of draft node \d+ are no tree"):
        byte_kit.matcher("a*").fill_tree_masks([0, 97], first, sibling, mask)
    assert not mask.any()


def test_a_tree_needs_links_for_each_token(byte_kit: Kit) -> None:
    mask = allocate_mask(2, 257)
    with pytest.raises(VocabularyError, match="one link of each kind a token"):
        byte_kit.matcher("a").fill_tree_masks([0, 97], [1], [-1, -1], mask)
    with pytest.raises(IndexError):
        byte_kit.matcher("a").fill_tree_masks([0, 97, 97], [1, -1, -1], [-1, 2, -1], mask)


def test_a_tree_without_nodes(byte_kit: Kit) -> None:
    assert byte_kit.matcher("a").fill_tree_masks([], [], [], allocate_mask(0, 257)) == []


def test_a_deep_and_a_wide_tree(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a*")
    count = 2_000
    mask = allocate_mask(count, 257)
    deep, wide = [*range(1, count), -1], [1, *[-1] * (count - 1)]
    none = [-1] * count
    siblings = [-1, *range(2, count), -1]
    assert matcher.fill_tree_masks([97] * count, deep, none, mask) == [True] * count
    assert matcher.fill_tree_masks([97] * count, wide, siblings, mask) == [True] * count

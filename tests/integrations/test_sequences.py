"""Rows of token ids that come and go, against matchers that read every row from its beginning."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stencilm import Compiler, Grammar, Limits, Matcher, Vocabulary, allowed_ids
from stencilm.integrations._sequences import Sequences

WORDS = [*(bytes([byte]) for byte in b"abc[],"), b"ab", b"[[", b"],", b"]]", b"ca", None, None]
STOP, PAD = 11, 12
VOCABULARY = Vocabulary.from_tokens(WORDS, stop=[STOP])
GRAMMARS = [
    Grammar.from_ebnf('root ::= "[" (root ("," root)*)? "]" | [a-c]+'),
    Grammar.from_regex("(ab|ca){1,3}c?"),
    Grammar.choice(["a", "ab", "[a]"]),
]


def matcher(grammar: Grammar, limits: Limits | None = None) -> Matcher:
    return Compiler(VOCABULARY, limits=limits).compile(grammar).matcher()


def allowed(sequences: Sequences) -> list[set[int]]:
    return [set(allowed_ids(row).tolist()) for row in sequences.masks()]


def expected(root: Matcher | None, text: list[int]) -> set[int]:
    """What may follow, read from the beginning with nothing but `fork`, `accept` and a mask."""
    if root is None:
        return {*range(VOCABULARY.words * 32)}
    reader = root.fork()
    for token in text:
        if reader.has_stopped() or not reader.accept(token):
            return {STOP, PAD}
    if reader.has_stopped():
        return {STOP, PAD}
    mask = np.zeros((1, VOCABULARY.words), dtype=np.int32)
    reader.fill_mask(mask)
    return set(allowed_ids(mask[0]).tolist())


def mutated(rows: list[list[int]], random: Random) -> list[list[int]]:
    """The rows that some search might go to: reordered, copied, shortened, then lengthened."""
    chosen = [list(random.choice(rows)) for _ in rows]
    kept = max(0, len(chosen[0]) - random.choice([0, 0, 0, 1, 2, 5]))
    more = random.choice([1, 1, 1, 2, 4])
    return [row[:kept] + [random.randrange(PAD + 1) for _ in range(more)] for row in chosen]


@pytest.mark.parametrize("window", [None, 0, 2])
@pytest.mark.parametrize("seed", range(20))
def test_every_row_is_where_a_reader_of_all_of_it_is(seed: int, window: int | None) -> None:
    random = Random(seed)
    limits = None if window is None else Limits(rollback=window)
    roots = [matcher(random.choice(GRAMMARS), limits) for _ in range(random.randint(1, 3))]
    share = random.randint(1, 4)
    prompts = [[random.randrange(PAD) for _ in range(3)] for _ in roots]
    sequences = Sequences(roots, VOCABULARY, pad_id=PAD)
    groups: list[list[list[int]]] = [[[] for _ in range(share)] for _ in roots]
    for _ in range(60):
        ids = [prompt + row for prompt, rows in zip(prompts, groups, strict=True) for row in rows]
        sequences.follow(np.array(ids))
        found = allowed(sequences)
        wanted = [expected(r, row) for r, rows in zip(roots, groups, strict=True) for row in rows]
        assert found == wanted
        state = random.getstate()
        for item, rows in enumerate(groups):
            # The same shape for all, as in a tensor.
            random.setstate(state)
            groups[item] = mutated(rows, random)
        for rows, root in zip(groups, roots, strict=True):
            for row in rows:  # Mostly what is allowed, or every text would end at once.
                choices = sorted(expected(root, row[:-1]) - {PAD, STOP})
                if choices and random.random() < 0.8:
                    row[-1] = random.choice(choices)


def test_roots_are_not_moved() -> None:
    root = matcher(GRAMMARS[1])
    sequences = Sequences([root], VOCABULARY)
    sequences.follow(np.array([[1]]))
    sequences.follow(np.array([[1, 6]]))
    assert root.rollback_window == 0
    assert root.next_bytes() == b"ac"


def test_a_row_without_a_grammar_is_free() -> None:
    sequences = Sequences([None, matcher(GRAMMARS[2])], VOCABULARY)
    sequences.follow(np.array([[1], [1]]))
    assert allowed(sequences) == [expected(None, []), {0, 3, 6}]
    assert sequences.are_whole(np.array([[1, 5, 5], [1, 5, 5]])) == [True, False]


def test_masks_are_as_wide_as_the_logits() -> None:
    sequences = Sequences([matcher(GRAMMARS[2])], VOCABULARY)
    sequences.follow(np.array([[1]]))
    assert sequences.masks(100).shape == (1, 4)
    assert sequences.masks(1).shape == (1, 1)


def test_which_texts_are_whole() -> None:
    sequences = Sequences([matcher(GRAMMARS[2])], VOCABULARY, pad_id=PAD)
    sequences.follow(np.array([[7]]))

    def judged(*text: int) -> bool:
        rest = [STOP, PAD, PAD, PAD][: 4 - len(text)]
        return sequences.are_whole(np.array([[7, *text, *rest]]))[0]

    assert judged(0)
    assert judged(6)
    assert judged(3, 0, 4)
    assert not judged(3, 0)
    assert not judged(0, 0)
    assert not judged()
    assert not judged(3, 0, 4, 99)
    assert sequences.are_whole(np.array([[7, 0], [7, 3]])) == [True, False]


def ids(*rows: list[int]) -> NDArray[Any]:
    return np.array(rows)


def test_rows_that_do_not_belong_are_refused() -> None:
    sequences = Sequences([matcher(GRAMMARS[0]), None], VOCABULARY)
    with pytest.raises(ValueError, match="no prompts"):
        sequences.are_whole(ids([1], [1]))
    with pytest.raises(ValueError, match="2 matchers, but 3 sequences"):
        sequences.follow(ids([1], [1], [1]))
    sequences.follow(ids([1, 2], [3, 4]))
    for other in (ids([1, 3], [3, 4]), ids([3, 4], [1, 2]), ids([1], [3]), ids([1, 2])):
        with pytest.raises(ValueError, match=r"do not begin|2 matchers"):
            sequences.follow(other)
    sequences.follow(ids([1, 2, 0], [1, 2, 1], [3, 4, 0], [3, 4, 0])[[0, 1, 2, 3]])


def test_a_vocabulary_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="no stop token"):
        Sequences([None], Vocabulary.from_tokens([b"a"]))


def test_an_error_midway_leaves_no_false_place() -> None:
    root = matcher(GRAMMARS[0])
    sequences = Sequences([root], VOCABULARY)
    sequences.follow(ids([1]))
    sequences.follow(ids([1, 3, 0]))
    with pytest.raises(TypeError):
        sequences.follow(np.array([[1, 3, "x"]], dtype=object))
    sequences.follow(ids([1, 3]))
    assert allowed(sequences) == [expected(root, [3])]

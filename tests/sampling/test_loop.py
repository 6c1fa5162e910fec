"""The loop, with a model that only wants to repeat one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import Compiler, Grammar, InternalError, Vocabulary
from stencilm.sampling import Figures, Finish, Step, generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher

STOP = 256
VOCABULARY = Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], stop=[STOP])


class Parrot:
    """Likes the next byte of its text best, then the bytes after it, and never to stop."""

    vocab_size = 257

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.calls: list[list[int]] = []
        self.likes_stop = False

    def encode(self, text: str) -> list[int]:
        """One id for each byte."""
        return list(text.encode())

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Like the bytes that are left."""
        self.calls.append(list(ids))
        logits = np.zeros(self.vocab_size, dtype=np.float32)
        logits[STOP] = 50 if self.likes_stop else -50
        position = sum(map(len, self.calls)) - len(self.calls[0])
        for rank, byte in enumerate(self.text[position:]):
            logits[byte] = max(logits[byte], 20 - rank)
        return logits

    def reset(self) -> None:
        """Start again."""
        self.calls = []


def matcher(pattern: str) -> Matcher:
    return Compiler(VOCABULARY).compile(Grammar.from_regex(pattern)).matcher()


def text(steps: list[Step]) -> bytes:
    return b"".join(VOCABULARY.token_bytes(step.token_id) or b"" for step in steps)


def test_the_text_is_what_the_grammar_allows() -> None:
    steps = list(generate(Parrot(b"hello"), matcher("[^l]{3}[0-9]"), VOCABULARY, [1, 2]))
    assert text(steps) == b"heo0"
    assert steps[-1].finish is Finish.STOP
    assert all(step.finish is None for step in steps[:-1])


def test_certain_tokens_skip_the_model_and_reach_it_in_one_pass() -> None:
    model = Parrot(b"xxxxxxxxxx")
    steps = list(generate(model, matcher("[ab]12345[cd]"), VOCABULARY, [1, 2]))
    assert text(steps) == b"a12345c"
    assert [step.is_forced for step in steps] == [False, *[True] * 5, False]
    assert model.calls == [[1, 2], list(b"a12345")]


def test_without_skipping_the_model_is_asked_each_time() -> None:
    model = Parrot(b"xxxxxxxxxx")
    steps = list(generate(model, matcher("[ab]12[cd]"), VOCABULARY, [1, 2], skip_forced=False))
    assert text(steps) == b"a12c"
    assert not any(step.is_forced for step in steps)
    assert [len(call) for call in model.calls] == [2, 1, 1, 1]


def test_max_tokens_ends_the_text() -> None:
    steps = list(generate(Parrot(b"hello"), matcher("[a-z]*"), VOCABULARY, [1], max_tokens=3))
    assert text(steps) == b"hel"
    assert [step.finish for step in steps] == [None, None, Finish.LENGTH]


def test_a_stop_token_that_the_model_chose_is_a_step() -> None:
    model = Parrot(b"")
    model.likes_stop = True
    steps = list(generate(model, matcher("[a-z]*"), VOCABULARY, [1]))
    assert [(step.token_id, step.finish) for step in steps] == [(STOP, Finish.STOP)]


def test_without_a_matcher_a_stop_token_ends_the_text() -> None:
    model = Parrot(b"")
    model.likes_stop = True
    steps = list(generate(model, None, VOCABULARY, [1]))
    assert [(step.token_id, step.finish) for step in steps] == [(STOP, Finish.STOP)]
    assert steps[0].mask_seconds is None


def test_a_seed_repeats_the_text() -> None:
    def draw(seed: int) -> bytes:
        judge = matcher("[a-z]{30}")
        return text(
            list(generate(Parrot(b""), judge, VOCABULARY, [1], temperature=1, top_p=0.9, seed=seed))
        )

    assert draw(3) == draw(3) != draw(4)


@pytest.mark.parametrize(("temperature", "top_p"), [(-1, 1), (1, 0), (1, 1.5)])
def test_impossible_settings_are_refused(temperature: float, top_p: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        next(generate(Parrot(b""), None, VOCABULARY, [1], temperature=temperature, top_p=top_p))


def test_a_matcher_that_allows_nothing_is_our_bug() -> None:
    class Closed:
        def forced_text(self, most: int) -> bytes:
            return b""

        def fill_mask(self, mask: NDArray[np.int32], row: int = 0) -> None:
            mask[row] = 0

    with pytest.raises(InternalError, match="allows no token"):
        next(generate(Parrot(b""), Closed(), VOCABULARY, [1]))  # type: ignore[arg-type]


def test_figures_count_what_happened() -> None:
    figures = Figures(compile_seconds=1.0)
    for step in generate(Parrot(b"xxxxxxxxxx"), matcher("[ab]12345[cd]"), VOCABULARY, [1, 2]):
        figures.add(step)
    assert figures.tokens == 7
    assert figures.forced == 5
    assert figures.finish is Finish.STOP
    assert figures.first_mask_seconds > 1.0
    assert 0 < figures.mask_seconds(50) <= figures.mask_seconds(99)
    assert 0 < figures.stencil_share < 1
    assert "7 tokens" in figures.line()
    assert "5 tokens forced" in figures.line()
    assert figures.as_dict()["finish"] == "stop"


def test_figures_of_a_free_run_have_no_masks() -> None:
    figures = Figures()
    for step in generate(Parrot(b"hello"), None, VOCABULARY, [1], max_tokens=4):
        figures.add(step)
    assert "mask" not in figures.line()
    assert figures.stencil_share == 0

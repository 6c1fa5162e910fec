"""`stencilm generate`, with a model that likes whatever it is told to like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm.cli.models import byte_vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Run
    from numpy.typing import NDArray

STOP = 256


class Parrot:
    """Writes back its prompt, then stops."""

    vocab_size = 257

    def encode(self, text: str) -> list[int]:
        """One id for each byte."""
        return list(text.encode())

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The prompt alone."""
        self.prompt = len(self.encode(user))
        return self.encode(user)

    def reset(self) -> None:
        """Start again."""
        self.ids: list[int] = []

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Like one id best."""
        self.ids += ids
        logits = np.zeros(257, dtype=np.float32)
        logits[list(b'"}]')] = 1  # What ends a document.
        logits[list(b" \n\r\t")] = -1
        written = len(self.ids) - self.prompt
        logits[self.ids[written] if written < self.prompt else STOP] = 9
        return logits


@pytest.fixture(autouse=True)
def parrot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = {
        "model_path": lambda chosen: tmp_path,
        "load_model": lambda path, engine: Parrot(),
        "load_vocabulary": lambda path, width: byte_vocabulary(),
    }
    for name, stand_in in names.items():
        monkeypatch.setattr(f"stencilm.cli.generate.{name}", stand_in)


def test_the_text_is_held_to_the_grammar(run: Run) -> None:
    outcome = run("generate", "--regex", "[a-z]{3}", "a1bc")
    assert outcome.code == 0
    assert outcome.out == "aab\n"
    assert "tokens forced" in outcome.err


def test_free_is_the_same_without_the_stencil(run: Run) -> None:
    outcome = run("generate", "--free", "--regex", "[a-z]{3}", "a1bc")
    assert outcome.code == 0
    assert outcome.out == "a1bc\n"
    assert "valid for --regex: no" in outcome.err
    assert "mask" not in outcome.err
    assert run("generate", "--free", "a1bc").out == "a1bc\n"


def test_characters_come_whole(run: Run) -> None:
    assert run("generate", "--free", "né 😀").out == "né 😀\n"


def test_for_machines(run: Run, person: Path) -> None:
    outcome = run("generate", "--schema", person, '{"name": "Bo"', "--json-output")
    result = outcome.json
    assert outcome.code == 0
    assert result["is_valid"]
    assert json.loads(result["text"])["name"].startswith("Bo")
    assert result["finish"] == "stop"
    assert result["forced_tokens"] > 0


def test_a_text_cut_off_has_a_code_of_its_own(run: Run) -> None:
    outcome = run("generate", "--regex", "[a-z]{9}", "abc", "--max-tokens", 4)
    assert outcome.code == 3
    assert len(outcome.out.strip()) == 4
    assert "--max-tokens 4 ended it" in outcome.err
    outcome = run("generate", "--regex", "[a-z]{9}", "abc", "--max-tokens", 4, "--json-output")
    assert outcome.code == 3
    assert outcome.json["is_valid"] is False


def test_a_seed_repeats_the_text(run: Run) -> None:
    def draw(seed: int) -> str:
        options = ("--temperature", 2, "--top-p", 0.9, "--seed", seed)
        return run("generate", "--regex", "[a-z]{20}", "abc", *options).out

    assert draw(1) == draw(1) != draw(2)


def test_a_grammar_is_needed(run: Run) -> None:
    outcome = run("generate", "abc")
    assert outcome.code == 2
    assert "--free" in outcome.err


def test_top_p_must_be_above_0(run: Run) -> None:
    assert run("generate", "--json", "abc", "--top-p", 0).code == 2

"""`stencilm bench e2e`, with a model that is a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

MODEL = """
import numpy as np


class Table:
    version = "7"
    vocab_size = 257

    def __init__(self, path, *, threads=None):
        self.logits = np.random.default_rng(0).standard_normal((257, 257)).astype(np.float32)

    def encode(self, text):
        return list(text.encode())

    def chat_prompt(self, user, system=None):
        return self.encode(user)

    def reset(self):
        pass

    def step(self, ids):
        return self.logits[ids[-1]].copy()
"""


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """One token for each byte, in the order of the bytes, and one that stops."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    letters = [chr(b) if b in printable else chr(next(rest)) for b in range(256)]
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken("<|endoftext|>", normalized=False)])
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return path


def test_a_class_of_ones_own(run: Run, write: Write, tokenizer: Path) -> None:
    file = write(MODEL).rename(tokenizer.parent / "table.py")
    options = ["--rounds", 2, "--max-tokens", 40, "--model", tokenizer, "--clock", "cpu"]
    outcome = run("bench", "e2e", "--engine", f"{file}:Table", *options, "--json-output")
    assert outcome.code == 0, outcome.err
    rows = outcome.json["rows"]
    assert [row["grammar"] for row in rows] == ["a person", "many fixed keys"]
    for row in rows:
        assert "error" not in row, row
        assert row["tokens"] == 40
        assert row["version"] == "7"
        assert row["free_seconds"] > 0
        assert row["held_seconds"] >= row["matcher_seconds"] > 0
    assert rows[1]["skipping_forced"] > 20
    shown = run("bench", "e2e", "--engine", f"{file}:Table", *options)
    assert shown.code == 0
    for text in ("table.py:Table 7", "many fixed keys", "overhead", " of 40", "cores"):
        assert text in shown.out


def test_mistakes_are_named(run: Run, write: Write, tokenizer: Path) -> None:
    file = write(MODEL).rename(tokenizer.parent / "table.py")
    for engine, message in (
        ("fast", "there is no engine fast"),
        ("none.py:Table", "there is no file none.py"),
        (f"{file}:Other", "has no Other"),
        ("onnxruntime-genai", "can read none of the models"),
    ):
        outcome = run("bench", "e2e", "--engine", engine, "--model", tokenizer)
        assert message in outcome.out + outcome.err

"""What `load` takes for what."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import load


def test_importing_loads_no_library() -> None:
    code = "import sys, stencilm.vocabularies; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    libraries = {"tokenizers", "transformers", "tiktoken", "sentencepiece", "mistral_common"}
    assert not {*libraries, "gguf"} & set(loaded)


def test_folders_without_or_with_several_vocabularies(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="has no vocabulary"):
        load(tmp_path)
    (tmp_path / "a.tiktoken").write_bytes(b"YQ== 0\n")
    assert load(tmp_path).tokens == [b"a"]
    (tmp_path / "b.tiktoken").write_bytes(b"YQ== 0\n")
    with pytest.raises(VocabularyError, match=r"choose one: a\.tiktoken, b\.tiktoken"):
        load(tmp_path)


def test_what_is_no_vocabulary() -> None:
    with pytest.raises(VocabularyError, match="cannot be read"):
        load("no/such/file")
    with pytest.raises(VocabularyError, match=r"an object of type builtins\.float"):
        load(1.5)
    with pytest.raises(VocabularyError, match="not a SentencePiece model"):
        load(b"")


def test_options_without_a_meaning_are_refused() -> None:
    with pytest.raises(VocabularyError, match="decode= has no meaning for tiktoken"):
        load(b"YQ== 0\n", decode=str.encode)
    with pytest.raises(VocabularyError, match=r"special= has no meaning for tokenizer\.json"):
        load("{}", special={})


def test_other_configurations_must_be_json(tmp_path: Path) -> None:
    (tmp_path / "a.tiktoken").write_bytes(b"YQ== 0\nYg== 1\n")
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 1}')
    assert load(tmp_path).stop == (1,)
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(VocabularyError, match=r"generation_config\.json is not JSON"):
        load(tmp_path)


def damaged(value: Any) -> Iterator[Any]:
    """The value with each of its parts replaced by junk, one at a time."""
    yield from (None, -1, 10**12, "", "junk", "\ud800", [], [[]], {}, {"type": "Sequence"})
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {other: kept for other, kept in value.items() if other != key}
            for changed in damaged(inner):
                yield {**value, key: changed}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            for changed in damaged(inner):
                yield [*value[:index], changed, *value[index + 1 :]]


HUGGING_FACE = {
    "added_tokens": [{"id": 2, "content": "</s>", "special": True}],
    "decoder": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "_"}, "content": " "},
            {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            {"type": "ByteFallback"},
        ],
    },
    "model": {"type": "BPE", "vocab": {"a": 0, "_b": 1}, "merges": [["a", "b"]]},
}
UNIGRAM = {**HUGGING_FACE, "model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -2.0]]}}
TEKKEN = {
    "config": {"default_vocab_size": 4, "default_num_special_tokens": 2},
    "vocab": [
        {"rank": 0, "token_bytes": "AA==", "token_str": None},
        {"rank": 1, "token_bytes": "AQ==", "token_str": None},
    ],
    "special_tokens": [{"rank": 0, "token_str": "<s>", "is_control": True}],
}


@pytest.mark.parametrize("document", [HUGGING_FACE, UNIGRAM, TEKKEN])
def test_damaged_documents_raise_nothing_else(document: dict[str, Any]) -> None:
    assert load(document).size
    refused = 0
    for changed in damaged(document):
        try:
            load(json.dumps(changed).encode())
        except VocabularyError:
            refused += 1
    assert refused > 50


def test_deep_nesting_is_an_error() -> None:
    with pytest.raises(VocabularyError, match="is not JSON"):
        load('{"model": ' + "[" * 100_000)

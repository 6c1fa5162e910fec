"""Tekken files and the objects of mistral_common."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load


@pytest.fixture(scope="module")
def tekken(folder: Callable[[str], Path]) -> Any:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    (path,) = folder("mistral-tekken").glob("*.json")
    return module.MistralTokenizer.from_file(str(path))


def test_every_token(table: Callable[[str], TokenTable], tekken: Any) -> None:
    loaded, library = table("mistral-tekken"), tekken.instruct_tokenizer.tokenizer
    assert (loaded.size, loaded.stop) == (131_072, (library.eos_id,))
    assert len(loaded.special) == 1_000
    for token_id, token in enumerate(loaded.tokens):
        assert library.is_special(token_id) == (token is None)
        assert library.id_to_byte_piece(token_id) == (token or b"")
    for name, token_id in loaded.special.items():
        assert library.id_to_piece(token_id) == name


def test_ids_that_decode_alike_have_bytes_of_their_own(
    table: Callable[[str], TokenTable], tekken: Any
) -> None:
    tokens = [token for token in table("mistral-tekken").tokens if token is not None]
    assert len(set(tokens)) == len(tokens) == 130_072
    library = tekken.instruct_tokenizer.tokenizer
    texts = {library.decode([token_id]) for token_id in range(1_000, 131_072)}
    assert len(texts) < len(tokens)


def test_the_object_gives_the_same(table: Callable[[str], TokenTable], tekken: Any) -> None:
    expected = table("mistral-tekken")
    assert load(tekken) == expected
    assert load(tekken.instruct_tokenizer.tokenizer) == expected


def test_encoded_texts_spell_themselves(
    table: Callable[[str], TokenTable], tekken: Any, texts: list[str]
) -> None:
    tokens = table("mistral-tekken").tokens
    for text in texts:
        ids = tekken.instruct_tokenizer.tokenizer.encode(text, bos=False, eos=False)
        assert b"".join(tokens[token_id] or b"" for token_id in ids) == text.encode()


def test_its_sentencepiece_tokenizers(
    table: Callable[[str], TokenTable], folder: Callable[[str], Path]
) -> None:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.mistral")
    pytest.importorskip("sentencepiece")
    (path,) = folder("mistral-v7-spm").glob("*.model.v7")
    assert load(module.MistralTokenizer.from_file(str(path))) == table("mistral-v7-spm")


def test_listed_special_tokens() -> None:
    document: dict[str, Any] = {
        "config": {"default_vocab_size": 6, "default_num_special_tokens": 4},
        "vocab": [
            {"rank": 0, "token_bytes": "AA==", "token_str": None},
            {"rank": 1, "token_bytes": "AQ==", "token_str": None},
            {"rank": 2, "token_bytes": "Ag==", "token_str": None},
        ],
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 1, "token_str": "<s>", "is_control": True},
            {"rank": 2, "token_str": "</s>", "is_control": True},
        ],
    }
    loaded = load(json.dumps(document))
    assert loaded.tokens == [None, None, None, None, b"\0", b"\1"]
    assert loaded.special["<SPECIAL_3>"] == 3
    assert loaded.stop == (2,)
    document["vocab"][1]["rank"] = 5
    with pytest.raises(VocabularyError, match="rank 5 stands where rank 1 should"):
        load(document)
    document["config"]["default_vocab_size"] = 9
    with pytest.raises(VocabularyError, match="3 ranks are too few for 5"):
        load(document)
    with pytest.raises(VocabularyError, match="not a Tekken file"):
        load({"config": {}, "vocab": []})

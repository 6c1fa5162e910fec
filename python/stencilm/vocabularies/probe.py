"""Check a table against the tokenizer's own `decode`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Literal

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies.table import TokenTable

__all__ = ["Decode", "probe"]

Decode = Callable[[list[int]], str]
"""From token ids to text, without clean-up of spaces."""

_TEXTS = (
    "x . , ! ? : it 's we 've they 're I 'm do n't a ' b ' .",
    " \t\n  \r\n    x  ",
    "é ß 漢字 العربية 👩🏽‍🚀 e\u0301",
    '{"key": [1.5e-3, true, null]}',
)
_BYTE_PIECE = re.compile("<0x[0-9A-F]{2}>")
_CLEANED = re.compile(r" +(?=[.,?!'n])|(?<=') ")
"""The spaces that clean-up may take."""


def probe(table: TokenTable, decode: Decode, *, samples: int = 48) -> Literal["keep", "strip"]:
    """Compare `decode(ids)` with the joined bytes for sampled sequences of text tokens.

    `decode` must not clean up spaces: with transformers that is
    `decode(ids, clean_up_tokenization_spaces=False)`, whatever the tokenizer's configuration says.
    A text decoded with clean-up is not the text that was constrained.

    >>> table = TokenTable(tokens=[b"a", b" b"])
    >>> probe(table, lambda ids: "".join(("a", " b")[token_id] for token_id in ids))
    'keep'

    Args:
        table: What was loaded.
        decode: The tokenizer's own decoder.
        samples: How many random sequences to try, besides some fixed texts.

    Returns:
        What the decoder does with a space at the very start of a text.

    Raises:
        VocabularyError: They differ, with the cause where it can be told.
    """
    stripped: set[bool] = set()
    for ids in _sequences(table, samples):
        expected = b"".join(table.tokens[token_id] or b"" for token_id in ids).decode()
        text = decode(ids)
        if text == expected:
            if expected.startswith(" "):
                stripped.add(False)
        elif text in (expected.removeprefix(" "), expected.lstrip(" ")):
            stripped.add(True)
        else:
            raise VocabularyError(
                f"{_cause(expected, text)}: decode({ids}) is {text!r}, "
                f"but the tokens spell {expected!r}"
            )
    if len(stripped) == 2:
        raise VocabularyError("decode drops the first space of some texts and keeps it in others")
    return "strip" if True in stripped else "keep"


def _sequences(table: TokenTable, samples: int) -> Iterator[list[int]]:
    ids = {token: token_id for token_id, token in enumerate(table.tokens) if token is not None}
    longest = max(map(len, ids), default=0)
    for text in _TEXTS:
        for limit in (longest, 1):
            if spelled := _spell(text.encode(), ids, limit):
                yield spelled
    text_ids = [token_id for token, token_id in ids.items() if _is_text(token)]
    # A decoder that drops the first space may drop every space of the first token.
    first_ids = [
        token_id for token_id in text_ids if b" " not in (table.tokens[token_id] or b"")[1:]
    ]
    if first_ids:
        source = random.Random(0)
        for _ in range(samples):
            rest = source.choices(text_ids, k=source.randint(1, 12))
            yield [source.choice(first_ids), *rest]


def _spell(text: bytes, ids: dict[bytes, int], limit: int) -> list[int]:
    """The longest tokens that spell the text; empty if it cannot be spelled."""
    spelled: list[int] = []
    start = 0
    while start < len(text):
        for end in range(min(start + limit, len(text)), start, -1):
            if text[start:end] in ids:
                spelled.append(ids[text[start:end]])
                start = end
                break
        else:
            return []
    return spelled


def _is_text(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def _cause(expected: str, text: str) -> str:
    if text == expected.strip():
        return "decode strips the text"
    if len(text) < len(expected) and _cleaned(text) == _cleaned(expected):
        return "decode cleans up spaces (clean_up_tokenization_spaces)"
    if text.replace(" ", "") == expected.replace(" ", ""):
        return "decode adds or removes spaces"
    if _BYTE_PIECE.search(text) and not _BYTE_PIECE.search(expected):
        return "decode writes byte tokens as <0xNN>"
    if "\ufffd" in text:
        return "decode does not join the bytes of its tokens"
    return "decode does not spell what its tokens spell"


def _cleaned(text: str) -> str:
    return _CLEANED.sub("", text).strip()

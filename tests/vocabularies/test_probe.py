"""What breaks the contract is named."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import TokenTable, load, probe

TABLE = load([bytes([byte]) for byte in range(256)] + [b" .", b" x", b"n't", b" 's", None])


def joined(table: TokenTable, ids: list[int]) -> str:
    return b"".join(table.tokens[token_id] or b"" for token_id in ids).decode(errors="replace")


def test_a_faithful_decoder_passes() -> None:
    assert probe(TABLE, lambda ids: joined(TABLE, ids)) == "keep"


def test_a_dropped_first_space_is_reported() -> None:
    assert probe(TABLE, lambda ids: joined(TABLE, ids).removeprefix(" ")) == "strip"
    assert probe(TABLE, lambda ids: joined(TABLE, ids).lstrip(" ")) == "strip"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(" .", ".").replace(" n't", "n't"), "decode cleans up spaces"),
        (lambda text: text.replace(" ", "  "), "decode adds or removes spaces"),
        (lambda text: text.encode("ascii", "replace").decode(), "does not spell"),
        (lambda text: text.strip(), "decode strips the text"),
    ],
)
def test_what_breaks_it_is_named(change: Callable[[str], str], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        probe(TABLE, lambda ids: change(joined(TABLE, ids)))


def test_decoding_one_by_one_is_named() -> None:
    def decode(ids: list[int]) -> str:
        return "".join(joined(TABLE, [token_id]) for token_id in ids)

    with pytest.raises(VocabularyError, match="does not join the bytes"):
        probe(TABLE, decode)

"""`tiktoken`'s encodings and its rank files."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._options import finish, require_dense
from stencilm.vocabularies.probe import probe

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options
    from stencilm.vocabularies.table import TokenTable

__all__ = ["from_encoding", "load"]

_END = "<|endoftext|>"


def load(
    source: str | PathLike[str] | bytes,
    *,
    special: Mapping[str, int] | None = None,
    **options: Unpack[Options],
) -> TokenTable:
    """The tokens of a rank file: one line a token, its bytes in base64 and its id.

    >>> load(b"YQ== 0", special={"<|endoftext|>": 1}).stop
    (1,)

    Args:
        source: A path or the file's bytes.
        special: The names and ids of the special tokens, which the file does not have.
        **options: See `Options`. `<|endoftext|>` is a stop token if it is among `special`.

    Raises:
        VocabularyError: The file is not a rank file.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    ranks: dict[int, bytes] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            spelled, token_id = base64.b64decode(token, validate=True), int(rank)
        except ValueError:
            raise VocabularyError(f"line {number} is not a token and a rank: {line!r}") from None
        if token_id < 0 or token_id in ranks:
            raise VocabularyError(f"line {number} has the rank {token_id}, negative or used before")
        ranks[token_id] = spelled
    special = special or {}
    size = max([*ranks, *special.values()], default=-1) + 1
    require_dense(size, len(ranks) + len(special))
    stop = [_END] if _END in special else []
    return finish(map(ranks.get, range(size)), special, stop, **options)


def from_encoding(encoding: Any, **options: Unpack[Options]) -> TokenTable:
    """The tokens of a `tiktoken.Encoding`, compared with its own `decode`.

    `<|endoftext|>` is a stop token; chat models end their messages with others, say so in `stop`.
    """
    special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
    special_ids = set(special.values())
    tokens: list[bytes | None] = []
    for token_id in range(encoding.n_vocab):
        try:
            token = encoding.decode_single_token_bytes(token_id)
        except KeyError:
            token = None
        tokens.append(None if token_id in special_ids else token)
    stop = [_END] if _END in special else []
    special = dict(sorted(special.items(), key=lambda item: item[1]))
    table = finish(tokens, special, stop, **options)
    probe(table, encoding.decode)
    return table

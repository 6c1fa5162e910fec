"""Mistral's tokenizers: Tekken files, and the objects of `mistral_common`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import sentencepiece
from stencilm.vocabularies._json_text import parse
from stencilm.vocabularies._options import finish, require_dense
from stencilm.vocabularies.probe import probe

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options
    from stencilm.vocabularies.table import TokenTable

__all__ = ["load", "load_tekken"]

_END = "</s>"

_FIRST_SPECIAL = (
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] "
    "[/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] "
    "[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
)
"""The special tokens of files that do not list theirs."""


def load(tokenizer: Any, **options: Unpack[Options]) -> TokenTable:
    """The tokens of a `mistral_common` tokenizer, compared with its own `decode`.

    Args:
        tokenizer: A `MistralTokenizer`, its instruct tokenizer, or a `Tekkenizer` or
            `SentencePieceTokenizer`.
        **options: See `Options`.
    """
    tokenizer = getattr(tokenizer, "instruct_tokenizer", tokenizer)
    tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
    if hasattr(tokenizer, "id_to_byte_piece"):
        count = tokenizer.num_special_tokens
        special = {tokenizer.id_to_piece(token_id): token_id for token_id in range(count)}
        text_ids = range(count, tokenizer.n_words)
        tokens = [*([None] * count), *map(tokenizer.id_to_byte_piece, text_ids)]
        table = finish(tokens, special, [_END] if _END in special else [], **options)
    elif hasattr(tokenizer, "file_path"):
        table = sentencepiece.load(tokenizer.file_path, **options)
    else:
        raise VocabularyError(f"{type(tokenizer).__name__} has no table of the bytes of its tokens")
    probe(table, tokenizer.decode)
    return table


def load_tekken(
    source: str | PathLike[str] | bytes | Mapping[str, Any], **options: Unpack[Options]
) -> TokenTable:
    """The tokens of a Tekken file: special tokens first, then the ranks that the size leaves.

    Args:
        source: A path, the file's bytes, or its parsed content.
        **options: See `Options`.

    Raises:
        VocabularyError: The file is not a Tekken file.
    """
    if not isinstance(source, Mapping):
        source = parse(source if isinstance(source, bytes) else Path(source).read_bytes())
    try:
        special = _special(source)
        tokens = _ranked(source, len(special))
    except (AttributeError, KeyError, TypeError) as error:
        raise VocabularyError(f"this is not a Tekken file: {error!r}") from error
    return finish(tokens, special, [_END] if _END in special else [], **options)


def _ranked(document: Mapping[str, Any], special_count: int) -> list[bytes | None]:
    size = document["config"]["default_vocab_size"] - special_count
    vocabulary = document["vocab"][:size]
    if not 0 < len(vocabulary) == size:
        raise VocabularyError(f"{len(vocabulary)} ranks are too few for {size} text tokens")
    tokens: list[bytes | None] = [None] * special_count
    for rank, entry in enumerate(vocabulary):
        if entry["rank"] != rank:
            raise VocabularyError(f"rank {entry['rank']} stands where rank {rank} should")
        try:
            tokens.append(base64.b64decode(entry["token_bytes"], validate=True))
        except ValueError:
            raise VocabularyError(f"the bytes of rank {rank} are not base64") from None
    return tokens


def _special(document: Mapping[str, Any]) -> dict[str, int]:
    count = document["config"]["default_num_special_tokens"]
    require_dense(count, len(document["vocab"]))
    listed = document.get("special_tokens")
    if listed is None:
        special = {name: token_id for token_id, name in enumerate(_FIRST_SPECIAL.split())}
    else:
        special = {token["token_str"]: token["rank"] for token in listed}
    used = set(special.values())
    if not used <= set(range(count)):
        raise VocabularyError(f"special tokens have ranks outside 0..{count - 1}: {sorted(used)}")
    for token_id in range(count):
        if token_id not in used:
            special[f"<SPECIAL_{token_id}>"] = token_id
    if len(special) != count:
        raise VocabularyError(f"{len(special)} special tokens are listed for {count} ids")
    return special

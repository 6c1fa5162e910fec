"""The vocabulary inside a GGUF file, spelled as llama.cpp spells it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._byte_level import byte_level
from stencilm.vocabularies._decoders import byte_fallback
from stencilm.vocabularies._gguf_file import read_metadata
from stencilm.vocabularies._gguf_pre import WAYS
from stencilm.vocabularies._gguf_special import special_ids, stop_ids
from stencilm.vocabularies._options import finish

if TYPE_CHECKING:
    from typing import Unpack

    from tokenizers import Tokenizer

    from stencilm.vocabularies._gguf_file import Metadata
    from stencilm.vocabularies._options import Options
    from stencilm.vocabularies.table import TokenTable

__all__ = ["encoder", "load"]

_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_BYTE_LEVEL = "gpt2"
_WITH_SPACE_SIGN = ("llama", "gemma4")


def load(source: str | PathLike[str] | Any, **options: Unpack[Options]) -> TokenTable:
    """The tokens of a GGUF file: byte-level BPE and SentencePiece vocabularies.

    Args:
        source: A path, or a `gguf.GGUFReader`.
        **options: See `Options`.

    Raises:
        VocabularyError: The file's kind of vocabulary does not give each token bytes of its own.
    """
    fields = _fields(source)
    pieces, kinds = _pieces(fields)
    model = fields.get("tokenizer.ggml.model")
    if model != _BYTE_LEVEL and model not in _WITH_SPACE_SIGN:
        known = ", ".join(map(repr, (_BYTE_LEVEL, *_WITH_SPACE_SIGN)))
        raise VocabularyError(f"the GGUF vocabulary {model!r} cannot be used, only {known}")
    id_of = {piece: token_id for token_id, piece in enumerate(pieces)}
    stop = stop_ids(fields, id_of)
    textless = {*stop, *special_ids(fields, id_of)}
    special: dict[str, int] = {}
    tokens: list[bytes | None] = []
    for token_id, (piece, kind) in enumerate(zip(pieces, kinds, strict=True)):
        if kind in (_CONTROL, _UNKNOWN) or token_id in textless:
            special[piece] = token_id
        tokens.append(_spell(piece, kind, is_byte_level=model == _BYTE_LEVEL))
    return finish(tokens, special, stop, **options)


def encoder(source: str | PathLike[str] | Any) -> Tokenizer:
    """A `tokenizers.Tokenizer` that encodes as the byte-level BPE vocabulary of a GGUF file does.

    No normalizer is used, as in llama.cpp, and no token is added at the start.

    Raises:
        VocabularyError: It is another kind of vocabulary, or `tokenizer.ggml.pre` names a way to
            cut text that is not known here.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

    fields = _fields(source)
    model, pre = fields.get("tokenizer.ggml.model"), fields.get("tokenizer.ggml.pre")
    if model != _BYTE_LEVEL:
        raise VocabularyError(f"the GGUF vocabulary {model!r} is not byte-level BPE")
    way = WAYS.get(str(pre))
    if way is None:
        known = ", ".join(sorted(WAYS))
        raise VocabularyError(f"the GGUF pre-tokenizer {pre!r} is not known, only {known}")
    pieces, kinds = _pieces(fields)
    merges = fields.get("tokenizer.ggml.merges")
    if not isinstance(merges, list):
        raise VocabularyError("the GGUF file has no merges")
    pairs = [(left, right) for left, _, right in (str(pair).partition(" ") for pair in merges)]
    vocabulary = {piece: token_id for token_id, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs, ignore_merges=way.whole_words_first))
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in way.patterns]
    alphabet = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, alphabet])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(
        [
            AddedToken(piece, special=kind == _CONTROL, normalized=False)
            for piece, kind in zip(pieces, kinds, strict=True)
            if kind in (_CONTROL, _USER_DEFINED)
        ]
    )
    return tokenizer


def _fields(source: str | PathLike[str] | Any) -> Metadata:
    if isinstance(source, str | PathLike):
        return read_metadata(source)
    prefix = "tokenizer.ggml."
    fields = source.fields.items()
    return {name: field.contents() for name, field in fields if name.startswith(prefix)}


def _pieces(fields: Metadata) -> tuple[list[str], list[int]]:
    pieces = fields.get("tokenizer.ggml.tokens")
    if not isinstance(pieces, list):
        raise VocabularyError("the GGUF file has no tokens")
    kinds = fields.get("tokenizer.ggml.token_type", [_NORMAL] * len(pieces))
    if not isinstance(kinds, list) or len(kinds) != len(pieces):
        raise VocabularyError("the GGUF file does not have one type for each token")
    return [str(piece) for piece in pieces], [int(kind) for kind in kinds]


def _spell(piece: str, kind: int, *, is_byte_level: bool) -> bytes | None:
    """What llama.cpp prints for a token. A piece outside the byte alphabet is not text."""
    if kind == _NORMAL and is_byte_level:
        return byte_level(piece)
    if kind == _NORMAL:
        return piece.replace("▁", " ").encode("utf-8", "surrogateescape")
    if kind == _BYTE:
        return byte_fallback(piece)
    # llama.cpp prints these as they are written: Gemma spells runs of spaces with spaces here.
    return piece.encode("utf-8", "surrogateescape") if kind == _USER_DEFINED else None

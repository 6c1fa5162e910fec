"""A Hugging Face `tokenizer.json`, read without the library that wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._decoders import read_decoder
from stencilm.vocabularies._json_text import parse
from stencilm.vocabularies._options import finish
from stencilm.vocabularies._pieces import Pieces, config_stop, decoder_notes

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options, SpellPiece
    from stencilm.vocabularies.table import TokenTable

__all__ = ["WORD_PIECE", "load"]

WORD_PIECE = (
    "WordPiece tokens cannot be used: how a token is spelled depends on its neighbours "
    "(pass decode= to say what each one spells)"
)


def load(
    source: str | PathLike[str] | bytes | Mapping[str, Any],
    *,
    config: Mapping[str, Any] | None = None,
    decode: SpellPiece | None = None,
    **options: Unpack[Options],
) -> TokenTable:
    """The tokens of a `tokenizer.json`.

    A special token is what the file, or the configuration, marks as special. Other added tokens
    (`<think>`, runs of white space) are text: the decoder emits them.

    >>> load({"model": {"type": "BPE", "vocab": {"Ġa": 0}}, "decoder": {"type": "ByteLevel"},
    ...       "added_tokens": [{"id": 1, "content": "</s>", "special": True}]}, stop="</s>")
    TokenTable(tokens=[b' a', None], special={'</s>': 1}, stop=(1,), leading_space='keep', notes=())

    Args:
        source: A path, the file's text or bytes, or its parsed content.
        config: The content of the `tokenizer_config.json` beside it.
        decode: What one token spells, instead of what the file's decoder says.
        **options: See `Options`.

    Raises:
        VocabularyError: The decoder does not give each token bytes of its own.
    """
    document, config = _read(source), config or {}
    try:
        pieces = _pieces(document, config)
        notes: list[str] = []
        if decode is None:
            if _is_word_piece(document["model"]):
                raise VocabularyError(WORD_PIECE)
            decoder = read_decoder(document.get("decoder"))
            cleans_up = bool(config.get("clean_up_tokenization_spaces"))
            notes.extend(decoder_notes(decoder, cleans_up=cleans_up))
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
        raise VocabularyError(f"this tokenizer.json is damaged: {error!r}") from error
    spelled = pieces.spell(decoder.spell if decode is None else decode)
    return finish(spelled, pieces.special, config_stop(config), notes, **options)


def _pieces(document: Mapping[str, Any], config: Mapping[str, Any]) -> Pieces:
    model = document.get("model")
    if not isinstance(model, Mapping) or "vocab" not in model:
        raise VocabularyError("this is not a tokenizer.json: it has no model with a vocabulary")
    pieces = Pieces(_vocabulary(model))
    for token in document.get("added_tokens") or ():
        pieces.add(token["content"], special=token.get("special", False))
    pieces.add_configured(config)
    return pieces


def _read(source: str | PathLike[str] | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    if isinstance(source, str) and source.lstrip().startswith("{"):
        source = source.encode()
    return parse(source if isinstance(source, bytes) else Path(source).read_bytes())


def _vocabulary(model: Mapping[str, Any]) -> Mapping[str, int]:
    vocabulary = model["vocab"]
    if isinstance(vocabulary, Mapping):
        return vocabulary
    return {entry[0]: token_id for token_id, entry in enumerate(vocabulary)}


def _is_word_piece(model: Mapping[str, Any]) -> bool:
    # Old files do not name the type of their model.
    return model.get("type") == "WordPiece" or "max_input_chars_per_word" in model

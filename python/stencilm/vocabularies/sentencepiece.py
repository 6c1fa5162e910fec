"""SentencePiece models, as files or as processors of the `sentencepiece` library."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._decoders import byte_fallback
from stencilm.vocabularies._options import finish
from stencilm.vocabularies._sentencepiece_model import BYTE, CONTROL, UNKNOWN, read_model
from stencilm.vocabularies.probe import probe

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options
    from stencilm.vocabularies.table import TokenTable

__all__ = ["SPACE", "load"]

SPACE = "▁"
"""How a piece writes a space."""


def load(
    source: str | PathLike[str] | bytes | Any,
    **options: Unpack[Options],
) -> TokenTable:
    """The tokens of a SentencePiece model.

    The file is read without a library. A processor object is compared with its own `decode`.

    Args:
        source: A path, the file's bytes, or a `SentencePieceProcessor`.
        **options: See `Options`.

    Raises:
        VocabularyError: It is not a model, or it changes text when it decodes.
    """
    processor: Any = None
    if isinstance(source, bytes):
        content = source
    elif isinstance(source, str | PathLike):
        content = Path(source).read_bytes()
    else:
        processor = source
        content = processor.serialized_model_proto()
    model = read_model(content)
    if model.denormalizes:
        raise VocabularyError("the model's denormalizer rewrites text when it decodes")
    if model.space_is_suffix:
        raise VocabularyError("the model writes spaces behind words (treat_whitespace_as_suffix)")
    tokens: list[bytes | None] = []
    special: dict[str, int] = {}
    for token_id, (piece, kind) in enumerate(model.pieces):
        if kind in (CONTROL, UNKNOWN):
            special[piece] = token_id
            tokens.append(None)
        elif kind == BYTE:
            tokens.append(byte_fallback(piece))
        else:
            tokens.append(piece.replace(SPACE, " ").encode())
    stop = [model.eos_piece] if model.eos_piece in special else []
    notes = ["decode drops a space at the very start of a text"] if model.strips_first_space else []
    table = finish(tokens, special, stop, notes, **options)
    if processor is not None:
        probe(table, processor.decode)
    return table

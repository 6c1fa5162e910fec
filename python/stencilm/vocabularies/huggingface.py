"""Tokenizer objects of `transformers` (fast and slow) and of `tokenizers`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import mistral, sentencepiece, tiktoken
from stencilm.vocabularies._decoders import read_decoder
from stencilm.vocabularies._options import finish
from stencilm.vocabularies._pieces import Pieces, decoder_notes
from stencilm.vocabularies.probe import probe
from stencilm.vocabularies.tokenizer_json import WORD_PIECE

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options, SpellPiece, Stop
    from stencilm.vocabularies.probe import Decode
    from stencilm.vocabularies.table import TokenTable

__all__ = ["load"]


def load(
    tokenizer: Any, *, decode: SpellPiece | None = None, **options: Unpack[Options]
) -> TokenTable:
    """The tokens of a tokenizer object, compared with its own `decode`.

    The comparison is made with the clean-up of spaces off, even where the tokenizer's
    configuration has it on; the table's notes say so then.

    Args:
        tokenizer: A `transformers` tokenizer or a `tokenizers.Tokenizer`.
        decode: What one token spells, for a tokenizer whose own tables do not say.
        **options: See `Options`. `stop` takes a generation config's `eos_token_id` as it is.

    Raises:
        VocabularyError: The tokenizer does not give each token bytes of its own.
    """
    if decode is not None:
        return _spelled_by_caller(tokenizer, decode, **options)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None and hasattr(tokenizer, "id_to_token"):
        table = _fast(tokenizer, None, **options)
        probe(table, lambda ids: str(tokenizer.decode(ids, skip_special_tokens=False)))
        return table
    if backend is not None:
        table = _fast(backend, tokenizer, **options)
    elif hasattr(tokenizer, "sp_model"):
        table = _slow_sentencepiece(tokenizer, **options)
    elif (encoding := _encoding(tokenizer)) is not None:
        base = tiktoken.from_encoding(encoding)
        special = {**base.special, **_slow_special(tokenizer)}
        table = finish(base.tokens, special, _stop_of(tokenizer), **options)
    elif hasattr(tokenizer, "byte_decoder"):
        table = _slow_byte_level(tokenizer, **options)
    elif _library(getattr(tokenizer, "tokenizer", None)) == "mistral_common":
        return mistral.load(tokenizer.tokenizer, **options)
    else:
        raise VocabularyError(
            f"{type(tokenizer).__name__} has no table of the bytes of its tokens that is known "
            "here (pass decode= to say what each one spells)"
        )
    probe(table, _decode_of(tokenizer))
    return table


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _encoding(tokenizer: Any) -> Any | None:
    """The tiktoken encoding that a checkpoint's own tokenizer class holds, if any."""
    held = (getattr(tokenizer, name, None) for name in ("model", "tokenizer", "encoder"))
    return next((value for value in held if _library(value) == "tiktoken"), None)


def _decode_of(tokenizer: Any) -> Decode:
    return lambda ids: str(
        tokenizer.decode(
            ids,
            skip_special_tokens=False,
            clean_up_tokenization_spaces=False,
            spaces_between_special_tokens=False,
        )
    )


def _fast(backend: Any, tokenizer: Any, **options: Unpack[Options]) -> TokenTable:
    if type(backend.model).__name__ == "WordPiece":
        raise VocabularyError(WORD_PIECE)
    decoder = read_decoder(_state(backend.decoder))
    pieces = _fast_pieces(backend)
    special = {**pieces.special, **_named_special(tokenizer)}
    cleans_up = bool(getattr(tokenizer, "clean_up_tokenization_spaces", False))
    notes = decoder_notes(decoder, cleans_up=cleans_up)
    return finish(pieces.spell(decoder.spell), special, _stop_of(tokenizer), notes, **options)


def _state(decoder: Any) -> dict[str, Any] | None:
    if decoder is None:
        return None
    try:
        state: dict[str, Any] = json.loads(decoder.__getstate__())
    except Exception as error:  # What the library raises has no type of its own.
        raise VocabularyError(f"the decoder cannot be looked into: {error}") from error
    return state


def _fast_pieces(backend: Any) -> Pieces:
    pieces = Pieces(backend.get_vocab(with_added_tokens=False))
    for _, token in sorted(backend.get_added_tokens_decoder().items()):
        pieces.add(token.content, special=token.special)
    return pieces


def _slow_sentencepiece(tokenizer: Any, **options: Unpack[Options]) -> TokenTable:
    base = sentencepiece.load(tokenizer.sp_model)
    tokens, special = list(base.tokens), dict(base.special)
    for token_id, token in _added(tokenizer).items():
        tokens.extend([None] * (token_id + 1 - len(tokens)))
        tokens[token_id] = token.content.encode()
        if token.special:
            special[token.content] = token_id
    special.update(_named_special(tokenizer))
    return finish(tokens, special, _stop_of(tokenizer), base.notes, **options)


def _slow_byte_level(tokenizer: Any, **options: Unpack[Options]) -> TokenTable:
    byte_of: Mapping[str, int] = tokenizer.byte_decoder
    added = _added(tokenizer)
    tokens: list[bytes | None] = []
    for token_id in range(_size(tokenizer)):
        if token_id in added:
            tokens.append(added[token_id].content.encode())
        else:
            piece = tokenizer.convert_ids_to_tokens(token_id) or ""
            if not byte_of.keys() >= set(piece):
                raise VocabularyError(f"token {token_id}, {piece!r}, is not in the byte alphabet")
            tokens.append(bytes(byte_of[character] for character in piece))
    return finish(tokens, _slow_special(tokenizer), _stop_of(tokenizer), **options)


def _spelled_by_caller(
    tokenizer: Any, decode: SpellPiece, **options: Unpack[Options]
) -> TokenTable:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "id_to_token"):
        pieces = _fast_pieces(backend)
        special = {**pieces.special, **_named_special(tokenizer)}
        return finish(pieces.spell(decode), special, _stop_of(tokenizer), **options)
    special = _slow_special(tokenizer)
    special_ids = set(special.values())
    tokens: list[bytes | None] = []
    for token_id in range(_size(tokenizer)):
        piece = tokenizer.convert_ids_to_tokens(token_id)
        tokens.append(None if piece is None or token_id in special_ids else decode(piece))
    return finish(tokens, special, _stop_of(tokenizer), **options)


def _added(tokenizer: Any) -> Mapping[int, Any]:
    return getattr(tokenizer, "added_tokens_decoder", {})


def _size(tokenizer: Any) -> int:
    # The length that a tokenizer in plain Python gives may leave out its last added tokens.
    return max(len(tokenizer), max(_added(tokenizer), default=-1) + 1)


def _named_special(tokenizer: Any) -> dict[str, int]:
    """What `transformers` calls special by name; it may be more than its backend marks."""
    names = getattr(tokenizer, "all_special_tokens", ())
    ids = getattr(tokenizer, "all_special_ids", ())
    return {
        str(name): token_id
        for name, token_id in zip(names, ids, strict=True)
        if token_id is not None
    }


def _slow_special(tokenizer: Any) -> dict[str, int]:
    added = _added(tokenizer).items()
    special = {token.content: token_id for token_id, token in added if token.special}
    return {**special, **_named_special(tokenizer)}


def _stop_of(tokenizer: Any) -> Stop:
    token_id = getattr(tokenizer, "eos_token_id", None)
    return () if token_id is None else token_id

"""What a SentencePiece model file says about its pieces: the few fields that matter here.

The file is a protocol buffer (`sentencepiece_model.proto`); reading it takes no library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stencilm._exceptions import VocabularyError

__all__ = ["BYTE", "CONTROL", "UNKNOWN", "SentencePieceModel", "read_model"]

UNKNOWN, CONTROL, BYTE = 2, 3, 6
"""Types of pieces that are not their own text."""

_PIECES, _TRAINER, _NORMALIZER, _DENORMALIZER = 1, 2, 3, 5
_EOS_PIECE, _SPACE_IS_SUFFIX = 47, 24
_CHARACTER_MAP, _DUMMY_PREFIX, _EXTRA_SPACES = 2, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePieceModel:
    """The part of a model that decides how tokens are spelled."""

    pieces: list[tuple[str, int]]
    """Text and type of each id."""
    eos_piece: str
    strips_first_space: bool
    space_is_suffix: bool
    denormalizes: bool


def read_model(content: bytes) -> SentencePieceModel:
    r"""Read a model file.

    >>> read_model(b"\x0a\x07\x0a\x03</s\x18\x03").pieces
    [('</s', 3)]

    Raises:
        VocabularyError: It is not one.
    """
    pieces: list[tuple[str, int]] = []
    eos_piece, space_is_suffix, denormalizes = "</s>", False, False
    dummy_prefix, removes_spaces = True, True
    try:
        for number, value in _fields(content):
            if number == _PIECES:
                pieces.append(_piece(_bytes(value)))
            elif number == _TRAINER:
                trainer = dict(_fields(_bytes(value)))
                eos_piece = _bytes(trainer.get(_EOS_PIECE, b"</s>")).decode()
                space_is_suffix = bool(trainer.get(_SPACE_IS_SUFFIX, 0))
            elif number == _NORMALIZER:
                normalizer = dict(_fields(_bytes(value)))
                dummy_prefix = bool(normalizer.get(_DUMMY_PREFIX, 1))
                removes_spaces = bool(normalizer.get(_EXTRA_SPACES, 1))
            elif number == _DENORMALIZER:
                denormalizes = bool(dict(_fields(_bytes(value))).get(_CHARACTER_MAP, b""))
    except (ValueError, IndexError) as error:
        raise VocabularyError(f"this is not a SentencePiece model: {error}") from None
    if not pieces:
        raise VocabularyError("this is not a SentencePiece model: it has no pieces")
    return SentencePieceModel(
        pieces=pieces,
        eos_piece=eos_piece,
        strips_first_space=dummy_prefix or removes_spaces,
        space_is_suffix=space_is_suffix,
        denormalizes=denormalizes,
    )


def _piece(message: bytes) -> tuple[str, int]:
    fields = dict(_fields(message))
    kind = fields.get(3, 1)
    if not isinstance(kind, int):
        raise ValueError("the type of a piece is not a number")
    return _bytes(fields.get(1, b"")).decode(), kind


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number stands where a message should be")
    return value


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of one message: number and value, nested messages as bytes."""
    position, end = 0, len(message)
    while position < end:
        tag, position = _varint(message, position)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, position = _varint(message, position)
            yield number, value
            continue
        if wire == 2:
            length, position = _varint(message, position)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire} at byte {position}")
        if number == 0 or position + length > end:
            raise ValueError(f"field {number} of {length} bytes at byte {position}")
        yield number, message[position : position + length]
        position += length


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError(f"a number at byte {position} does not end")

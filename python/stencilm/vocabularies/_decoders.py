"""The decoder of a `tokenizer.json`, read as "the bytes of one token".

A decoder there is a chain of steps over the list of all tokens. It gives each token its own bytes
as long as no step looks at a token's neighbours; the steps that do are refused by name. The one
exception is the space that many drop at the very start of a text, see `PieceDecoder`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._byte_level import byte_level

__all__ = ["PieceDecoder", "byte_fallback", "read_decoder"]

_REASONS = {
    "WordPiece": "it joins pieces with spaces and cleans spaces up before punctuation",
    "BPEDecoder": "it drops the space after a text's last word",
    "CTC": "it merges repeated tokens",
}

_BYTE_PIECE = re.compile(r"<0x([+0-9A-Fa-f][0-9A-Fa-f])>")


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceDecoder:
    """How a decoder spells one token."""

    spell: Callable[[str], bytes]
    strips_first_space: bool
    """Whether a space at the very start of a text is dropped."""


def byte_fallback(piece: str) -> bytes:
    r"""The byte that a piece like `<0x0A>` stands for, or the piece's own UTF-8.

    >>> byte_fallback("<0x0A>"), byte_fallback("<0x>")
    (b'\n', b'<0x>')
    """
    if len(piece) == 6 and (match := _BYTE_PIECE.fullmatch(piece)):
        return bytes([int(match[1], 16)])
    return piece.encode()


def read_decoder(decoder: dict[str, Any] | None) -> PieceDecoder:
    """Interpret the `decoder` member of a `tokenizer.json`.

    >>> gemma = {"type": "Sequence", "decoders": [
    ...     {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    ...     {"type": "ByteFallback"}, {"type": "Fuse"}]}
    >>> read_decoder(gemma).spell("▁the")
    b' the'

    Raises:
        VocabularyError: The decoder does not give each token bytes of its own.
    """
    if decoder is None:
        raise VocabularyError("the tokenizer has no decoder, so tokens are joined with spaces")
    chain = _Chain()
    chain.add(decoder)
    return PieceDecoder(spell=chain.spell, strips_first_space=chain.strips_first_space)


class _Chain:
    """The steps so far. They work on pieces, then on bytes, then on the whole text."""

    def __init__(self) -> None:
        self._edits: list[Callable[[str], str]] = []
        self._to_bytes: Callable[[str], bytes] | None = None
        self._fused = False
        self.strips_first_space = False

    def spell(self, piece: str) -> bytes:
        for edit in self._edits:
            piece = edit(piece)
        return (self._to_bytes or str.encode)(piece)

    def add(self, step: dict[str, Any]) -> None:
        kind = step.get("type")
        match kind:
            case "Sequence":
                for inner in step["decoders"]:
                    self.add(inner)
            case "ByteLevel":
                self._convert(kind, _byte_level_or_utf8)
                self._fused = True
            case "ByteFallback":
                self._convert(kind, byte_fallback)
            case "Fuse":
                self._fused = True
            case "Replace":
                self._edit(kind, _replacement(step))
            case "Metaspace":
                self._edit(kind, _replacer(step["replacement"], " "))
                self.strips_first_space |= _prepends(step)
            case "Strip":
                self._strip(step)
            case _:
                reason = _REASONS.get(str(kind), "what it does to a token is not known here")
                raise VocabularyError(f"the decoder step {kind!r} cannot be used: {reason}")

    def _edit(self, kind: str, edit: Callable[[str], str]) -> None:
        if self._fused or self._to_bytes is not None:
            raise VocabularyError(f"the decoder step {kind!r} comes after the tokens were joined")
        self._edits.append(edit)

    def _convert(self, kind: str, to_bytes: Callable[[str], bytes]) -> None:
        if self._fused or self._to_bytes is not None:
            raise VocabularyError(f"the decoder step {kind!r} comes after the tokens were joined")
        self._to_bytes = to_bytes

    def _strip(self, step: dict[str, Any]) -> None:
        character, start, stop = step["content"], step["start"], step["stop"]
        if not self._fused:
            self._edit("Strip", _stripper(character, start, stop))
        elif (character, start, stop) == (" ", 1, 0):
            self.strips_first_space = True
        elif start or stop:
            raise VocabularyError(
                f"the decoder step 'Strip' takes {start} {character!r} from a text's start and "
                f"{stop} from its end; only one space from the start can be used"
            )


def _byte_level_or_utf8(piece: str) -> bytes:
    spelled = byte_level(piece)
    return piece.encode() if spelled is None else spelled


def _replacement(step: dict[str, Any]) -> Callable[[str], str]:
    pattern = step["pattern"]
    if "String" not in pattern:
        raise VocabularyError(f"the decoder step 'Replace' has the pattern {pattern}, not a string")
    return _replacer(pattern["String"], step["content"])


def _replacer(old: object, new: object) -> Callable[[str], str]:
    if not isinstance(old, str) or not isinstance(new, str) or not old:
        raise VocabularyError(f"the decoder replaces {old!r} by {new!r}")
    return lambda piece: piece.replace(old, new)


def _stripper(character: object, start: object, stop: object) -> Callable[[str], str]:
    if not isinstance(character, str) or not isinstance(start, int) or not isinstance(stop, int):
        raise VocabularyError(f"the decoder strips {start!r} and {stop!r} of {character!r}")

    def strip(piece: str) -> str:
        first = min(start, len(piece) - len(piece.lstrip(character)))
        last = min(stop, len(piece) - first - len(piece[first:].rstrip(character)))
        return piece[first : len(piece) - last]

    return strip


def _prepends(step: dict[str, Any]) -> bool:
    default = "always" if step.get("add_prefix_space", True) else "never"
    return bool(step.get("prepend_scheme", default) != "never")

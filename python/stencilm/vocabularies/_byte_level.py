"""The alphabet in which byte-level vocabularies write bytes as visible characters."""

from __future__ import annotations

__all__ = ["BYTE_OF_CHARACTER", "byte_level"]


def _alphabet() -> dict[str, int]:
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in set(visible)]
    alphabet = {chr(byte): byte for byte in visible}
    alphabet.update({chr(0x100 + index): byte for index, byte in enumerate(hidden)})
    return alphabet


BYTE_OF_CHARACTER = _alphabet()
"""GPT-2's alphabet: printable bytes of Latin-1 stand for themselves, the others for U+0100 on."""


def byte_level(piece: str) -> bytes | None:
    r"""The bytes of a piece; None if it is not written in the alphabet.

    >>> byte_level("Ġé"), byte_level("two words")
    (b' \xe9', None)
    """
    try:
        return bytes(map(BYTE_OF_CHARACTER.__getitem__, piece))
    except KeyError:
        return None

"""Show a place in a text: line, column, and a caret under it."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

__all__ = ["Place", "show_bytes", "show_token"]

_WIDTH = 72
_ESCAPES = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x20: "space", 0x22: '"', 0x5C: "\\"}
_NON_ASCII = frozenset(range(0xC2, 0xF5))


@dataclass(frozen=True, slots=True)
class Place:
    r"""A byte of a text.

    >>> place = Place.at(b"one\ntwo three", 8)
    >>> place.line, place.column
    (2, 5)
    >>> print(place.caret())
      two three
          ^
    """

    line: int
    """From 1."""
    column: int
    """In characters, from 1."""
    text: str
    """The whole line."""

    @classmethod
    def at(cls, text: bytes, offset: int) -> Place:
        """The place of `text[offset]`; its length is the place after the end."""
        begin = text.rfind(b"\n", 0, offset) + 1
        end = text.find(b"\n", offset)
        line = text[begin : end if end >= 0 else len(text)]
        before = line[: offset - begin].decode("utf-8", "replace")
        return cls(
            text.count(b"\n", 0, begin) + 1, len(before) + 1, line.decode("utf-8", "replace")
        )

    def caret(self) -> Text:
        """The line, cut around the place where it is long, and a caret under it."""
        start = max(0, self.column - 1 - _WIDTH // 2)
        shown = _printable(self.text[start : start + _WIDTH])
        left, right = "…" * (start > 0), "…" * (start + _WIDTH < len(self.text))
        spaces = " " * (2 + len(left) + self.column - 1 - start)
        return Text.assemble(f"  {left}{shown}{right}\n{spaces}", ("^", "bold red"))


def show_bytes(allowed: bytes) -> str:
    r"""Sorted bytes, for people: runs as ranges, text beyond ASCII as one word.

    >>> show_bytes(b'\n "0123456789ab')
    '\\n space " 0-9 a b'
    """
    some = set(allowed)
    words: list[str] = []
    beyond_ascii = some >= _NON_ASCII
    if beyond_ascii:
        some = {byte for byte in some if byte < 0x80}
    for first, last in _runs(sorted(some)):
        if last - first < 2:
            words += [_name(byte) for byte in range(first, last + 1)]
        else:
            words.append(f"{_name(first)}-{_name(last)}")
    return " ".join([*words, "(beyond ASCII)"] if beyond_ascii else words)


def show_token(text: bytes) -> str:
    r"""A token's bytes as a quoted text; what is not whole UTF-8 as \x escapes.

    >>> show_token(b" caf\xc3\xa9\xe2\x82")
    '" café\\xe2\\x82"'
    """
    shown = text.decode("utf-8", "backslashreplace")
    return f'"{_printable(shown, tabs=False)}"'


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def _name(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x21 <= byte < 0x7F else f"\\x{byte:02x}"


def _printable(text: str, *, tabs: bool = True) -> str:
    """The same number of characters where `tabs`; no control character reaches the terminal."""
    if tabs:
        return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in text)
    escapes = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(
        c if c.isprintable() else escapes.get(c) or c.encode("unicode_escape").decode()
        for c in text
    )

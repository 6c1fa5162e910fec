"""Show a place in a text: line, column, and a caret under it."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from stencilm._explanation import show as show_token
from stencilm._explanation import show_bytes

__all__ = ["Place", "show_bytes", "show_token"]

_WIDTH = 72


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


def _printable(text: str) -> str:
    """The same number of characters; no control character reaches the terminal."""
    return "".join(c if c.isprintable() else " " if c == "\t" else "�" for c in text)

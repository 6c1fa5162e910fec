"""Why a token or a text may not come: the answer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Explanation", "Reason"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One thing that forbids it.

    >>> print(Reason(place="/properties/age", keyword="type", message="an integer is required"))
    /properties/age: an integer is required
    """

    place: str
    """Where the schema stands that says so, as a JSON Pointer. Empty for the whole grammar, and for
    an option."""
    keyword: str
    """The keyword; the name of an option; empty for a schema that is `false`."""
    message: str
    """In words."""

    @property
    def pointer(self) -> str:
        """The place of the keyword, as in `Grammar.report`."""
        return f"{self.place}/{self.keyword}" if self.keyword else self.place

    def __str__(self) -> str:
        return f"{self.place or '/'}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a token or a text may not come. `str()` of it is the whole in words."""

    offset: int
    """The first byte of the token or text that may not come; its length for the end of the text."""
    found: bytes
    """The character at this byte; empty for the end of the text."""
    place: str
    """Where the text stands in the JSON value, as a JSON Pointer; empty for other grammars."""
    expected: bytes
    """The bytes that could have come instead, in rising order."""
    expected_text: bytes
    """The text that must come, as far as there is no choice."""
    may_stop: bool
    """Whether the text could have ended before this byte."""
    reasons: tuple[Reason, ...]
    """What forbids it. Empty if that was not found, or not looked for, which needs `before` and a
    JSON Schema."""
    is_joint: bool
    """Whether all reasons forbid it together, each by itself; else each stands for another way on:
    without any one of them it could come."""

    def __str__(self) -> str:
        found = show(self.found) if self.found else "the end"
        lines = [f"byte {self.offset}: {found} may not come here"]
        if self.place:
            lines[0] += f", in {self.place}"
        lines += map(str, self.reasons)
        options = [show(self.expected_text)] if self.expected_text else []
        if not options and self.expected:
            options = [show_bytes(self.expected)]
        options += ["the end"] * self.may_stop
        lines.append(f"could have come: {' or '.join(options) or 'nothing'}")
        return "\n".join(lines)


_ESCAPES = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x20: "space", 0x22: '"', 0x5C: "\\"}
_NON_ASCII = frozenset(range(0xC2, 0xF5))


def show(text: bytes) -> str:
    r"""Bytes as a quoted text; what is not whole UTF-8 or not printable as escapes.

    >>> show(b" caf\xc3\xa9\xe2\x82")
    '" café\\xe2\\x82"'
    """
    escapes = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    shown = "".join(
        c if c.isprintable() else escapes.get(c) or c.encode("unicode_escape").decode()
        for c in text.decode("utf-8", "backslashreplace")
    )
    quote = "'" if '"' in shown and "'" not in shown else '"'
    return f"{quote}{shown}{quote}"


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

"""Where the beginning of a JSON text stands: the containers around, and what is being written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import Enum, auto

__all__ = ["Level", "Standing", "Writing", "stand"]

_TOKEN = re.compile(
    rb'[ \t\r\n]+|"(?:[^"\\]|\\.)*"|(?P<open>"(?:[^"\\]|\\.)*\\?)\Z'
    rb"|(?P<scalar>[-+.0-9A-Za-z]+)|[\[\]{},:]",
    re.DOTALL,
)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class Writing(Enum):
    """What comes next, or is under way."""

    VALUE = auto()
    """A value begins, or an array ends."""
    STRING = auto()
    """Inside a string."""
    SCALAR = auto()
    """Inside a number or a literal, or just after one."""
    NAME = auto()
    """A name begins, or an object ends."""
    IN_NAME = auto()
    COLON = auto()
    AFTER = auto()
    """A value is complete."""


@dataclass(slots=True)
class Level:
    """An object or array that is open."""

    is_object: bool
    names: list[str] = field(default_factory=list)
    """The names so far; that of the member under way is the last one."""
    count: int = 0
    """The items or members so far; what is under way counts."""


@dataclass(slots=True)
class Standing:
    """Where a text stands."""

    levels: list[Level]
    writing: Writing
    begin: int
    """Where the string, number or name under way begins; else the end of the text."""
    path: tuple[str | int, ...]
    """The steps to the value under way; between members, to the container."""
    around: tuple[str | int, ...]
    """The steps to the innermost container."""

    def name(self, text: bytes) -> tuple[str, int]:
        """The name that is under way in a longer text, and its end; 0 if it is not whole."""
        whole = _STRING.match(text, self.begin)
        if whole:
            try:
                return str(json.loads(whole[0])), whole.end()
            except ValueError:
                pass
        raw = text[self.begin + 1 :].decode("utf-8", "ignore")
        return re.sub(r"\\u?[0-9A-Fa-f]{0,3}\Z", "", raw), 0


def stand(text: bytes) -> Standing:
    """Where the beginning of a JSON text stands.

    >>> standing = stand(b'{"a": [1, "x')
    >>> standing.path, standing.writing
    (('a', 1), <Writing.STRING: 2>)
    """
    levels: list[Level] = []
    writing, begin, at = Writing.VALUE, 0, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            break
        begin, at = at, found.end()
        first = text[begin : begin + 1]
        if found["open"] is not None:
            writing = Writing.IN_NAME if writing is Writing.NAME else Writing.STRING
            return Standing(levels, writing, begin, *_paths(levels, writing))
        if found["scalar"] is not None:
            writing = Writing.SCALAR if at == len(text) else Writing.AFTER
        elif first == b'"' and writing is Writing.NAME:
            levels[-1].names.append(_decoded(found[0]))
            levels[-1].count += 1
            writing = Writing.COLON
        elif first == b'"':
            writing = Writing.AFTER
        elif first in b"{[":
            levels.append(Level(first == b"{"))
            writing = Writing.NAME if first == b"{" else Writing.VALUE
        elif first in b"}]":
            if levels:
                levels.pop()
            writing = Writing.AFTER
        elif first == b",":
            is_object = bool(levels) and levels[-1].is_object
            writing = Writing.NAME if is_object else Writing.VALUE
            if levels and not is_object:
                levels[-1].count += 1
        elif first == b":":
            writing = Writing.VALUE
    if writing is not Writing.SCALAR:
        begin = len(text)
    return Standing(levels, writing, begin, *_paths(levels, writing))


def _decoded(raw: bytes) -> str:
    try:
        return str(json.loads(raw))
    except ValueError:
        return raw[1:-1].decode("utf-8", "replace")


def _paths(
    levels: list[Level], writing: Writing
) -> tuple[tuple[str | int, ...], tuple[str | int, ...]]:
    steps: list[str | int] = [
        level.names[-1] if level.is_object and level.names else level.count for level in levels
    ]
    is_between = writing in (Writing.NAME, Writing.IN_NAME, Writing.COLON, Writing.AFTER)
    around = tuple(steps[:-1])
    return around if is_between else tuple(steps), around

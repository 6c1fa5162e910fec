"""The metadata of a GGUF file, as far as it concerns the tokenizer.

The `gguf` library reads the whole file into objects, seconds for a large vocabulary; this reads
the few fields that are needed and skips the others.
"""

from __future__ import annotations

import mmap
import struct
from os import PathLike
from pathlib import Path

from stencilm._exceptions import VocabularyError

__all__ = ["Metadata", "read_metadata"]

Metadata = dict[str, int | float | str | list[int] | list[float] | list[str]]
"""Fields by name. Strings that are not UTF-8 keep their bytes as surrogate escapes."""

_PREFIX = "tokenizer."
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_SCALARS[12] = "d"
_STRING, _ARRAY = 8, 9


def read_metadata(path: str | PathLike[str]) -> Metadata:
    """The fields of a GGUF file whose names begin with `tokenizer.`.

    Raises:
        VocabularyError: It is not a GGUF file of version 2 or 3.
    """
    with Path(path).open("rb") as file:
        if file.read(4) != b"GGUF":
            raise VocabularyError("this is not a GGUF file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            try:
                return _Reader(content).fields()
            except (struct.error, IndexError, OverflowError, RecursionError) as error:
                raise VocabularyError(f"this GGUF file is damaged: {error}") from None


class _Reader:
    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._position = 4
        # A file in the other byte order has its version in the upper half.
        self._order = "<" if content[4:6] != b"\0\0" else ">"

    def fields(self) -> Metadata:
        version = self._scalar("I")
        if version not in (2, 3):
            raise VocabularyError(f"GGUF version {version} cannot be read, only 2 and 3")
        _tensors, count = self._scalar("Q"), int(self._scalar("Q"))
        fields: Metadata = {}
        for _ in range(count):
            name = self._string()
            kind = int(self._scalar("I"))
            if not name.startswith(_PREFIX):
                self._skip(kind)
            elif kind == _ARRAY:
                fields[name] = self._array()
            else:
                fields[name] = self._string() if kind == _STRING else self._scalar(_code(kind))
        return fields

    def _scalar(self, code: str) -> int | float:
        layout = struct.Struct(self._order + code)
        value: int | float
        (value,) = layout.unpack_from(self._content, self._position)
        self._position += layout.size
        return value

    def _string(self) -> str:
        start = self._position + 8
        end = start + int(self._scalar("Q"))
        if end > len(self._content):
            raise IndexError(f"a string at byte {start} does not end")
        self._position = end
        return self._content[start:end].decode("utf-8", "surrogateescape")

    def _array(self) -> list[int] | list[float] | list[str]:
        kind, count = int(self._scalar("I")), int(self._scalar("Q"))
        if kind == _STRING:
            return [self._string() for _ in range(self._checked(count, 8))]
        code = _code(kind)
        layout = struct.Struct(f"{self._order}{self._checked(count, struct.calcsize(code))}{code}")
        values = list(layout.unpack_from(self._content, self._position))
        self._position += layout.size
        return values

    def _skip(self, kind: int) -> None:
        if kind == _STRING:
            length = int(self._scalar("Q"))
            self._position += length
        elif kind != _ARRAY:
            self._position += struct.calcsize(_code(kind))
        else:
            inner, count = int(self._scalar("I")), int(self._scalar("Q"))
            if inner in _SCALARS:
                self._position += count * struct.calcsize(_code(inner))
            else:
                for _ in range(self._checked(count, 8)):
                    self._skip(inner)

    def _checked(self, count: int, size: int) -> int:
        """A count, unless that many elements of that size pass the end of the file."""
        if count * size > len(self._content) - self._position:
            raise IndexError(f"an array of {count} at byte {self._position} does not end")
        return count


def _code(kind: int) -> str:
    try:
        return _SCALARS[kind]
    except KeyError:
        raise VocabularyError(f"this GGUF file has a value of the unknown type {kind}") from None

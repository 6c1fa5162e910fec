"""Everything this package raises.

    StencilmError
        GrammarError            the grammar you passed; also a ValueError
            GrammarSyntaxError  it is not a grammar in its language
            UnsupportedError    it asks for something we cannot enforce exactly
            UnsatisfiableError  no output at all can satisfy it
        LimitError              your Limits were too small for it
        VocabularyError         the vocabulary you passed; also a ValueError
        InternalError           our bug: please report it
        Cancelled               you asked for the work to stop, and it did

A refused token is not in this list: `Matcher.accept` returns False.
"""

from __future__ import annotations

__all__ = [
    "Cancelled",
    "GrammarError",
    "GrammarSyntaxError",
    "InternalError",
    "LimitError",
    "StencilmError",
    "UnsatisfiableError",
    "UnsupportedError",
    "VocabularyError",
]


class StencilmError(Exception):
    """Base class of every exception raised here."""


class GrammarError(StencilmError, ValueError):
    """The grammar cannot be used.

    `location` is a byte offset into a text, or a JSON Pointer into a schema.
    """

    def __init__(self, message: str, location: int | str) -> None:
        super().__init__(message)
        self.location = location


class GrammarSyntaxError(GrammarError):
    """The text is not a grammar in its language."""


class UnsupportedError(GrammarError):
    """The grammar asks for something that cannot be enforced exactly."""


class UnsatisfiableError(GrammarError):
    """No output at all can satisfy the grammar."""


class LimitError(StencilmError):
    """A field of `Limits` was reached."""


class VocabularyError(StencilmError, ValueError):
    """The vocabulary cannot be used, or a token id is not in it."""


class InternalError(StencilmError):
    """A bug in this package."""


class Cancelled(StencilmError):
    """The work was cancelled before it was done."""

"""The exceptions of XGrammar's interface: all of them are `RuntimeError`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from stencilm import StencilmError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DeserializeFormatError",
    "DeserializeVersionError",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "runtime_errors",
]


class DeserializeFormatError(RuntimeError):
    """What was saved is not of this kind, or not for this vocabulary."""


class DeserializeVersionError(RuntimeError):
    """What was saved is of another version, or of another engine."""


class InvalidJSONError(RuntimeError):
    """A text that is no JSON."""


class InvalidStructuralTagError(RuntimeError):
    """JSON that is no structural tag, or one that is refused."""


@contextmanager
def runtime_errors(kind: type[RuntimeError] = RuntimeError) -> Iterator[None]:
    """Our errors as those that callers of XGrammar catch; ours is the cause.

    >>> with runtime_errors():
    ...     raise StencilmError("no")
    Traceback (most recent call last):
    RuntimeError: no
    """
    try:
        yield
    except StencilmError as error:
        raise kind(str(error)) from error

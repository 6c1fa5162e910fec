"""Settings of the process that XGrammar has.

Nothing here recurses over its input: the depth is kept and told, and never reached.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "get_max_recursion_depth",
    "get_serialization_version",
    "max_recursion_depth",
    "set_max_recursion_depth",
]

_SERIALIZATION_VERSION = "stencilm-1"
_MOST = 1_000_000
_depth = 10_000


def get_max_recursion_depth() -> int:
    """The depth that was set.

    >>> get_max_recursion_depth()
    10000
    """
    return _depth


def set_max_recursion_depth(max_recursion_depth: int) -> None:
    """Sets the depth, for the whole process.

    Raises:
        RuntimeError: It is not between 1 and 1,000,000.
    """
    global _depth
    if not 0 < max_recursion_depth <= _MOST:
        raise RuntimeError(f"the depth is between 1 and {_MOST}, and not {max_recursion_depth}")
    _depth = max_recursion_depth


@contextmanager
def max_recursion_depth(temp_depth: int) -> Iterator[None]:
    """Sets the depth for a while.

    >>> with max_recursion_depth(50):
    ...     get_max_recursion_depth()
    50
    """
    before = get_max_recursion_depth()
    set_max_recursion_depth(temp_depth)
    try:
        yield
    finally:
        set_max_recursion_depth(before)


def get_serialization_version() -> str:
    """The version in everything that `serialize_json` writes.

    It is not one of XGrammar's: neither can read what the other wrote.
    """
    return _SERIALIZATION_VERSION

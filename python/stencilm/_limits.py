"""What one grammar may cost."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from functools import cached_property

from stencilm import _core

__all__ = ["Limits"]

_MOST_SECONDS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Upper bounds for one grammar. Reaching one raises `LimitError` with the field's name.

    Raises:
        ValueError: A field is negative or beyond any sense.

    >>> Limits(nesting=50).rollback
    1024
    """

    nesting: int = 250
    """How deep the choices and repetitions of one rule nest, and the groups of a regex."""
    source_bytes: int = 16 << 20
    """Bytes of one source text."""
    rules: int = 1_000_000
    """Named rules, also those made on demand."""
    expressions: int = 4_000_000
    """Expressions made for one grammar (about 300 MB)."""
    repeat: int = 2_000_000_000
    """Largest repetition count of a pattern or of EBNF. Bounds of a schema may be any number."""
    items: int = 10_000
    """Live alternatives of one state: what an ambiguous grammar may cost."""
    captures: int = 1_000_000
    """Captured spans compared for one byte of a text that may be read in several ways."""
    alternatives: int = 1_000
    """Alternatives of one type that a JSON Schema may come to, combinations counted, and dynamic
    scopes of its references."""
    number_digits: int = 2_000
    """Digits of a divisor of numbers, and of a bound beside one."""
    search: int = 50_000
    """Expressions looked at to decide whether an intersection is empty."""
    mask_work: int = 50_000_000
    """Trie nodes walked for one mask (about a second)."""
    grammar_bytes: int = 64 << 20
    """Bytes of one compiled grammar's tables; past it they are begun anew."""
    compile_time: float = 10.0
    """Seconds that reading and compiling one grammar may take."""
    rollback: int = 1_024
    """Steps that a matcher can give back."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            most = _MOST_SECONDS if name == "compile_time" else sys.maxsize
            if not 0 <= value <= most:
                raise ValueError(f"{name} cannot be {value}: it is between 0 and {most}")

    @cached_property
    def _core(self) -> _core.Limits:
        return _core.Limits(**asdict(self))

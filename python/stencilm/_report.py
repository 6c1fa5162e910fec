"""What a grammar made of a source: the accounting."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Report"]

Line = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What is enforced, exactly or narrower, and what is not. Lines are (JSON Pointer, text).

    >>> print(Report(enforced=[("/type", "type")], narrower=[], annotations=[], widened=[]))
    enforced: /type: type
    """

    enforced: list[Line]
    """Enforced exactly."""
    narrower: list[Line]
    """Enforced, but some legal texts are left out; the text says which."""
    annotations: list[Line]
    """Says nothing about which texts are valid."""
    widened: list[Line]
    """Not enforced, because the caller asked for `unsupported="widen"`."""

    def __str__(self) -> str:
        parts = ("enforced", "narrower", "annotations", "widened")
        return "\n".join(
            f"{part}: {pointer or '(root)'}: {text}"
            for part in parts
            for pointer, text in getattr(self, part)
        )

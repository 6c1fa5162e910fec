"""How families of models write calls: read from `tool_formats`, one file each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from stencilm.tags import Style

__all__ = ["Family", "families", "family_of"]

STYLES = get_args(Style)


@dataclass(frozen=True, slots=True)
class Family:
    """How some models write calls. `$NAME` stands for a tool's name, `$ID` for a call's."""

    name: str
    models: tuple[str, ...]
    call: tuple[str, str]
    """Before and after the arguments."""
    trigger: str | None = None
    """What every call begins with, where no section is around them."""
    section: tuple[str, str] | None = None
    """Before the first and after the last call."""
    is_section_common: bool = False
    """Whether the section's first mark is common in text: it is one only where a call follows."""
    separator: str = ""
    """Between two calls."""
    style: str = "json"
    """How arguments are written."""
    id: str | None = None
    """A regular expression for `$ID`."""
    think: tuple[str, str] | None = None
    """Around reasoning."""
    text: tuple[str, str] | None = None
    """Around text, where text is never free."""
    between: str | None = None
    """Between reasoning, calls and text, where each has marks of its own."""
    tail: str = ""
    """At the very end."""
    excludes: tuple[str, ...] = ()
    """What no text may have inside, arguments included."""
    also: tuple[tuple[str, str], ...] = ()
    """Other ways to write a call."""

    def __post_init__(self) -> None:
        if (self.trigger is None) == (self.section is None and self.between is None):
            raise ValueError(f"{self.name}: either a trigger, or a section or marks of its own")
        if "$NAME" not in self.call[0] or ("$ID" in "".join(self.call)) != (self.id is not None):
            raise ValueError(f"{self.name}: a call has $NAME, and $ID if there is a pattern for it")
        if self.is_section_common and (self.section is None or self.id is not None):
            raise ValueError(f"{self.name}: a common mark is that of a section, without $ID")
        if self.style not in STYLES:
            raise ValueError(f"{self.name}: there is no style {self.style}")
        if any("$NAME" not in begin or "$ID" in begin + end for begin, end in self.also):
            raise ValueError(f"{self.name}: another way to write a call has $NAME, and no $ID")
        if self.trigger is not None and not self.call[0].startswith(self.trigger):
            raise ValueError(f"{self.name}: a call begins with the trigger")


@cache
def families() -> tuple[str, ...]:
    """The names of all families.

    >>> "harmony" in families()
    True
    """
    folder = files("stencilm") / "tool_formats"
    names = [file.name.removesuffix(".json") for file in folder.iterdir()]
    return tuple(sorted(names))


@cache
def _read(name: str) -> Family:
    text = (files("stencilm") / "tool_formats" / f"{name}.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    fields = {key: _frozen(value) for key, value in read.items()}
    return Family(name=name, **fields)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def family_of(family: str | Family) -> Family:
    """The family itself, or the one of this name.

    Raises:
        ValueError: There is none.
    """
    if isinstance(family, Family):
        return family
    if family not in families():
        raise ValueError(f"there is no family {family!r}; there are {', '.join(families())}")
    return _read(family)

"""What a keyword asks for, in words."""

from __future__ import annotations

from typing import Any

from stencilm.explaining.instance import Standing, Writing
from stencilm.explaining.places import encode

__all__ = ["in_words", "option_in_words", "short"]

_MOST = 60
_TYPES = {
    "null": "null",
    "boolean": "true or false",
    "number": "a number",
    "integer": "an integer",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def short(value: Any) -> str:
    """A value as JSON, cut if it is long."""
    text = encode(value)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def in_words(keyword: str, value: Any, standing: Standing, name: str | None, place: str) -> str:
    """What a keyword with this value says against what comes next.

    Args:
        keyword: The keyword; empty for a schema that is `false`.
        value: Its value.
        standing: Where the text stands.
        name: The member name that is refused, or its beginning with `…`.
        place: The container as a JSON Pointer into the value.
    """
    if keyword == "type":
        return f"{_types(value)} is required here"
    if keyword in ("required", "dependentRequired"):
        return _missing(keyword, value, standing, name, place)
    if name is not None and keyword in ("additionalProperties", "unevaluatedProperties", ""):
        rule = f"{keyword}: {short(value)}" if keyword else "its schema is false"
        return f"no member `{name}` may come here ({rule})"
    subject = "the name" if name is not None else "the string"
    said = {
        "": "nothing may come here: the schema is false",
        "additionalItems": f"no more items may come here (additionalItems: {short(value)})",
        "additionalProperties": f"no such member may come here ({keyword}: {short(value)})",
        "anyOf": f"none of the {_count(value)} alternatives of anyOf allows this",
        "const": f"only {short(value)} is allowed here",
        "contains": "the items that `contains` asks for are missing or too many",
        "else": "the `else` of a condition forbids this",
        "enum": f"only one of {short(value)} is allowed here",
        "exclusiveMaximum": f"the number must be less than {short(value)}",
        "exclusiveMinimum": f"the number must be greater than {short(value)}",
        "format": f"{subject} is no {value}",
        "if": "a condition (if … then … else) forbids this",
        "items": f"no such item may come here (items: {short(value)})",
        "maxContains": f"there are more than {short(value)} of the items that `contains` asks for",
        "maximum": f"the number must be at most {short(value)}",
        "maxItems": f"the array has more items than maxItems {short(value)}",
        "maxLength": f"{subject} is longer than maxLength {short(value)}",
        "maxProperties": f"the object has more members than maxProperties {short(value)}",
        "minContains": f"fewer than {short(value)} of the items that `contains` asks for came",
        "minimum": f"the number must be at least {short(value)}",
        "minItems": f"the array has fewer items than minItems {short(value)}",
        "minLength": f"{subject} is shorter than minLength {short(value)}",
        "minProperties": f"the object has fewer members than minProperties {short(value)}",
        "multipleOf": f"the number must be a multiple of {short(value)}",
        "not": "what `not` describes is forbidden here",
        "oneOf": f"none of the {_count(value)} alternatives of oneOf allows this",
        "pattern": f"{subject} does not match the pattern {value}",
        "propertyNames": "no such name may come here",
        "then": "the `then` of a condition forbids this",
        "unevaluatedItems": f"no more items may come here (unevaluatedItems: {short(value)})",
        "uniqueItems": "this item came already",
    }
    return said.get(keyword, f"`{keyword}` forbids this")


def option_in_words(option: str, value: Any, name: str | None) -> str:
    """What an option says against it."""
    if option == "key_order":
        return f"{_member(name)} comes too late: the names come in the order of the schema"
    if option == "additional":
        return f"{_member(name)} may not come at this place ({option}: {value or 'after_required'})"
    if option == "escapes":
        return f"names and listed strings are not written like this (escapes: {value or 'plain'})"
    if option == "numbers":
        return "no number is written like this, only in plain digits"
    return "no white space may come here, or other white space"


def _member(name: str | None) -> str:
    return "the member" if name is None else f"the member `{name}`"


def _types(value: Any) -> str:
    names = value if isinstance(value, list) else [value]
    return " or ".join(_TYPES.get(name, short(name)) for name in names)


def _missing(keyword: str, value: Any, standing: Standing, name: str | None, place: str) -> str:
    came = set(standing.levels[-1].names) if standing.levels else set()
    if keyword == "required":
        names = [n for n in value if n not in came] if isinstance(value, list) else []
    else:
        groups = (needed for n, needed in value.items() if n in came)
        names = [n for needed in groups for n in needed if n not in came]
    missing = ", ".join(f"`{n}`" for n in dict.fromkeys(names)) or "a member"
    are = "is" if len(names) < 2 else "are"
    if standing.writing in (Writing.IN_NAME, Writing.NAME) and name is not None:
        return f"{missing} {are} required, and could not come after `{name}`"
    kind = "a required member" if len(names) < 2 else "required members"
    if keyword == "dependentRequired":
        kind += " (dependentRequired)"
    return f"{missing} {are} missing: {kind} of {place or '/'}"


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0

"""Arguments that are one value: JSON, Gemma's notation, what stands in a call of Python."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["NOTATIONS", "Notation"]


@dataclass(frozen=True, slots=True)
class Notation:
    """Where a value begins and ends, without looking at what is inside, and what it is."""

    first: str
    """What it begins with; nothing where its brackets are part of the call."""
    last: str
    """What ends it, outside of brackets and strings, where it has no brackets of its own."""
    quotes: tuple[str, ...]
    escapes: bool
    read: Callable[[str], Any]
    """Raises ValueError, SyntaxError, RecursionError or MemoryError for what is no value."""

    def signs(self, quote: str) -> re.Pattern[str]:
        """What counts inside of a string that began with this quote, or outside of strings."""
        if quote:
            return re.compile(re.escape(quote) + (r"|\\" if self.escapes else ""))
        quotes = "|".join(map(re.escape, self.quotes))
        return re.compile(rf"{quotes}|[{{}}\[\]()]" if self.last else rf"{quotes}|[{{}}\[\]]")


def _json(text: str) -> Any:
    return json.loads(text, strict=False)


def _python(text: str) -> Any:
    """The arguments of a call. `null`, `true` and `false` are read as well."""
    call = ast.parse(f"f({text})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("an argument has no name")
    found: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in found:
            raise ValueError("an argument has no name of its own")
        found[keyword.arg] = _literal(keyword.value)
    return found


_WORDS = {"null": None, "true": True, "false": False}


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        names = [_literal(name) if name is not None else None for name in node.keys]
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a name is no string")
        return dict(zip(names, map(_literal, node.values), strict=True))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _literal(node.operand)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    raise ValueError("a value is no literal")


def _bare(quote: str) -> Callable[[str], Any]:
    """Reads objects whose names have no quotes, and whose strings stand between two marks."""
    parts = re.compile(
        rf"\s*(?:{re.escape(quote)}(?P<string>(?s:.)*?){re.escape(quote)}"
        rf"|(?P<sign>[{{}}\[\],:])|(?P<bare>[^{{}}\[\],:]+))"
    )

    def read(text: str) -> Any:
        return _json("".join(_as_json(parts, text)))

    return read


_BARE_WORDS = {"none": "null", "nil": "null"}


def _as_json(parts: re.Pattern[str], text: str) -> list[str]:
    """The same as JSON, part by part."""
    out: list[str] = []
    opened: list[str] = []
    is_name = False
    at = 0
    while at < len(text):
        part = parts.match(text, at)
        if part is None:
            if text[at:].strip():
                raise ValueError("a part is none")
            break
        at = part.end()
        if sign := part["sign"]:
            out.append(sign)
            if sign in "{[":
                opened.append(sign)
            elif sign in "}]" and opened:
                opened.pop()
            is_name = sign in "{," and opened[-1:] == ["{"]
        elif part["string"] is not None:
            out.append(json.dumps(part["string"]))
            is_name = False
        else:
            out.append(json.dumps(part["bare"].strip()) if is_name else _word(part["bare"].strip()))
            is_name = False
    return out


def _word(word: str) -> str:
    """A number or a truth value as it is; what is neither is a string without its marks."""
    known = _BARE_WORDS.get(word.lower(), word)
    try:
        json.loads(known)
    except ValueError:
        return json.dumps(word)
    return known


NOTATIONS = {
    "json": Notation("{", "", ('"',), True, _json),
    "gemma": Notation("{", "", ('<|"|>',), False, _bare('<|"|>')),
    "function_gemma": Notation("{", "", ("<escape>",), False, _bare("<escape>")),
    "pythonic": Notation("", ")", ("'", '"'), True, _python),
}

"""What a request says of tools: their schemas, which may be called, how an answer looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from stencilm import GrammarSyntaxError, function_schema

__all__ = ["Choice", "ToolLike", "read_choice", "read_response", "read_tools"]

ToolLike: TypeAlias = "Mapping[str, Any] | Callable[..., Any]"

_NAME = re.compile(r"[A-Za-z0-9_./-]{1,256}")
_EMPTY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Tool:
    """A name, and the schema of the arguments."""

    name: str
    schema: bool | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which tools may be called, and whether one must be."""

    mode: Literal["none", "auto", "required"]
    names: frozenset[str] | None = None
    """Only these; None for all."""
    is_one: bool = False
    """One call, and no more."""


def read_tools(tools: Sequence[ToolLike]) -> list[Tool]:
    """OpenAI's tools, those of its Responses API, bare functions' objects, or Python functions.

    A tool without parameters takes an empty object.

    Raises:
        GrammarSyntaxError: Something else; `location` is a JSON Pointer into the list.
    """
    found: list[Tool] = []
    for place, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            found.append(Tool(getattr(tool, "__name__", ""), function_schema(tool)))
        else:
            kind = tool.get("type", "function")
            inner = tool.get("function", tool)
            if kind != "function" or not isinstance(inner, Mapping):
                raise GrammarSyntaxError(f"a tool of the type {kind!r} is no function", f"/{place}")
            schema = inner.get("parameters", inner.get("input_schema"))
            found.append(Tool(inner.get("name", ""), _EMPTY if schema is None else schema))
        name = found[-1].name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = f"the name of a tool is made of letters, digits and _ . / -, not {name!r}"
            raise GrammarSyntaxError(message, f"/{place}")
        if any(name == other.name for other in found[:-1]):
            raise GrammarSyntaxError(f"two tools have the name {name!r}", f"/{place}")
    return found


def read_choice(choice: str | Mapping[str, Any], tools: Sequence[Tool]) -> Choice:
    """OpenAI's `tool_choice`: a mode, a named tool, or allowed tools.

    Raises:
        GrammarSyntaxError: Something else, or a name that no tool has.
    """
    made = _read_choice(choice)
    known = {tool.name for tool in tools}
    unknown = sorted((made.names or frozenset()) - known)
    if unknown:
        raise GrammarSyntaxError(f"tool_choice names {unknown[0]!r}, which is no tool", "")
    if made.mode == "required" and not (known if made.names is None else made.names):
        raise GrammarSyntaxError("tool_choice asks for a call, but there is no tool", "")
    return made


def _read_choice(choice: str | Mapping[str, Any]) -> Choice:
    if isinstance(choice, str):
        if choice in ("none", "auto", "required"):
            return Choice(choice)  # type: ignore[arg-type]
        raise GrammarSyntaxError(f"tool_choice is none, auto or required, not {choice!r}", "")
    kind = choice.get("type")
    if kind == "function":
        inner = choice.get("function", choice)
        return Choice("required", frozenset([inner.get("name", "")]), is_one=True)
    if kind == "allowed_tools":
        inner = choice.get("allowed_tools", choice)
        mode = inner.get("mode", "auto")
        if mode not in ("auto", "required"):
            raise GrammarSyntaxError(
                f"the mode of allowed tools is auto or required, not {mode!r}", ""
            )
        names = [tool.get("function", tool).get("name", "") for tool in inner.get("tools", [])]
        return Choice(mode, frozenset(names))
    raise GrammarSyntaxError(f"there is no tool_choice of the type {kind!r}", "")


def read_response(response: Mapping[str, Any] | None) -> bool | Mapping[str, Any] | None:
    """The schema that OpenAI's `response_format` asks for; None for text.

    Raises:
        GrammarSyntaxError: Something else.
    """
    kind = "text" if response is None else response.get("type")
    if response is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    inner = response.get("json_schema", response)
    schema = inner.get("schema", True) if isinstance(inner, Mapping) else None
    if kind != "json_schema" or schema is None:
        raise GrammarSyntaxError(f"there is no response_format {dict(response)!r}", "")
    return schema if isinstance(schema, bool | Mapping) else True

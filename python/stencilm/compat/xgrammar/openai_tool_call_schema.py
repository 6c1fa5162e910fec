"""Tools and choices of tools as OpenAI's interface has them, as pydantic models."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

__all__ = [
    "AllowedToolChoiceParam",
    "AllowedToolRef",
    "AllowedToolsParam",
    "BuiltinToolChoiceParam",
    "BuiltinToolParam",
    "FunctionDefinition",
    "FunctionToolParam",
    "NamedToolChoiceFunction",
    "NamedToolChoiceParam",
    "ToolChoiceOptionParam",
    "ToolParam",
]


class FunctionDefinition(BaseModel):
    """A function and the schema of its arguments."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionToolParam(BaseModel):
    """A function as a tool."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class BuiltinToolParam(BaseModel):
    """A tool that the model brings along."""

    type: str
    name: str | None = None
    parameters: dict[str, Any] | None = None


ToolParam = FunctionToolParam | BuiltinToolParam


class NamedToolChoiceFunction(BaseModel):
    """A function by name."""

    name: str


class NamedToolChoiceParam(BaseModel):
    """This function, once."""

    type: Literal["function"] = "function"
    function: NamedToolChoiceFunction


class BuiltinToolChoiceParam(BaseModel):
    """This tool that the model brings along."""

    type: str
    name: str | None = None


class AllowedToolRef(BaseModel):
    """A tool that may be called."""

    type: str
    function: NamedToolChoiceFunction | None = None
    name: str | None = None


class AllowedToolsParam(BaseModel):
    """Tools that may be, or must be, called."""

    mode: Literal["auto", "required"]
    tools: list[AllowedToolRef]


class AllowedToolChoiceParam(BaseModel):
    """Only these tools."""

    type: Literal["allowed_tools"] = "allowed_tools"
    allowed_tools: AllowedToolsParam


ToolChoiceOptionParam = (
    Literal["none", "auto", "required"]
    | NamedToolChoiceParam
    | AllowedToolChoiceParam
    | BuiltinToolChoiceParam
)

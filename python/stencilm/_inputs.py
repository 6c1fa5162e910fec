"""What a schema may be given as: JSON text, values, types of Python, functions."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, NotRequired, TypeAlias, get_origin, get_type_hints

from stencilm import _core
from stencilm._exceptions import GrammarSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Schema", "function_schema", "schema_text"]

Schema: TypeAlias = "str | bool | Mapping[str, Any] | type[Any] | Callable[..., Any] | Any"

# `json.dumps` with options makes an encoder each time.
_encode_any = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_OTHERS = "**"
"""No parameter has this name."""


def schema_text(schema: Schema) -> str:
    """A schema as JSON text. Pydantic's own classes are known by their methods.

    Raises:
        GrammarSyntaxError: A type or function that has no schema.
        ModuleNotFoundError: pydantic, which other types need, is not installed.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, bool | Mapping):
        return _encode(schema)
    for method in ("model_json_schema", "json_schema"):
        make = getattr(schema, method, None)
        if callable(make):
            return _encode(make())
    if inspect.isroutine(schema):
        return _encode(function_schema(schema))
    if _is_type(schema):
        return _encode(_type_schema(schema))
    return _encode(schema)


def function_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The JSON Schema of a function's arguments by name, for tool calls.

    Needs pydantic. Parameters come in their order; those without a default are required. The
    docstring is the description, `Annotated[int, Field(description=…)]` describes a parameter.
    Other names are allowed if there is a `**` parameter.

    Raises:
        GrammarSyntaxError: An annotation has no schema, or a parameter cannot be given by name;
            `location` is a JSON Pointer into the schema.
        ModuleNotFoundError: pydantic is not installed.

    >>> def weather(city: str, days: int = 1) -> str:
    ...     "The weather to come."
    >>> schema = function_schema(weather)
    >>> schema["required"], list(schema["properties"]), schema["description"]
    (['city'], ['city', 'days'], 'The weather to come.')
    """
    name = getattr(function, "__name__", type(function).__name__)
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = get_type_hints(_with_hints(function), include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise GrammarSyntaxError(f"the signature of {name} cannot be read: {error}", "") from error
    members: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            message = f"the parameter {parameter} of {name} cannot be given by name"
            raise GrammarSyntaxError(message, f"/properties/{parameter.name}")
        is_others = parameter.kind is parameter.VAR_KEYWORD
        key = _OTHERS if is_others else parameter.name
        members[key] = hints.get(parameter.name, Any)
        if is_others or parameter.default is not parameter.empty:
            defaults[key] = parameter.default
    schema = _members_schema(name, members, set(defaults))
    properties = schema.setdefault("properties", {})
    schema["additionalProperties"] = properties.pop(_OTHERS, False)
    for key, default in defaults.items():
        if key != _OTHERS and _is_json(default):
            properties[key]["default"] = default
    described = inspect.getdoc(function)
    if described:
        schema["description"] = described
    return schema


def _with_hints(function: Any) -> Any:
    """What carries the annotations: a method of a callable object is not the object."""
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return function.__call__


def _encode(value: Any) -> str:
    text = _core.json_text(value)
    # Numbers for keys, subclasses, and everything that is an error.
    return _encode_any(value) if text is None else text


def _members_schema(name: str, members: dict[str, Any], optional: set[str]) -> dict[str, Any]:
    _pydantic(name)
    from typing_extensions import TypedDict  # Pydantic takes no other before Python 3.12.

    wrapped = {k: NotRequired[v] if k in optional else v for k, v in members.items()}
    make: Any = TypedDict
    schema = _type_schema(make(name, wrapped))
    schema.pop("description", None)  # That of `TypedDict` itself.
    return schema


def _type_schema(of: Any) -> dict[str, Any]:
    pydantic = _pydantic(of)
    try:
        schema: dict[str, Any] = pydantic.TypeAdapter(of).json_schema()
    except pydantic.errors.PydanticUserError as error:
        raise GrammarSyntaxError(f"{_named(of)} has no JSON Schema: {error.message}", "") from error
    return schema


def _pydantic(of: Any) -> Any:
    try:
        import pydantic
    except ModuleNotFoundError as error:
        message = f"the schema of {_named(of)} needs pydantic: pip install 'stencilm[pydantic]'"
        raise ModuleNotFoundError(message, name="pydantic") from error
    return pydantic


def _named(of: Any) -> str:
    return of if isinstance(of, str) else getattr(of, "__name__", repr(of))


def _is_type(value: Any) -> bool:
    """Whether it may stand in an annotation: a class, `list[int]`, `Literal[…]`."""
    is_form = isinstance(value, type | GenericAlias | UnionType) or get_origin(value) is not None
    return is_form or type(value).__module__ in ("typing", "typing_extensions")


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True

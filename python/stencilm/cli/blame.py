"""Find which keywords of a JSON Schema forbid what a text does at a place."""

from __future__ import annotations

import copy
import json
from time import perf_counter
from typing import TYPE_CHECKING, Any

from stencilm import StencilmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from stencilm import Compiler, Grammar

    from .grammars import Source

    _Path: TypeAlias = tuple[str | int, ...]

__all__ = ["schema_rules"]

_SECONDS = 5.0
_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SCHEMAS = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_NOT_RULES = frozenset(
    {
        "$anchor",
        "$comment",
        "$defs",
        "$id",
        "$schema",
        "default",
        "definitions",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    }
)


def schema_rules(compiler: Compiler, source: Source, text: bytes, offset: int) -> list[str]:
    """JSON Pointers of the keywords without which the text could go on at `offset`.

    Each keyword is left out in turn and the text tried again: what is found does forbid it,
    by itself. Nothing is found where two keywords both do. The deepest ones only, and those
    found within seconds.
    """
    rebuild = source.rebuild
    if source.text is None or rebuild is None:
        return []
    schema = json.loads(source.text)
    deadline = perf_counter() + _SECONDS
    found: list[_Path] = []
    for path in _keywords(schema, ()):
        if perf_counter() > deadline:
            break
        if _goes_on(compiler, rebuild, _without(schema, path), text, offset):
            found.append(path)
    deepest = [p for p in found if not any(q != p and q[: len(p)] == p for q in found)]
    return [_pointer(path) for path in deepest]


def _keywords(schema: object, path: _Path) -> Iterator[_Path]:
    """Where something is demanded: every keyword, and every schema that is `false`."""
    if schema is False and path:
        yield path
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        here = (*path, keyword)
        if keyword not in _NOT_RULES:
            yield here
        if keyword in _MAPS and isinstance(value, dict):
            for name, inner in value.items():
                yield from _keywords(inner, (*here, name))
        elif keyword in _LISTS and isinstance(value, list):
            for index, inner in enumerate(value):
                yield from _keywords(inner, (*here, index))
        elif keyword in _SCHEMAS and isinstance(value, dict):
            yield from _keywords(value, here)


def _without(schema: object, path: _Path) -> object:
    changed = copy.deepcopy(schema)
    parent: Any = changed
    for step in path[:-1]:
        parent = parent[step]
    if parent[path[-1]] is False:
        parent[path[-1]] = True
    else:
        del parent[path[-1]]
    return changed


def _goes_on(
    compiler: Compiler,
    rebuild: Callable[[object], Grammar],
    schema: object,
    text: bytes,
    offset: int,
) -> bool:
    try:
        matcher = compiler.compile(rebuild(schema)).matcher()
    except StencilmError:  # Left out, it may leave something that is no schema.
        return False
    if offset < len(text):
        return matcher.accept_bytes(text[: offset + 1])
    return matcher.accept_bytes(text) and matcher.may_stop()


def _pointer(path: _Path) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)

"""Makes a failing schema smaller while it goes on failing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any


def smaller(value: Any) -> Iterator[Any]:
    """Values one step smaller, the biggest steps first."""
    if isinstance(value, dict):
        yield from (v for k, v in value.items() if isinstance(v, dict) and not k.startswith("$"))
        for key in value:
            if key != "$schema":
                yield {k: v for k, v in value.items() if k != key}
        for key, inner in value.items():
            if key != "$schema":
                yield from ({**value, key: less} for less in smaller(inner))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        for at, inner in enumerate(value):
            yield from ([*value[:at], less, *value[at + 1 :]] for less in smaller(inner))
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
        yield value - 1


def shrunk(schema: Any, fails: Callable[[Any], bool], tries: int = 3_000) -> Any:
    """The smallest schema found that still fails."""
    seen = set()
    while True:
        for less in smaller(schema):
            key = json.dumps(less)
            if key in seen:
                continue
            seen.add(key)
            tries -= 1
            if tries < 0:
                return schema
            try:
                is_failing = fails(less)
            except Exception:  # A schema that is none any more.
                is_failing = False
            if is_failing:
                schema = less
                break
        else:
            return schema

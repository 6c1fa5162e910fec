"""Random schemas over all assertion keywords, and values near a schema.

Small on purpose: few names and few values, so that keywords meet in one value.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

NAMES = ["a", "b", "ab", "c"]
PATTERNS = ["^a", "b$", "^.$", "c", "^[ab]*$", "^(ab)*$", "^x?$", "a.*b"]
NAME_PATTERNS = ["^a", "b$", "^.$", "c"]
NAME_SCHEMAS = [
    {"enum": ["a", "b"]},
    {"pattern": "^a?b?$"},
    {"maxLength": 1},
    {"not": {"const": "a"}},
    {"pattern": "^[ab]$"},
    {"minLength": 2},
]
SCALARS = [None, True, False, 0, 1, 2, 3, -1, 2.5, 0.5, 10, "", "a", "b", "ab", "xx"]
CONSTANTS = [0, 1, 2, True, False, None, "a", "b", "", [], {}, [1], {"a": 1}, 1.5]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

DIALECTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}


class Generator:
    """Draws schemas of one dialect."""

    def __init__(self, random: Random, dialect: str = "draft2020-12") -> None:
        self.random = random
        self.dialect = dialect
        self.year = {"draft4": 4, "draft6": 6, "draft7": 7, "draft2019-09": 2019}.get(dialect, 2020)
        self.definitions = "$defs" if self.year >= 2019 else "definitions"
        # Validators let `contains` count for `unevaluatedItems` in 2019-09 too, where it does not.
        self.has_contains = self.year != 2019 or random.random() < 0.5

    def document(self, depth: int = 3) -> dict[str, Any]:
        """A schema with definitions that refer to each other, and its dialect."""
        schema = self.schema(depth)
        while not isinstance(schema, dict):
            schema = self.schema(depth)
        document = {"$schema": DIALECTS[self.dialect], **schema}
        used = json.dumps(schema)
        made: dict[str, Any] = {}
        while missing := [n for n in "pq" if f'/{n}"' in used and n not in made]:
            made[missing[0]] = self.schema(depth - 1)
            used += json.dumps(made[missing[0]])
        if made:
            document[self.definitions] = made
        return document

    def schema(self, depth: int) -> Any:
        """A schema as it stands inside of another one."""
        random = self.random
        draw = random.random()
        if depth <= 0 or draw < 0.08:
            return self.leaf()
        if draw < 0.17:
            return {
                "$ref": random.choice([f"#/{self.definitions}/p", f"#/{self.definitions}/q", "#"])
            }
        schema: dict[str, Any] = {}
        groups: list[Callable[[dict[str, Any], int], None]] = [
            self.number,
            self.string,
            *[self.array] * 2,
            *[self.object] * 3,
            *[self.combine] * 2,
        ]
        for _ in range(random.choice([1, 1, 2, 3])):
            random.choice(groups)(schema, depth - 1)
        if random.random() < 0.4:
            schema["type"] = random.choice(
                ["object", "array", "array", "object", "integer", "string", ["array", "object"]]
            )
        if self.year >= 2019 and random.random() < 0.08:
            schema["$ref"] = f"#/$defs/{random.choice('pq')}"
        return schema

    def leaf(self) -> Any:
        random = self.random
        leaves: list[Any] = [
            {},
            {"type": random.choice(TYPES)},
            {"type": random.sample(TYPES, 2)},
            {"enum": random.sample(CONSTANTS, random.choice([1, 2, 3]))},
            {"type": "boolean"},
        ]
        if self.year >= 6:
            leaves += [True, False, {"const": random.choice(CONSTANTS)}]
        return random.choice(leaves)

    def number(self, schema: dict[str, Any], _: int) -> None:
        random = self.random
        for _ in range(random.choice([1, 2])):
            bound = random.choice([0, 1, 2, -1, 5, 2.5, 10, 100])
            keyword = random.choice(["minimum", "maximum", "exclusive", "multipleOf"])
            if keyword == "multipleOf":
                schema[keyword] = random.choice([1, 2, 3, 0.5, 1.5, 7, 0.25])
            elif keyword == "exclusive" and self.year >= 6:
                schema[random.choice(["exclusiveMinimum", "exclusiveMaximum"])] = bound
            elif keyword == "exclusive":
                keyword = random.choice(["minimum", "maximum"])
                schema[keyword] = bound
                schema["exclusive" + keyword.capitalize()] = random.choice([True, False])
            else:
                schema[keyword] = bound

    def string(self, schema: dict[str, Any], _: int) -> None:
        random = self.random
        keyword = random.choice(["minLength", "maxLength", "pattern"])
        schema[keyword] = random.choice(PATTERNS if keyword == "pattern" else [0, 1, 2, 3])

    def array(self, schema: dict[str, Any], depth: int) -> None:
        random = self.random
        keywords = ["items", "list", "minItems", "maxItems", "uniqueItems"]
        if self.year >= 6 and self.has_contains:
            keywords += ["contains", "contains"]
        if self.year == 2020 or not self.has_contains:
            keywords.append("unevaluatedItems")
        for _ in range(random.choice([1, 2, 2, 3])):
            keyword = random.choice(keywords)
            if keyword == "list":
                schemas = [self.schema(depth) for _ in range(random.choice([1, 2]))]
                if self.year == 2020:
                    schema["prefixItems"] = schemas
                else:
                    schema["items"] = schemas
                    if random.random() < 0.5:
                        schema["additionalItems"] = self.schema(depth)
            elif keyword in ("items", "unevaluatedItems"):
                schema[keyword] = self.schema(depth)
            elif keyword == "contains":
                schema[keyword] = self.schema(depth)
                if self.year >= 2019 and random.random() < 0.5:
                    schema["minContains"] = random.choice([0, 1, 2])
                if self.year >= 2019 and random.random() < 0.4:
                    schema["maxContains"] = random.choice([0, 1, 2])
            elif keyword == "uniqueItems":
                # Values that are many are drawn more rarely.
                schema[keyword] = True
                if random.random() < 0.7:
                    few = random.sample(SCALARS, random.choice([2, 3]))
                    schema["items"] = random.choice([{"type": "boolean"}, {"enum": few}])
            else:
                schema[keyword] = random.choice([0, 1, 2, 3])

    def object(self, schema: dict[str, Any], depth: int) -> None:
        random = self.random
        keywords = [
            *("properties", "properties", "patternProperties", "additionalProperties"),
            *("required", "minProperties", "maxProperties"),
        ]
        if self.year >= 6:
            keywords.append("propertyNames")
        if self.year >= 2019:
            keywords += ["dependentSchemas", "dependentRequired", "unevaluatedProperties"]
        else:
            keywords.append("dependencies")
        for _ in range(random.choice([1, 2, 2, 3])):
            keyword = random.choice(keywords)
            if keyword == "properties":
                names = random.sample(NAMES, random.choice([1, 2, 3]))
                schema[keyword] = {name: self.schema(depth) for name in names}
            elif keyword == "patternProperties":
                patterns = random.sample(NAME_PATTERNS, random.choice([1, 2]))
                schema[keyword] = {pattern: self.schema(depth) for pattern in patterns}
            elif keyword == "additionalProperties" and random.random() < 0.3:
                schema[keyword] = random.choice([False, {"type": "integer"}])
            elif keyword in ("additionalProperties", "unevaluatedProperties"):
                schema[keyword] = self.schema(depth)
            elif keyword == "propertyNames":
                schema[keyword] = random.choice(NAME_SCHEMAS)
            elif keyword == "required":
                schema[keyword] = random.sample(NAMES, random.choice([1, 2]))
            elif keyword == "dependentSchemas":
                schema[keyword] = {random.choice(NAMES): self.schema(depth)}
            elif keyword == "dependentRequired":
                schema[keyword] = {random.choice(NAMES): random.sample(NAMES, 1)}
            elif keyword == "dependencies":
                brought = random.choice([self.schema(depth), random.sample(NAMES, 1)])
                schema[keyword] = {random.choice(NAMES): brought}
            else:
                schema[keyword] = random.choice([0, 1, 2, 3])

    def combine(self, schema: dict[str, Any], depth: int) -> None:
        random = self.random
        keywords = ["allOf", "anyOf", "anyOf", "oneOf", "not", *["if"] * (self.year >= 7)]
        keyword = random.choice(keywords)
        if keyword == "not":
            schema[keyword] = self.schema(depth)
        elif keyword == "if":
            schema["if"] = self.schema(depth)
            if random.random() < 0.8:
                schema["then"] = self.schema(depth)
            if random.random() < 0.6:
                schema["else"] = self.schema(depth)
        else:
            schema[keyword] = [self.schema(depth) for _ in range(random.choice([2, 2, 3]))]


def constants(schema: Any) -> list[Any]:
    """Values that a schema mentions, and their neighbours."""
    found: list[Any] = []

    def add(value: Any) -> None:
        if value not in found or any(type(value) is not type(f) for f in found if f == value):
            found.append(value)

    def look(part: Any) -> None:
        if isinstance(part, dict):
            for keyword, value in part.items():
                if keyword == "const":
                    add(value)
                elif keyword == "enum" and isinstance(value, list):
                    for one in value:
                        add(one)
                elif isinstance(value, (int, float)) and not isinstance(value, bool):
                    add(value)
                    add(value + 1)
                look(value)
        elif isinstance(part, list):
            for one in part:
                look(one)

    look(schema)
    return found


def values(random: Random, schema: Any, count: int = 60) -> list[Any]:
    """Values for which the verdict is worth knowing."""
    scalars = SCALARS + [v for v in constants(schema) if v not in SCALARS]
    made: list[Any] = [*random.sample(SCALARS, 6), [], {}]
    parts = [*scalars, [], {}, [1], {"a": 1}]
    names = [*NAMES, "abc", "d", "bb"]
    while len(made) < count:
        inner = parts if random.random() < 0.7 else made
        if random.random() < 0.45:
            made.append([random.choice(inner) for _ in range(random.choice([1, 1, 2, 2, 3, 4]))])
        else:
            chosen = random.sample(names, random.choice([1, 1, 2, 2, 3, 4]))
            made.append({name: random.choice(inner) for name in chosen})
    return made


def mutated(random: Random, value: Any) -> Any:
    """A value that differs in one place."""
    draw = random.random()
    if draw < 0.12:
        return random.choice([*SCALARS, [], {}, [1], {"a": 1}])
    if isinstance(value, dict):
        changed = dict(value)
        if changed and draw < 0.4:
            changed.pop(random.choice(list(changed)))
        elif changed and draw < 0.7:
            name = random.choice(list(changed))
            changed[name] = mutated(random, changed[name])
        else:
            changed[random.choice(NAMES)] = random.choice([*SCALARS, [], {}])
        return changed
    if isinstance(value, list):
        items = list(value)
        if items and draw < 0.3:
            items.pop(random.randrange(len(items)))
        elif items and draw < 0.55:
            at = random.randrange(len(items))
            items[at] = mutated(random, items[at])
        elif items and draw < 0.7:
            items.append(random.choice(items))
        else:
            items.insert(random.randrange(len(items) + 1), random.choice([*SCALARS, [], {}]))
        return items
    if isinstance(value, str) and draw < 0.6:
        return random.choice([value + "a", value[1:], value[::-1], "x" + value])
    if isinstance(value, (int, float)) and not isinstance(value, bool) and draw < 0.7:
        return value + random.choice([1, -1, 0.5, 10])
    return random.choice(SCALARS)

"""References in every dialect: random schemas of several resources, against `jsonschema`."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar, GrammarSyntaxError, UnsatisfiableError

if TYPE_CHECKING:
    from conftest import Kit

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")

DIALECTS = {
    "draft4": ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    "draft6": ("http://json-schema.org/draft-06/schema#", jsonschema.Draft6Validator),
    "draft7": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "draft2019-09": (
        "https://json-schema.org/draft/2019-09/schema",
        jsonschema.Draft201909Validator,
    ),
    "draft2020-12": (
        "https://json-schema.org/draft/2020-12/schema",
        jsonschema.Draft202012Validator,
    ),
}
NAMES = ["a", "b~/%25", "c"]
TYPES = ["integer", "string", "null", "boolean", "array", "object"]


class Maker:
    """Schemas whose references name what the documents have."""

    def __init__(self, dialect: str, random: Random) -> None:
        self.dialect, self.random = dialect, random
        self.is_new = dialect.startswith("draft20")
        self.id = "id" if dialect == "draft4" else "$id"
        self.defs = "$defs" if self.is_new else "definitions"
        self.references = ["#"]

    def documents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The main document, and the others by their URI."""
        uris = ["http://x/main", "http://x/d/other", "urn:x:third"]
        count = self.random.randint(1, 3)
        # What there will be is settled first, so that references may name it.
        plans = [self.plan(uri) for uri in uris[:count]]
        main, *others = [self.document(uri, plan) for uri, plan in zip(uris, plans, strict=False)]
        return main, dict(zip(uris[1:], others, strict=False))

    def plan(self, uri: str) -> list[dict[str, Any]]:
        plan = []
        self.references.append(uri)
        for name in self.random.sample(NAMES, self.random.randint(1, 3)):
            entry: dict[str, Any] = {"name": name}
            escaped = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
            self.references.append(f"{uri}#/{self.defs}/{escaped}")
            self.references.append(f"#/{self.defs}/{escaped}")
            if self.random.random() < 0.4 and not uri.startswith("urn"):
                entry["id"] = f"in-{name[0]}"
                self.references.append(entry["id"])
            if self.random.random() < 0.3:
                entry["anchor"] = self.random.choice(["r", "s"])
                self.references.append("#" + entry["anchor"])
            if self.random.random() < 0.5:
                entry["dynamic"] = self.random.choice(["p", "q"])
            plan.append(entry)
        return plan

    def document(self, uri: str, plan: list[dict[str, Any]]) -> dict[str, Any]:
        root = {"$schema": DIALECTS[self.dialect][0], self.id: uri}
        root |= self.schema(2)
        self.anchor(root, self.random.choice([None, None, "p", "q"]))
        root[self.defs] = {}
        for entry in plan:
            schema = self.schema(2)
            if "id" in entry:
                schema[self.id] = entry["id"]
            if self.is_new and "anchor" in entry:
                schema["$anchor"] = entry["anchor"]
            self.anchor(schema, entry.get("dynamic"))
            root[self.defs][entry["name"]] = schema
        return root

    def anchor(self, schema: dict[str, Any], name: str | None) -> None:
        # `jsonschema` takes a `$ref` to a dynamic anchor for a dynamic one, so none names one.
        if self.dialect == "draft2020-12" and name:
            schema["$dynamicAnchor"] = name
        elif self.dialect == "draft2019-09" and name and self.id in schema:
            schema["$recursiveAnchor"] = name == "p"

    def schema(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {}
        random = self.random
        if random.random() < 0.5:
            schema["type"] = random.sample(TYPES, random.randint(1, 4))
        if depth and random.random() < 0.6:
            names = random.sample(["x", "y"], random.randint(1, 2))
            schema["properties"] = {name: self.schema(depth - 1) for name in names}
        if depth and random.random() < 0.4:
            schema["items"] = self.schema(depth - 1)
        if depth and random.random() < 0.2:
            schema["anyOf"] = [self.schema(depth - 1), self.schema(depth - 1)]
        if random.random() < 0.4:
            schema["$ref"] = random.choice(self.references)
        elif self.dialect == "draft2020-12" and random.random() < 0.6:
            schema["$dynamicRef"] = random.choice(["#p", "#q", *self.references])
        elif self.dialect == "draft2019-09" and random.random() < 0.6:
            schema["$recursiveRef"] = "#"
        return schema

    def instance(self, depth: int = 3) -> Any:
        random = self.random
        if depth and random.random() < 0.7:
            if random.random() < 0.6:
                return {random.choice(["x", "y"]): self.instance(depth - 1)}
            return [self.instance(depth - 1) for _ in range(random.randint(0, 2))]
        return random.choice([1, "s", None, True, [], {}])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_references_mean_what_another_validator_says(byte_kit: Kit, dialect: str) -> None:
    counts = {True: 0, False: 0}
    for seed in range(400):
        random = Random(f"{dialect} {seed}")
        maker = Maker(dialect, random)
        main, others = maker.documents()
        try:
            grammar = Grammar.from_json_schema(main, dialect=dialect, resources=others)
        except (GrammarSyntaxError, UnsatisfiableError):
            # A name that nothing has, a cycle, or no value.
            continue
        specification = referencing.jsonschema.specification_with(DIALECTS[dialect][0])
        registry = referencing.Registry().with_resources(
            (uri, specification.create_resource(other)) for uri, other in others.items()
        )
        validator = DIALECTS[dialect][1](main, registry=registry)
        compiled = byte_kit.compiler.compile(grammar)
        for _ in range(12):
            instance = maker.instance()
            try:
                expected = validator.is_valid(instance)
            except (referencing.exceptions.Unresolvable, RecursionError):
                # In a place that no valid value reaches.
                continue
            matcher = compiled.matcher()
            text = json.dumps(instance).encode()
            found = matcher.accept_bytes(text) and matcher.may_stop()
            assert found == expected, json.dumps([main, others, instance])
            counts[expected] += 1
    assert min(counts.values()) > 100, counts

"""What a schema may be given as."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NewType, NotRequired

import pytest

from stencilm import Grammar, GrammarSyntaxError, function_schema

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

from typing_extensions import TypedDict  # noqa: E402

if TYPE_CHECKING:
    from conftest import Kit


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


class Person(TypedDict):
    name: str
    color: NotRequired[Color]


class Pair(NamedTuple):
    left: int
    right: str


class Model(pydantic.BaseModel):
    point: Point
    next: Model | None = None


Positive = NewType("Positive", int)


def takes(kit: Kit, schema: Any, value: object) -> bool:
    matcher = kit.matcher(Grammar.from_json_schema(schema))
    return matcher.accept_bytes(json.dumps(value).encode()) and matcher.may_stop()


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (Point, [{"x": 1}, {"x": 1, "y": 2, "tags": ["a"]}], [{}, {"x": "1"}, {"y": 1}]),
        (Person, [{"name": "a"}, {"name": "a", "color": "red"}], [{}, {"name": "a", "color": "x"}]),
        (Color, ["red"], ["green", 1]),
        (Literal["a", 3], ["a", 3], ["b", 4]),
        (int, [1], [1.5, "1"]),
        (int | None, [1, None], ["1"]),
        (list[Point], [[], [{"x": 1}]], [{}, [1]]),
        (dict[str, bool], [{}, {"a": True}], [{"a": 1}]),
        (Point | Person, [{"x": 1}, {"name": "a"}], [{}, 1]),
        (Annotated[int, pydantic.Field(ge=3)], [3], [2]),
        (Pair, [[1, "a"]], [[1], ["a", 1]]),
        (Positive, [1], ["1"]),
        (type(None), [None], [0]),
        (Model, [{"point": {"x": 1}, "next": {"point": {"x": 2}}}], [{"point": 1}]),
        (pydantic.TypeAdapter(list[int]), [[1]], [["a"]]),
        (Any, [1, "a", {}], []),
    ],
)
def test_types(byte_kit: Kit, schema: Any, good: list[object], bad: list[object]) -> None:
    adapter = schema if isinstance(schema, pydantic.TypeAdapter) else pydantic.TypeAdapter(schema)
    for value in good:
        assert takes(byte_kit, schema, value)
        adapter.validate_python(value)
    for value in bad:
        assert not takes(byte_kit, schema, value)
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_json(json.dumps(value), strict=True)


def test_members_come_in_the_order_of_the_type(byte_kit: Kit) -> None:
    assert not takes(byte_kit, Point, {"y": 1, "x": 2})


def weather(
    city: Annotated[str, pydantic.Field(description="its name")],
    days: int = 1,
    *,
    unit: Literal["C", "F"] = "C",
    at: Point | None = None,
) -> str:
    """The weather to come.

    As far as it is known.
    """
    return f"{city} {days} {unit} {at}"


def test_functions(byte_kit: Kit) -> None:
    schema = function_schema(weather)
    assert list(schema["properties"]) == ["city", "days", "unit", "at"]
    assert schema["required"] == ["city"]
    assert schema["title"] == "weather"
    assert schema["description"] == "The weather to come.\n\nAs far as it is known."
    assert schema["properties"]["city"]["description"] == "its name"
    assert schema["properties"]["days"]["default"] == 1
    assert schema["additionalProperties"] is False
    for arguments in [{"city": "Ulm"}, {"city": "Ulm", "unit": "F", "at": {"x": 1}}]:
        assert takes(byte_kit, weather, arguments)
        assert weather(**arguments)
    for wrong in [{}, {"city": 1}, {"city": "Ulm", "unit": "K"}, {"city": "Ulm", "more": 1}]:
        assert not takes(byte_kit, weather, wrong)
    assert Grammar.from_json_schema(weather).key == Grammar.from_json_schema(schema).key


def test_parameters_of_every_kind(byte_kit: Kit) -> None:
    def others(a: int, _b: Any = ..., model_config: str = "", **more: bool) -> None: ...

    assert takes(byte_kit, others, {"a": 1, "_b": [], "model_config": "x", "c": True})
    assert not takes(byte_kit, others, {"a": 1, "c": 1})

    def nothing() -> None: ...

    assert takes(byte_kit, nothing, {})
    assert not takes(byte_kit, nothing, {"a": 1})

    def untyped(a, b=float("nan"), c=object): ...  # type: ignore[no-untyped-def]

    assert takes(byte_kit, untyped, {"a": [1]})
    assert "default" not in function_schema(untyped)["properties"]["b"]


def test_methods_and_callable_objects(byte_kit: Kit) -> None:
    class Tool:
        def run(self, text: str) -> None: ...

        @classmethod
        def make(cls, number: int) -> None: ...

        def __call__(self, flag: bool) -> None: ...

    assert takes(byte_kit, Tool().run, {"text": ""})
    assert takes(byte_kit, Tool.make, {"number": 1})
    assert not takes(byte_kit, Tool().run, {"self": 1, "text": ""})
    assert takes(byte_kit, function_schema(Tool()), {"flag": True})


def test_parameters_that_have_no_name(byte_kit: Kit) -> None:
    def positional(a: int, /) -> None: ...

    def many(*all_of: int) -> None: ...

    for function, place in [(positional, "/properties/a"), (many, "/properties/all_of")]:
        with pytest.raises(GrammarSyntaxError, match="cannot be given by name") as caught:
            function_schema(function)
        assert caught.value.location == place


def test_what_has_no_schema() -> None:
    class Opaque: ...

    def unknown(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    def opaque(a: Opaque) -> None: ...

    for given in (Opaque, list[Opaque], unknown, opaque, print):
        with pytest.raises(GrammarSyntaxError):
            Grammar.from_json_schema(given)
    with pytest.raises(TypeError):
        Grammar.from_json_schema(object())


def test_without_pydantic_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["pydantic"] = None
from stencilm import Grammar
Grammar.from_json_schema({"type": "string"})
for given in (int, lambda a: a):
    try:
        Grammar.from_json_schema(given)
    except ModuleNotFoundError as error:
        assert "pip install 'stencilm[pydantic]'" in str(error), error
    else:
        raise SystemExit(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)

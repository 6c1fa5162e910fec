"""What servers are asked, and who judges the answers: `jsonschema` and `re`, never this package."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonschema

Judge = Callable[[str], None]


@dataclass(frozen=True)
class Case:
    """A request, and what must come back."""

    name: str
    kind: str
    """`json`, `json_object`, `regex`, `choice`, `gbnf`, `lark`, `structural_tag`, `tools`, `body`
    for members of the request as they are, or `free`."""
    spec: Any
    prompt: str
    judge: Judge | None = None
    refused: str | None = None
    """A part of the message of the refusal that is expected."""
    may_be_refused: bool = False
    """For hostile requests that are within the limits on some machine: an answer is judged."""
    more: dict[str, Any] = field(default_factory=dict)
    tokens: int = 220
    seconds: float = 150.0
    """More is a server that hangs."""
    engines: tuple[str, ...] = ("vllm", "sglang")


def matches(pattern: str, flags: int = 0) -> Judge:
    def judge(text: str) -> None:
        assert re.fullmatch(pattern, text, flags), f"{text!r} does not match {pattern!r}"

    return judge


def is_one_of(*texts: str) -> Judge:
    def judge(text: str) -> None:
        assert text in texts, f"{text!r} is none of {texts!r}"

    return judge


def is_valid(schema: Any) -> Judge:
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(
        schema, format_checker=jsonschema.FormatChecker()
    )

    def judge(text: str) -> None:
        validator.validate(json.loads(text))

    return judge


def is_compact(schema: Any) -> Judge:
    def judge(text: str) -> None:
        is_valid(schema)(text)
        outside = re.sub(r'"(\\.|[^"\\])*"', "", text)
        assert not re.search(r"\s", outside), text

    return judge


def begins_json(text: str) -> None:
    """An object that the limit of tokens may have cut off."""
    place = cut_at(text)
    rest = "" if place is None else text[place:]
    assert text.lstrip().startswith("{"), text
    assert re.fullmatch(r'\s*|".*|[-0-9.eEtrufalsn]{0,8}', rest, re.DOTALL), f"{rest!r} in {text!r}"


def cut_at(text: str) -> int | None:
    """Where the text stops to be JSON; None if it is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos
    return None


def tags_are_valid(begin: str, end: str, schema: Any, least: int) -> Judge:
    """Each of the texts between the marks is valid; the last one may be cut off."""

    def judge(text: str) -> None:
        found = re.findall(re.escape(begin) + "(.*?)" + re.escape(end), text, re.DOTALL)
        assert len(found) >= least, f"{len(found)} tags in {text!r}"
        for inside in found:
            is_valid(schema)(inside)

    return judge


def obj(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


TEXT = {"type": "string", "maxLength": 24}
PERSON = obj(
    name=TEXT,
    age={"type": "integer", "minimum": 0, "maximum": 120},
    role={"enum": ["admin", "user"]},
)
ORDER = obj(
    id={"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
    items={
        "type": "array",
        "minItems": 1,
        "maxItems": 2,
        "items": obj(sku=TEXT, count={"type": "integer", "minimum": 1, "maximum": 9}),
    },
)
SHAPE = {
    "oneOf": [
        obj(kind={"const": "circle"}, radius={"type": "number", "minimum": 0, "maximum": 99}),
        obj(kind={"const": "square"}, side={"type": "integer", "minimum": 0, "maximum": 99}),
    ]
}
CODES = obj(
    code={"type": "string", "pattern": "^[a-z0-9]+$", "minLength": 4, "maxLength": 8},
    day={"type": "string", "format": "date"},
    fives={"type": "integer", "multipleOf": 5, "minimum": 10, "maximum": 995},
)
TAGS = obj(
    tags={
        "type": "array",
        "items": {"enum": ["red", "green", "blue", "black"]},
        "uniqueItems": True,
        "contains": {"const": "blue"},
        "minItems": 2,
        "maxItems": 3,
    }
)
CARD = {
    **obj(
        ["pay"], pay={"enum": ["card", "cash"]}, number={"type": "string", "pattern": "^[0-9]{8}$"}
    ),
    "if": {"properties": {"pay": {"const": "card"}}},
    "then": {"required": ["number"]},
    "else": {"not": {"required": ["number"]}},
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": obj(
            ["value"],
            value={"type": "integer", "minimum": 0, "maximum": 9},
            next={"$ref": "#/$defs/node", "description": "a sibling of a reference"},
        )
    },
}
WORDS = obj(greeting={"enum": ["grüß", "日本語", 'say "hi"', "back\\slash"]})
CITY = obj(city={"type": "string", "maxLength": 16})
COPIED = {"items": [{"id": i, "name": "alpha", "status": "active"} for i in range(1, 7)]}
LIST = obj(
    items={
        "type": "array",
        "minItems": 6,
        "maxItems": 6,
        "items": obj(
            id={"type": "integer", "minimum": 0, "maximum": 99},
            name={"type": "string", "maxLength": 12},
            status={"enum": ["active", "off"]},
        ),
    }
)
LONG = "Read this text. " + "The quick brown fox jumps over the lazy dog. " * 40
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city",
            "parameters": CITY,
            "strict": True,
        },
    },
    {
        "type": "function",
        "function": {"name": "now", "description": "Time", "parameters": obj(), "strict": True},
    },
]
NAMED = {"type": "function", "function": {"name": "weather"}}


def tag(content: Any, begin: str = "<call>", end: str = "</call>") -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def structural(form: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": form}


INSIDE = tag({"type": "json_schema", "json_schema": CITY})
FIRST_FORM = {
    "type": "structural_tag",
    "structures": [{"begin": "<call>", "schema": CITY, "end": "</call>"}],
    "triggers": ["<call>"],
}

HELPFUL = [
    Case(
        "person", "json", PERSON, "Describe Maria Lopez, 34, an admin, as JSON.", is_valid(PERSON)
    ),
    Case("order", "json", ORDER, "Write an order of two things as JSON.", is_valid(ORDER)),
    Case("one of two", "json", SHAPE, "A circle of radius 3 as JSON.", is_valid(SHAPE)),
    Case("pattern, format, step", "json", CODES, "A code as JSON.", is_valid(CODES)),
    Case("unique, contains", "json", TAGS, "Some colours as JSON.", is_valid(TAGS)),
    Case("if, then, not", "json", CARD, "Pay by card, as JSON.", is_valid(CARD)),
    Case("recursion", "json", TREE, "A short list of numbers as JSON.", begins_json, tokens=80),
    Case("escapes", "json", WORDS, "Greet somebody as JSON.", is_valid(WORDS)),
    Case(
        "a number",
        "json",
        {"type": "integer", "minimum": 3, "maximum": 7},
        "Five?",
        is_valid({"type": "integer", "minimum": 3, "maximum": 7}),
        tokens=40,  # `5.000…` is an integer, and has no end that a schema could give it.
    ),
    Case(
        "no extra names",
        "json",
        obj(a={"type": "null"}),
        "JSON.",
        is_valid(obj(a={"type": "null"})),
    ),
    Case(
        "sampled",
        "json",
        PERSON,
        "Somebody, as JSON.",
        is_valid(PERSON),
        more={"temperature": 1.0, "seed": 7},
    ),
    Case(
        "sampled order",
        "json",
        ORDER,
        "Anything, as JSON.",
        is_valid(ORDER),
        more={"temperature": 1.2, "seed": 3, "top_p": 0.9},
    ),
    Case(
        "two at once",
        "json",
        PERSON,
        "Two people.",
        is_valid(PERSON),
        more={"n": 2, "temperature": 1},
    ),
    Case(
        "streamed",
        "json",
        PERSON,
        "Describe Ann, 5, a user.",
        is_valid(PERSON),
        more={"stream": True},
    ),
    Case("long prompt", "json", PERSON, LONG + "Who is it? As JSON.", is_valid(PERSON)),
    Case(
        "copied",
        "json",
        LIST,
        f"Copy this JSON exactly: {json.dumps(COPIED)}",
        is_valid(LIST),
        tokens=320,
    ),
    Case("any object", "json_object", None, "JSON with a key a.", begins_json, tokens=60),
    Case(
        "choice",
        "choice",
        ["positive", "negative"],
        "I love it.",
        is_one_of("positive", "negative"),
    ),
    Case(
        "choice of texts", "choice", ["a\nb", "日本", '"'], "Say.", is_one_of("a\nb", "日本", '"')
    ),
    Case("regex", "regex", "[A-Z]{2}-[0-9]{4}", "A code.", matches("[A-Z]{2}-[0-9]{4}")),
    Case("regex of Python", "regex", "(?i)(?P<n>yes|no)!", "Yes?", matches("(?i)(?P<n>yes|no)!")),
    Case(
        "look-ahead",
        "regex",
        r"(?=[a-z]*[0-9])(?!a)[a-z0-9]{6,9}",
        "A password.",
        matches(r"(?=[a-z]*[0-9])(?!a)[a-z0-9]{6,9}"),
    ),
    Case(
        "GBNF",
        "gbnf",
        'root ::= term ([-+] term){0,3}\nterm ::= [0-9]{1,4} | "(" [0-9]{1,3} ")"',
        "A sum.",
        matches(r"([0-9]{1,4}|\([0-9]{1,3}\))([-+]([0-9]{1,4}|\([0-9]{1,3}\))){0,3}"),
    ),
    Case(
        "Lark",
        "lark",
        'start: GREETING " " NAME "!"\nGREETING: "Hello" | "Hi"\nNAME: /[A-Z][a-z]{1,9}/',
        "Greet Ann.",
        matches("(Hello|Hi) [A-Z][a-z]{1,9}!"),
        engines=("vllm",),
    ),
    Case(
        "structural tag",
        "structural_tag",
        structural(INSIDE),
        "Call.",
        tags_are_valid("<call>", "</call>", CITY, 1),
    ),
    Case(
        "tags in free text",
        "structural_tag",
        structural(
            {
                "type": "triggered_tags",
                "triggers": ["<call>"],
                "tags": [INSIDE],
                "at_least_one": True,
            }
        ),
        "Write <call> and the city in it.",
        tags_are_valid("<call>", "</call>", CITY, 1),
        tokens=60,
    ),
    Case(
        "tag of the first form",
        "structural_tag",
        FIRST_FORM,
        'Repeat: <call>{"city": "Oslo"}</call>',
        tags_are_valid("<call>", "</call>", CITY, 0),
        tokens=60,
    ),
    Case(
        "tools: required", "tools", {"tools": TOOLS, "tool_choice": "required"}, "Weather in Oslo?"
    ),
    Case("tools: named", "tools", {"tools": TOOLS, "tool_choice": NAMED}, "Weather in Oslo?"),
    Case("tools: auto", "tools", {"tools": TOOLS, "tool_choice": "auto"}, "Hello.", tokens=40),
    Case("nothing asked", "free", None, "Hello.", tokens=12),
]

VLLM_ONLY = [
    Case(
        "compact",
        "body",
        {"structured_outputs": {"json": PERSON, "disable_any_whitespace": True}},
        "Ann.",
        is_compact(PERSON),
        engines=("vllm",),
    ),
    Case(
        "a text as stop token",
        "body",
        {"structured_outputs": {"regex": "[a-z ]{8}\n"}, "stop_token_ids": [198]},
        "Say something.",
        matches("[a-z ]{8}\n"),
        engines=("vllm",),
    ),
]

ENUM = [f"value number {i} of a long list" for i in range(10_000)]
LARGE = {
    "$defs": {"e": {"enum": ENUM}},
    **obj(**{f"p{i}": {"$ref": "#/$defs/e"} for i in range(8)}),
}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(depth):
        schema = {"oneOf": [schema, {"type": "string", "maxLength": 3}]}
    return schema


def mutual(count: int) -> dict[str, Any]:
    """Definitions that each lead to all others."""
    every = [{"$ref": f"#/$defs/d{i}"} for i in range(count)]
    definitions = {f"d{i}": {"anyOf": [*every, {"type": "integer"}]} for i in range(count)}
    return {"$defs": definitions, "$ref": "#/$defs/d0"}


BAD_TOOL = [
    {
        "type": "function",
        "function": {"name": "f", "parameters": obj(a={"type": "strange"}), "strict": True},
    }
]

HOSTILE = [
    Case(
        "an unknown type", "json", obj(a={"type": "strange"}), "Hi.", refused="/properties/a/type"
    ),
    Case(
        "a bad pattern",
        "json",
        obj(a={"type": "string", "pattern": "["}),
        "Hi.",
        refused="/properties/a",
    ),
    Case("a bad regex", "regex", "([a-", "Hi.", refused="byte"),
    Case("a back-reference", "regex", r"(a+)\1", "Hi.", refused="back-reference"),
    Case(
        "a bad schema of a tool",
        "tools",
        {"tools": BAD_TOOL, "tool_choice": "required"},
        "Hi.",
        refused="type",
    ),
    Case(
        "recursion without a step", "gbnf", 'root ::= root | "" root ""', "Hi.", may_be_refused=True
    ),
    Case(
        "hidden left recursion",
        "gbnf",
        'root ::= a root "x" | "y"\na ::= "" | b\nb ::= a a | ""',
        "Hi.",
        judge=matches("yx*"),
        may_be_refused=True,
        tokens=20,
    ),
    Case("stars of stars", "gbnf", 'root ::= (("a"*)*)* "b"', "Hi.", matches("a*b"), tokens=40),
    Case("10,000 strings, 8 times", "json", LARGE, "Hi.", is_valid(LARGE), tokens=400, seconds=300),
    Case(
        "60,000 groups",
        "gbnf",
        "root ::= " + "(" * 60_000 + '"a"' + ")" * 60_000,
        "Hi.",
        matches("a"),
        may_be_refused=True,
    ),
    Case(
        "30,000 groups of a regex",
        "regex",
        "(" * 30_000 + "a" + ")" * 30_000,
        "Hi.",
        refused="nest",
    ),
    Case("a schema 400 deep", "json", nested(400), "Hi.", may_be_refused=True, tokens=20),
    Case(
        "branches in branches",
        "json",
        nested(12),
        "Hi.",
        judge=None,
        may_be_refused=True,
        tokens=20,
    ),
    Case(
        "references in circles",
        "json",
        mutual(40),
        "Hi.",
        judge=None,
        may_be_refused=True,
        tokens=20,
    ),
    Case(
        "an automaton that explodes",
        "regex",
        "(a|b)*a(a|b){40}c",
        "Hi.",
        judge=None,
        may_be_refused=True,
        tokens=30,
    ),
    Case(
        "a repetition without end",
        "regex",
        "((a{1,9999}){1,9999}){1,9999}",
        "Hi.",
        may_be_refused=True,
        tokens=20,
    ),
    Case(
        "a schema that nothing fulfils",
        "json",
        {"allOf": [{"type": "null"}, {"type": "string"}]},
        "Hi.",
        refused="satisf",
    ),
    Case("an empty grammar", "gbnf", " ", "Hi.", refused=""),
    Case("an unknown tag", "structural_tag", structural({"type": "no_such"}), "Hi.", refused=""),
    Case(
        "json_object: false",
        "body",
        {"structured_outputs": {"json_object": False}},
        "Hi.",
        refused="json_object",
        engines=("vllm",),
    ),
    Case(
        "json: empty",
        "body",
        {"structured_outputs": {"json": ""}},
        "Hi.",
        refused="",
        engines=("vllm",),
    ),
]


def cases(engine: str) -> list[Case]:
    """Helpful and hostile ones by turns, so that one would spoil the other."""
    helpful = [case for case in HELPFUL + VLLM_ONLY if engine in case.engines]
    hostile = [case for case in HOSTILE if engine in case.engines]
    mixed: list[Case] = []
    for place in range(max(len(helpful), len(hostile))):
        mixed += helpful[place : place + 1] + hostile[place : place + 1]
    return mixed


def crowd(count: int) -> list[Case]:
    """Long answers at once, with no part of a prompt in common: more than a small memory holds."""
    text = f"Copy this JSON exactly: {json.dumps(COPIED)}"
    return [
        Case(f"crowd {i}", "json", LIST, f"{i}. {text}", is_valid(LIST), tokens=320, seconds=300)
        for i in range(count)
    ]


def many_schemas(count: int) -> list[Case]:
    """Schemas that come once each: a cache without bounds keeps them all."""
    made = []
    for number in range(count):
        schema = obj(**{f"name{number}x{i}": {"enum": [f"{number}-{i}"]} for i in range(20)})
        made.append(Case(f"schema {number}", "json", schema, "Hi.", tokens=1))
    return made

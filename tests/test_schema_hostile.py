"""Schemas made to cost much: each is served fast, or refused by a named limit, and soon.

Each runs in a process of its own, so that its memory can be told and a crash is one failure. The
bounds are in seconds of the processor, at least ten times what a quiet machine measures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

# Reads a schema, fills a mask, and accepts a text byte by byte with a mask for each.
PROGRAM = """
import json, resource, sys, time
from stencilm import Compiler, Grammar, LimitError, Vocabulary, allocate_mask

schema, text, order = json.load(sys.stdin)
words = [b'":', b'{"', b'","', b'":"', b"ab", b"true", b"aaaa"]
tokens = [*(bytes([b]) for b in range(256)), None, *words]
vocabulary = Vocabulary.from_tokens(tokens, stop=[256])
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
accepted, refusal, slowest = 0, "", 0.0
try:
    grammar = Grammar.from_json_schema(schema, whitespace="compact", key_order=order)
    matcher = Compiler(vocabulary).compile(grammar).matcher()
    mask = allocate_mask(1, vocabulary.size)
    matcher.fill_mask(mask)
    start = time.process_time() - began
    for at, byte in enumerate(text.encode()):
        step = time.process_time()
        if not matcher.accept_bytes(bytes([byte])):
            break
        accepted += 1
        if at < 3000:
            matcher.fill_mask(mask)
        slowest = max(slowest, time.process_time() - step)
except LimitError as error:
    refusal = str(error)
    start = time.process_time() - began
memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) / 1024
print(json.dumps([accepted, refusal, start, slowest, memory]))
"""


@dataclass(frozen=True)
class Hostile:
    """A schema (a JSON text where it is deep), and a text that it allows, or the begin of one."""

    name: str
    schema: Any
    text: str
    may_be_refused: bool = False
    orders: tuple[str, ...] = ("declared", "any")
    seconds: float = 12
    """How soon a limit must be reached, if it may be."""


def record(properties: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **keywords}


def numbered(count: int) -> dict[str, Any]:
    return {f"n{at}": {"type": "integer"} for at in range(count)}


def overlapping(count: int) -> list[Any]:
    """Objects that are told apart by a tag that comes after what differs."""
    return [
        record(
            {
                "cfg": record({f"p{at}": {"type": "integer"}, "q": {"maxLength": at + 1}}),
                "t": {"const": f"k{at}"},
            },
            required=["cfg", "t"],
        )
        for at in range(count)
    ]


def two_ways(keyword: str, count: int) -> dict[str, Any]:
    def one(name: str) -> dict[str, Any]:
        return record({name: {"type": "integer"}}, required=[name])

    return {"allOf": [{keyword: [one(f"a{at}"), one(f"b{at}")]} for at in range(count)]}


def nested_few(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "boolean"}
    for _ in range(depth):
        schema = {"items": schema, "minItems": 1, "maxItems": 2, "uniqueItems": True}
        schema["type"] = "array"
    return schema


DEEP = 10_000
TOOLS = [
    record(
        {
            "name": {"const": f"tool_{at}"},
            "arguments": record(
                {f"arg{n}_{at % 7}": {"type": "string"} for n in range(5)},
                required=[f"arg0_{at % 7}"],
                additionalProperties=False,
            ),
        },
        required=["name", "arguments"],
        additionalProperties=False,
    )
    for at in range(500)
]
TAGGED = [
    record(
        {"kind": {"const": f"k{at}"}, f"p{at}": {"type": "integer"}, f"q{at}": {"maxLength": at}},
        required=["kind"],
    )
    for at in range(300)
]
REFERRING = {
    f"d{at}": record(
        {"a": {"$ref": f"#/$defs/d{at * 7 % 5000}"}, "b": {"$ref": f"#/$defs/d{at * 13 % 4999}"}}
    )
    for at in range(5_000)
}
CONDITIONS = [
    {"if": {"required": [f"n{at}"]}, "then": {"required": [f"n{at + 1}"]}}
    for at in range(0, 200, 2)
]


def doubling(keyword: str, count: int) -> dict[str, Any]:
    """Each schema refers twice to the next one, under a condition of its own."""
    steps = {
        f"d{at}": {
            keyword: [{"$ref": f"#/$defs/d{at + 1}"}, {"$ref": f"#/$defs/d{at + 1}", "title": "x"}],
            "title": f"step {at}",
        }
        for at in range(count)
    }
    last = {f"d{count}": record({"a": {}})}
    return {"$defs": steps | last, "$ref": "#/$defs/d0", "unevaluatedProperties": False}


def unions(count: int) -> str:
    """Alternatives inside of alternatives, which are too many to multiply out."""

    def five(at: int) -> str:
        return json.dumps({"anyOf": [{"required": [f"x{at}_{n}"]} for n in range(5)]})

    begin = "".join(
        f'{{"anyOf":[{{"required":["q{at}"]}},{{"allOf":[{five(at)},{five(-at)},'
        for at in range(count)
    )
    return begin + "true" + "]}]}" * count


CASES = [
    Hostile(
        "arrays 10,000 deep",
        '{"items":' * DEEP + '{"type":"integer"}' + "}" * DEEP,
        "[" * DEEP + "1" + "]" * DEEP,
    ),
    Hostile(
        "objects 10,000 deep",
        '{"type":"object","properties":{"a":' * DEEP + '{"type":"integer"}' + "}}" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
    ),
    Hostile("10,000 negations", '{"not":' * DEEP + '{"type":"string"}' + "}" * DEEP, '"a"'),
    Hostile(
        "10,000 unions, one in the other",
        '{"anyOf":[{"type":"null"},' * DEEP + '{"type":"string"}' + "]}" * DEEP,
        '"a"',
    ),
    Hostile(
        "400 exact choices, one in the other",
        "".join(f'{{"oneOf":[{{"required":["a{at}"]}},true],"allOf":[' for at in range(400))
        + "true"
        + "]}" * 400,
        '{"b":1',
    ),
    Hostile("3,000 unions, one in the other", unions(3_000), "{", may_be_refused=True),
    Hostile(
        "no union of 3,000, one in the other",
        f'{{"type":"object","not":{unions(3_000)}}}',
        "{",
        may_be_refused=True,
    ),
    Hostile("schemas that double, evaluated", doubling("allOf", 40), '{"a":1', may_be_refused=True),
    Hostile("conditions that double, evaluated", doubling("anyOf", 40), "{", may_be_refused=True),
    Hostile(
        "20,000 members that must exist",
        {
            "type": "object",
            "allOf": [{"not": {"additionalProperties": {"const": at}}} for at in range(20_000)],
        },
        "{",
        may_be_refused=True,
    ),
    Hostile(
        "50,000 properties", record(numbered(50_000)), '{"n7":1,"n40000":2}', orders=("declared",)
    ),
    Hostile(
        "50,000 properties in any order",
        record(numbered(50_000)),
        '{"n40000":1,"n7":2}',
        orders=("any",),
    ),
    Hostile(
        "100,000 strings",
        {"enum": [f"value {at} of many" for at in range(100_000)]},
        '"value 77777 of many"',
    ),
    Hostile(
        "5,000 definitions", {"$ref": "#/$defs/d1", "$defs": REFERRING}, '{"a":{"b":{"a":{}}}}'
    ),
    Hostile("300 tagged objects", {"oneOf": TAGGED}, '{"kind":"k77","p77":1,"q77":"a"}'),
    Hostile(
        "40 overlapping objects, the tag last",
        {"oneOf": overlapping(40)},
        '{"cfg":{"p3":7,"q":"abc"},"t":"k3"}',
    ),
    Hostile(
        "40 overlapping alternatives, the tag last",
        {"anyOf": overlapping(40)},
        '{"cfg":{"p3":7,"q":"abc"},"t":"k3"}',
    ),
    Hostile(
        "200 optional names under conditions",
        record(numbered(200), allOf=CONDITIONS),
        '{"n0":1,"n1":2,"n198":1,"n199":1}',
    ),
    Hostile("500 tools", {"anyOf": TOOLS}, '{"name":"tool_123","arguments":{"arg0_4":"x"}}'),
    Hostile("strings up to 10^9", {"type": "string", "maxLength": 10**9}, '"abc"'),
    Hostile("strings from 10^9", {"type": "string", "minLength": 10**9}, '"abc'),
    Hostile("10^6 items", {"items": {"type": "integer"}, "minItems": 10**6}, "[1,2"),
    Hostile("10^6 members", {"type": "object", "minProperties": 10**6}, '{"a":1'),
    Hostile("a large divisor", {"type": "integer", "multipleOf": 10**9 + 7}, "1000000007"),
    Hostile("100 optional names", record(numbered(100)), '{"n5":1,"n7":2,"n99":1}'),
    Hostile("counters in a counter", {"pattern": "^(a{1,20} ?){1,50}$"}, '"aaaa aaa a"'),
    Hostile(
        "20 choices of two, in order", two_ways("anyOf", 20), '{"a0":1,"a1":1', orders=("declared",)
    ),
    Hostile(
        "20 choices of two, in any order",
        two_ways("anyOf", 20),
        "{" + ",".join(f'"a{at}":1' for at in range(20)) + "}",
        orders=("any",),
    ),
    Hostile("20 exact choices of two", two_ways("oneOf", 20), '{"a0":1', may_be_refused=True),
    Hostile(
        "20 choices of two patterns",
        {
            "allOf": [
                {"anyOf": [{"pattern": f"a{{{n}}}b"}, {"pattern": f"c{n}"}]} for n in range(20)
            ]
        },
        '"a',
        may_be_refused=True,
    ),
    Hostile("a letter 31 before the end", {"pattern": "^[ab]*a[ab]{30}$"}, '"ababab', True),
    Hostile("ambiguous counters", {"pattern": "^((a|aa){1,50}b?){1,50}$"}, '"aabaab"', True),
    Hostile("counters 3 deep", {"pattern": "^((a{1,99}){1,99}){1,99}$"}, '"aaaaaa"', True),
    Hostile(
        "50 patterns of names",
        {
            "patternProperties": {
                f"{chr(97 + n % 26)}{{{1 + n // 26}}}": {"minimum": n} for n in range(50)
            }
        },
        "{",
        may_be_refused=True,
    ),
    Hostile(
        "1,200 different integers",
        {"items": {"type": "integer"}, "uniqueItems": True},
        json.dumps(list(range(0, 2_400, 2)), separators=(",", ":")),
        may_be_refused=True,
        orders=("any",),
        seconds=40,
    ),
    Hostile(
        "different items of different items",
        nested_few(14),
        "[[[",
        orders=("any",),
    ),
    Hostile(
        "1,000 different items",
        {"items": {"enum": list(range(1_000))}, "uniqueItems": True, "minItems": 1_000},
        "[1,2",
        may_be_refused=True,
        orders=("any",),
    ),
]


def params() -> list[Any]:
    return [
        pytest.param(case, order, id=f"{case.name}-{order}")
        for case in CASES
        for order in case.orders
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="asks for the memory of a process")
@pytest.mark.parametrize(("case", "order"), params())
def test_a_hostile_schema(case: Hostile, order: str) -> None:
    schema = case.schema if isinstance(case.schema, str) else json.dumps(case.schema)
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps([schema, case.text, order]),
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.fail("neither served nor refused")
    assert done.returncode == 0, done.stderr[-500:]
    accepted, refusal, start, slowest, memory = json.loads(done.stdout)
    print(f"{start:.3f} s, then {slowest:.3f} s at most, {memory:.0f} MB {refusal}")
    if refusal:
        assert case.may_be_refused, refusal
        assert start < case.seconds, "the limit is reached late"
    else:
        assert accepted == len(case.text), case.text[max(0, accepted - 20) : accepted + 1]
        assert start < 6
        assert slowest < 4
    assert memory < 400

"""Thirty states that engines find hard: first masks, cold masks and warm masks, beside peers.

    python bench/states.py TOKENIZER [--repeat 9] [--engines stencilm llguidance]

*First* is from the text of the grammar to its first mask. *Cold* is the first mask of a grammar in
the state named, with nothing kept from other grammars but what loading the tokenizer makes; *warm*
the same mask again in a second text. The least of some runs, in microseconds of processor time. A
state that an engine refuses or does not reach within thirty seconds has a dash, and the reason
stands below.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import alone
import peers
import results

import stencilm

SECONDS = 30

MOST_SECONDS = 2
"""After which a state is not measured again."""


def string(**schema: Any) -> tuple[str, Any]:
    return "json_schema", {"type": "string", **schema}


def shape(number: int) -> dict[str, Any]:
    """One of many, told apart by what `kind` says at the end."""
    names = [f"{letter}{number % 7}" for letter in "abcdefgh"[: 2 + number % 6]]
    properties: dict[str, Any] = {
        name: {"type": ["string", "integer"][number % 2]} for name in names
    }
    properties["kind"] = {"const": f"kind {number}"}
    return {
        "type": "object",
        "properties": properties,
        "required": [*names, "kind"],
        "additionalProperties": False,
    }


STATES: dict[str, tuple[tuple[str, Any], str]] = {
    "inside of a string": (string(), '"a'),
    "string of at most 40": (string(maxLength=40), '"a'),
    "string of at most 100,000": (string(maxLength=100_000), '"a'),
    "string of 10 to 20": (string(minLength=10, maxLength=20), '"abc'),
    "string of exactly 5": (string(minLength=5, maxLength=5), '"a'),
    r"^[\w .-]{1,64}$": (string(pattern=r"^[\w .-]{1,64}$"), '"a'),
    r"^\p{L}{1,64}$": (string(pattern=r"^\p{L}{1,64}$"), '"a'),
    "^[A-Z][a-z]*$": (string(pattern="^[A-Z][a-z]*$"), '"Ab'),
    "^[a-z0-9-]+$": (string(pattern="^[a-z0-9-]+$"), '"ab-'),
    "^[^x]*$": (string(pattern="^[^x]*$"), '"ab'),
    "^[^<>&]{0,500}$": (string(pattern="^[^<>&]{0,500}$"), '"ab'),
    r"^\d+$": (string(pattern=r"^\d+$"), '"12'),
    r"^\d{3}-\d{4}$": (string(pattern=r"^\d{3}-\d{4}$"), '"12'),
    "^[0-9a-f]{32}$": (string(pattern="^[0-9a-f]{32}$"), '"0a'),
    "^[A-Za-z0-9+/]*={0,2}$": (string(pattern="^[A-Za-z0-9+/]*={0,2}$"), '"aGk'),
    r"^\S+(\s\S+)*$ of at most 90": (string(pattern=r"^\S+(\s\S+)*$", maxLength=90), '"a b'),
    "^[A-Z]{2,4} .*$": (string(pattern="^[A-Z]{2,4} .*$"), '"AB c'),
    "e-mail": (string(format="email"), '"john.d'),
    "URI": (string(format="uri"), '"https://a'),
    "date and time": (string(format="date-time"), '"2026-11-30T1'),
    "UUID": (string(format="uuid"), '"0aF'),
    "integer": (("json_schema", {"type": "integer"}), "1"),
    "number between 0 and 100": (
        ("json_schema", {"type": "number", "minimum": 0, "maximum": 100}),
        "1",
    ),
    "enum of 2,000": (
        ("json_schema", {"enum": [f"value number {n * n}" for n in range(2_000)]}),
        '"value ',
    ),
    "enum of 100,000": (
        ("json_schema", {"enum": [f"item {n:x} of {n % 97}" for n in range(100_000)]}),
        '"item 1',
    ),
    "union of 300 shapes": (("json_schema", {"anyOf": [shape(n) for n in range(300)]}), '{"'),
    "1,000 optional names": (
        (
            "json_schema",
            {"properties": {f"name_{n}": {"type": "integer"} for n in range(1_000)}},
        ),
        '{"name_1',
    ),
    "in any JSON": (("json_schema", True), '{"a": [1, {"b": '),
    "free text until a tag": (
        (
            "structural_tag",
            {
                "type": "structural_tag",
                "format": {
                    "type": "triggered_tags",
                    "triggers": ["<call>"],
                    "tags": [
                        {
                            "type": "tag",
                            "begin": "<call>",
                            "content": {"type": "json_schema", "json_schema": {"type": "integer"}},
                            "end": "</call>",
                        }
                    ],
                },
            },
        ),
        "I think <",
    ),
    "words of letters, no JSON": (("regex", "([a-z]+ )*[a-z]+"), "some wor"),
}


def measure(
    engine: peers.Engine, grammar: tuple[str, Any], tokens: list[int], repeat: int
) -> dict[str, float]:
    """First, cold and warm masks, in microseconds."""
    clock, own = peers.clock, peers.clock_cost()
    runs: list[tuple[float, float, float]] = []
    enough = time.perf_counter() + MOST_SECONDS
    for _ in range(repeat):
        engine.forget()
        began = clock()
        engine.compile(*grammar)
        engine.begin()
        engine.fill()
        first = clock() - began
        cold = walked(engine, tokens, clock)
        engine.begin()
        runs.append((first, cold - own, walked(engine, tokens, clock) - own))
        if time.perf_counter() > enough:
            break
    first, cold, warm = (min(column) / 1e3 for column in zip(*runs, strict=True))
    return {"first": first, "cold": cold, "warm": warm}


def walked(engine: peers.Engine, tokens: list[int], clock: Any) -> int:
    """Nanoseconds for the mask after some tokens, asked for there and not before."""
    for token in tokens:
        if not engine.accept(token):
            raise ValueError("the text is refused")
    began = clock()
    engine.fill()
    return int(clock() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--engines", nargs="*", default=peers.installed())
    parser.add_argument("--only")
    arguments = parser.parse_args()
    if arguments.only is None:
        show(arguments)
        return
    vocabulary = stencilm.Vocabulary.load(arguments.tokenizer)
    engine = peers.ENGINES[arguments.only](vocabulary, arguments.tokenizer)
    text = peers.Text(arguments.tokenizer)
    found = {}
    for name, (grammar, begin) in STATES.items():
        tokens = text.tokens(begin)
        found[name] = alone.within(
            SECONDS, lambda g=grammar, t=tokens: measure(engine, g, t, arguments.repeat)
        )
    print(json.dumps(found))


def show(arguments: argparse.Namespace) -> None:
    options = [arguments.tokenizer, "--repeat", str(arguments.repeat)]
    found = alone.each_engine(__file__, arguments.engines, options)
    names = list(found)
    columns = ["state", *(f"{name} {what}" for what in ("first", "cold", "warm") for name in names)]
    rows = []
    for state in STATES:
        row: list[Any] = [f"`{state}`" if state.startswith("^") else state]
        for what in ("first", "cold", "warm"):
            for name in names:
                run = found[name][state]
                row.append(run[what] if isinstance(run, dict) else None)
        rows.append(row)
    text = f"Microseconds of processor time, the least of {arguments.repeat}.\n\n" + results.table(
        columns, rows
    )
    reasons = [
        f"- {name}, {state}: {run}"
        for name in names
        for state, run in found[name].items()
        if not isinstance(run, dict)
    ]
    if reasons:
        text += "\nNo figure:\n\n" + "\n".join(reasons) + "\n"
    results.save("states", results.surroundings(arguments.tokenizer, names), found, text)


if __name__ == "__main__":
    main()

"""First masks, cold masks and warm masks of some states that engines find hard, in microseconds.

    python bench/states.py TOKENIZER [--repeat 5] [--peer llguidance]

Every state is looked at with a store that is empty (cold) and again (warm); medians are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import stencilm

STATES: dict[str, tuple[Any, str]] = {
    "start of an object": ({"type": "object", "properties": {"name": {"type": "string"}}}, ""),
    "inside of a string": ({"type": "string"}, '"a'),
    "string of at most 40": ({"type": "string", "maxLength": 40}, '"a'),
    "string of exactly 5": ({"type": "string", "minLength": 5, "maxLength": 5}, '"a'),
    "any JSON": (True, ""),
    "in any JSON": (True, '{"a": [1, {"b": '),
    "integer": ({"type": "integer"}, "1"),
    "number in a range": ({"type": "number", "minimum": 0, "maximum": 100}, "1"),
    "date": ({"type": "string", "format": "date"}, '"2026-1'),
    "e-mail": ({"type": "string", "format": "email"}, '"john.d'),
    "uuid": ({"type": "string", "format": "uuid"}, '"0aF'),
    "uri": ({"type": "string", "format": "uri"}, '"https://a'),
    "pattern ^[A-Z][a-z]*$": ({"type": "string", "pattern": "^[A-Z][a-z]*$"}, '"Ab'),
    r"pattern ^[\w .-]{1,64}$": ({"type": "string", "pattern": r"^[\w .-]{1,64}$"}, '"a'),
    r"pattern ^\p{L}{1,64}$": ({"type": "string", "pattern": r"^\p{L}{1,64}$"}, '"a'),
    "pattern and length": (
        {"type": "string", "pattern": r"^\S+(\s\S+)*$", "maxLength": 90},
        '"a b',
    ),
    "enum of 2,000": ({"enum": [f"value number {n * n}" for n in range(2_000)]}, '"value '),
    "1,000 optional names": (
        {"properties": {f"name_{n}": {"type": "integer"} for n in range(1_000)}},
        '{"name_1',
    ),
}


def measure(vocabulary: stencilm.Vocabulary, schema: Any, text: str) -> tuple[float, float, float]:
    """First mask (compile included), cold mask after `text`, warm mask: microseconds."""
    clock = time.perf_counter_ns
    mask = stencilm.allocate_mask(1, vocabulary.size)
    vocabulary.renew_store()
    compiler = stencilm.Compiler(vocabulary, cache_entries=0)
    began = clock()
    compiled = compiler.compile(stencilm.Grammar.from_json_schema(json.dumps(schema)))
    matcher = compiled.matcher()
    matcher.fill_mask(mask)
    first = clock() - began
    if not matcher.accept_bytes(text.encode()) and text:
        raise ValueError(f"{text!r} is refused")
    began = clock()
    matcher.fill_mask(mask)
    cold = clock() - began
    again = compiled.matcher()
    if text:
        again.accept_bytes(text.encode())
    began = clock()
    again.fill_mask(mask)
    return first / 1e3, cold / 1e3, (clock() - began) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    vocabulary = stencilm.Vocabulary.load(arguments.tokenizer)
    print(f"{vocabulary.size} tokens; medians of {arguments.repeat}, µs")
    print(f"{'state':26} {'first mask':>11} {'cold':>9} {'warm':>7}")
    for name, (schema, text) in STATES.items():
        runs = [measure(vocabulary, schema, text) for _ in range(arguments.repeat)]
        first, cold, warm = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"{name:26} {first:11.1f} {cold:9.1f} {warm:7.2f}")


if __name__ == "__main__":
    main()

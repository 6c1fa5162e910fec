"""Memory while ever new schemas stream through one process.

    python bench/streaming.py TOKENIZER [--schemas 100000] [--store-mib 32] [--cache-mib 64]

Each schema is compiled, a text of it is begun and two masks are asked for. Some matchers stay alive
throughout, when all that they were made from was evicted long ago, and are asked again at the end.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import results

import stencilm

SAMPLES = 50
KEPT = 25


def schema(number: int) -> dict[str, Any]:
    """A different one for each number: names, an enumeration, a pattern, bounds."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    word = "".join(letters[number // 26**at % 26] for at in range(4))
    low, high = sorted((word[0], word[1]))
    return {
        "type": "object",
        "properties": {
            word: {
                "type": "string",
                "pattern": f"^[{low}-{high}A-Z ]+[0-9]{{1,{number % 9 + 1}}}$",
            },
            f"{word}_kind": {"enum": [f"{word}{n}" for n in range(number % 7 + 1)]},
            f"{word}_size": {"type": "integer", "minimum": number % 1_000},
            "note": {"type": "string", "maxLength": number % 300 + 1},
        },
        "required": [word],
        "additionalProperties": False,
    }


def resident() -> int | None:
    """Bytes of memory that this process has, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4_096
    except OSError:
        return None


def stream(vocabulary: stencilm.Vocabulary, count: int, cache_bytes: int) -> dict[str, Any]:
    """Lets `count` schemas through; what memory, store and cache were along the way."""
    compiler = stencilm.Compiler(vocabulary, cache_bytes=cache_bytes, cache_entries=10**9)
    mask = stencilm.allocate_mask(1, vocabulary.size)
    samples: list[dict[str, Any]] = []
    alive: list[tuple[int, stencilm.Matcher, bytes]] = []
    began = time.perf_counter()
    for number in range(count):
        matcher = begun(compiler, number)
        matcher.fill_mask(mask)
        matcher.accept_bytes(b"A")
        matcher.fill_mask(mask)
        if number % max(count // KEPT, 1) == 0:
            alive.append((number, matcher, mask.tobytes()))
        if number % max(count // SAMPLES, 1) == 0 or number == count - 1:
            use, store = compiler.cache_use(), vocabulary.store.usage()
            samples.append(
                {
                    "schemas": number + 1,
                    "resident": resident(),
                    "cache_bytes": use.bytes,
                    "cache_entries": use.entries,
                    "cache_evictions": use.evictions,
                    "store_bytes": store[1],
                    "store_hit_rate": store[2] / max(store[2] + store[3], 1),
                    "store_evictions": store[5],
                }
            )
    seconds = time.perf_counter() - began
    fresh = stencilm.Compiler(vocabulary, cache_entries=0)
    for number, matcher, before in alive:
        matcher.fill_mask(mask)
        again = mask.tobytes()
        other = begun(fresh, number)
        other.accept_bytes(b"A")
        other.fill_mask(mask)
        if not before == again == mask.tobytes():
            raise AssertionError(f"the mask of schema {number} has changed")
    return {"samples": samples, "seconds": seconds, "alive": len(alive)}


def begun(compiler: stencilm.Compiler, number: int) -> stencilm.Matcher:
    grammar = stencilm.Grammar.from_json_schema(json.dumps(schema(number)), whitespace="compact")
    matcher = compiler.compile(grammar).matcher()
    if not matcher.accept_bytes(matcher.forced_text()):
        raise AssertionError("forced text is refused")
    return matcher


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--store-mib", type=int, default=32)
    parser.add_argument("--cache-mib", type=int, default=64)
    arguments = parser.parse_args()
    loaded = stencilm.Vocabulary.load(arguments.tokenizer)
    vocabulary = stencilm.Vocabulary.restore(
        loaded.to_bytes(), store_bytes=arguments.store_mib << 20
    )
    del loaded
    before = resident()
    found = stream(vocabulary, arguments.schemas, arguments.cache_mib << 20)
    found |= {"resident_before": before, "store_mib": arguments.store_mib}
    found |= {"cache_mib": arguments.cache_mib}
    columns = ["schemas", "resident, MiB", "cache, MiB", "entries", "evictions"]
    columns += ["store, MiB", "store hits, %", "store evictions"]
    rows: list[list[Any]] = []
    for sample in [*found["samples"][:: SAMPLES // 10], found["samples"][-1]]:
        mib = [
            None if sample[n] is None else sample[n] / 2**20 for n in ("resident", "cache_bytes")
        ]
        row = [sample["schemas"], *mib, sample["cache_entries"], sample["cache_evictions"]]
        row += [sample["store_bytes"] / 2**20, 100 * sample["store_hit_rate"]]
        rows.append([*row, sample["store_evictions"]])
    each = 1e6 * found["seconds"] / arguments.schemas
    text = (
        f"Limits: {arguments.cache_mib} MiB for compiled grammars, {arguments.store_mib} MiB for"
        f" the store. Resident at first: {(before or 0) / 2**20:.0f} MiB. A schema took"
        f" {each:.0f} µs from its text to its second mask. {found['alive']} matchers stayed alive,"
        " and were right at the end.\n\n"
    )
    about = results.surroundings(arguments.tokenizer, ["stencilm"])
    results.save("streaming", about, found, text + results.table(columns, rows))


if __name__ == "__main__":
    main()

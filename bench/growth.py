"""What a mask and a token cost after ten tokens and after a hundred thousand.

    python bench/growth.py TOKENIZER [--engines stencilm llguidance xgrammar] [--most 100000]

Each text goes on for ever in one way: by recursion on the right or on the left, ever deeper, with
ever more ways to read it, through rules that may be empty. Times are medians of the 25 tokens after
the number named, in microseconds of processor time; an engine stops where a text has taken
it ten seconds. For Stencilm also what is kept: bytes of the tables, and live alternatives and
frames of the matcher.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from itertools import cycle
from typing import Any

import alone
import peers
import results

import stencilm

SECONDS = 10
SAMPLE = 25

GRAMMARS: dict[str, tuple[str, str, str, int]] = {
    "right recursion": ('start: "a" start | "b"', "", "a", 100_000),
    "left recursion": ('start: start "a" | "b"', "b", "a", 100_000),
    "one rule in another": ('start: "(" start ")" | "x"', "", "(", 10_000),
    "brackets, closing again": ('start: "(" start? ")" start?', "", "()", 100_000),
    "ambiguous, E + E": ('start: start "+" start | "1"', "", "1+", 100_000),
    "very ambiguous, S S": ('start: start start start | start start | "a"', "", "a", 100_000),
    "rules that may be empty": ('start: x* "!"\nx: y?\ny: x | "a"', "", "a", 100_000),
    "palindromes": ('start: "a" start "a" | "b" start "b" | "c"', "", "ab", 10_000),
    "any JSON, one array": ("json", "[", "1,", 100_000),
    "any JSON, ever deeper": ("json", "", '{"a":[', 10_000),
}
"""Grammar, what a text begins with, what it goes on with, and the most tokens."""


def measure(
    engine: peers.Engine, vocabulary: stencilm.Vocabulary, name: str, most: int
) -> tuple[list[dict[str, Any]], str]:
    """For each number of tokens: mask and accept in microseconds, what is kept; why it ended."""
    text, head, period, longest = GRAMMARS[name]
    engine.forget()
    engine.compile(*(("json_schema", True) if text == "json" else ("lark", text)))
    engine.begin()
    for token in single(vocabulary, head):
        if not engine.accept(token):
            raise ValueError("the text is refused")
    clock, own = peers.clock, peers.clock_cost()
    sizes = [
        n for n in (10, 20, 30, 50, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000) if n <= longest
    ]
    points: list[dict[str, Any]] = []
    masks: list[float] = []
    accepts: list[float] = []
    began_all = time.perf_counter()
    for count, token in enumerate(cycle(single(vocabulary, period)), start=1):
        began = clock()
        try:
            engine.fill()
            filled = clock()
            if not engine.accept(token):
                return points, f"token {count} is refused"
        except Exception as error:
            return points, f"token {count}: {error}"
        masks.append((filled - began - own) / 1e3)
        accepts.append((clock() - filled - own) / 1e3)
        if sizes and count == min(sizes[0], most) + SAMPLE:
            point: dict[str, Any] = {
                "tokens": sizes.pop(0),
                "mask": statistics.median(masks[-SAMPLE:]),
                "accept": statistics.median(accepts[-SAMPLE:]),
            }
            if isinstance(engine, peers.Stencilm):
                point["tables"] = engine.compiled.memory
                point["alternatives"], point["frames"] = engine.matcher.live_size
            points.append(point)
        if not sizes or sizes[0] > most:
            return points, f"{points[-1]['tokens']:,} tokens"
        if time.perf_counter() - began_all > SECONDS:
            return points, f"{count:,} tokens in {SECONDS} s"
    raise AssertionError("a text of no tokens")


def single(vocabulary: stencilm.Vocabulary, text: str) -> list[int]:
    """A token for each byte."""
    ids = {vocabulary.token_bytes(token): token for token in reversed(range(vocabulary.size))}
    return [ids[bytes([byte])] for byte in text.encode()]


def exponent(points: list[dict[str, Any]]) -> float | None:
    """The power of the number of tokens that mask and token together grow with, at the end."""
    if len(points) < 2:
        return None
    (few, less), (many, more) = ((p["tokens"], p["mask"] + p["accept"]) for p in points[-2:])
    return math.log(max(more, 0.1) / max(less, 0.1)) / math.log(many / few)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--engines", nargs="*", default=peers.installed())
    parser.add_argument("--only")
    arguments = parser.parse_args()
    if arguments.only is None:
        show(arguments)
        return
    vocabulary = stencilm.Vocabulary.load(arguments.tokenizer)
    engine = peers.ENGINES[arguments.only](vocabulary, arguments.tokenizer)
    found = {
        name: alone.within(
            6 * SECONDS, lambda n=name: measure(engine, vocabulary, n, arguments.most)
        )
        for name in GRAMMARS
    }
    print(json.dumps(found))


def show(arguments: argparse.Namespace) -> None:
    options = [arguments.tokenizer, "--most", str(arguments.most)]
    found = alone.each_engine(__file__, arguments.engines, options)
    rows: list[list[Any]] = []
    for grammar in GRAMMARS:
        for name in found:
            run = found[name][grammar]
            points, reason = ([], run) if isinstance(run, str) else run
            if not points:
                rows.append([grammar, name, *[None] * 8, reason])
                continue
            first, last = points[0], points[-1]
            power = exponent(points)
            kept = [
                f"{last[what]:,}" if what in last else None
                for what in ("tables", "alternatives", "frames")
            ]
            cost = [first["mask"], last["mask"], first["accept"], last["accept"]]
            rows.append([grammar, name, *cost, power, *kept, reason])
    columns = [
        *("grammar", "engine", "mask after 10", "mask at the end", "accept after 10"),
        *(
            "accept at the end",
            "grows as tokens to the",
            "tables, bytes",
            "alternatives",
            "frames",
            "ended after",
        ),
    ]
    results.save(
        "growth",
        results.surroundings(arguments.tokenizer, found),
        found,
        "Microseconds of processor time.\n\n" + results.table(columns, rows),
    )


if __name__ == "__main__":
    main()

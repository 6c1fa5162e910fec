"""Whether it would pay to keep compiled grammars with their tables as bytes.

    python bench/saving.py TOKENIZER

*Read and compile* is from the text of a grammar to a matcher. *Learn* is what the masks and tokens
of the sample texts take beyond what they take when all is known, with an empty store. A file of the
tables must at least be read and checked: *check* is one BLAKE2 hash of as many bytes as the tables
have, which is less than loading them.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peers
import results

import stencilm

sys.path.insert(0, str(Path(__file__).parent / "workloads"))
import texts

REPEAT = 9


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = peers.clock()
    made = work()
    return (peers.clock() - began) / 1e3, made


def figures(
    vocabulary: stencilm.Vocabulary, kind: str, source: Any, walks: list[list[int]]
) -> dict[str, float]:
    """Medians, in microseconds of processor time and bytes."""
    mask = stencilm.allocate_mask(1, vocabulary.size)

    def compile() -> stencilm.CompiledGrammar:
        return stencilm.Compiler(vocabulary, cache_entries=0).compile(peers.read(kind, source))

    runs: list[list[float]] = []
    for _ in range(REPEAT):
        vocabulary.renew_store()
        read, compiled = timed(compile)

        def walk(compiled: stencilm.CompiledGrammar = compiled) -> None:
            for tokens in walks:
                matcher = compiled.matcher()
                for token in tokens:
                    matcher.fill_mask(mask)
                    matcher.accept(token)

        first, _ = timed(walk)
        again, _ = timed(walk)
        saved = bytes(compiled.memory)
        check, _ = timed(lambda saved=saved: hashlib.blake2b(saved).digest())
        runs.append([read, first - again, len(saved), check])
    read, learn, size, check = (statistics.median(column) for column in zip(*runs, strict=True))
    return {"read": read, "learn": learn, "bytes": size, "check": check}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    arguments = parser.parse_args()
    vocabulary = stencilm.Vocabulary.load(arguments.tokenizer)
    text = peers.Text(arguments.tokenizer)
    found = {
        name: figures(vocabulary, kind, source, [text.tokens(sample) for sample in samples])
        for name, (kind, source, samples) in texts.workloads().items()
    }
    rows = [
        [name, run["read"], run["learn"], int(run["bytes"]), run["check"]]
        for name, run in found.items()
    ]
    columns = ["grammar", "read and compile, µs", "learn, µs", "tables, bytes", "check, µs"]
    about = results.surroundings(arguments.tokenizer, ["stencilm"])
    results.save("saving", about, found, results.table(columns, rows))


if __name__ == "__main__":
    main()

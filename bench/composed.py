"""How masks are put together, beside what the paper on XGrammar says of its own.

    python bench/composed.py TOKENIZER [--schemas FILE.jsonl.gz] [--most 1000]

For each grammar: the local results (what one expression alone says of the vocabulary) that its
texts needed, how many of those earlier grammars had left in the store, how many expressions of the
stack a mask reads, and how many tokens the topmost leaves to those below it: "context-dependent" in
the paper. A file of schemas has one JSON object a line, with `schema` and `tests`, a list of
`{"data": …, "valid": true}`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peers
import results

import stencilm

sys.path.insert(0, str(Path(__file__).parent / "workloads"))
import texts

PAPER = (
    "The paper (arXiv 2411.15100, Llama 3.1): 1,134 context-dependent tokens of 128,000 for JSON"
    " without a schema, 120 with context expansion; masks of all states 160 MB, 0.46 MB in its"
    " adaptive storage.\n\n"
)


class Figures:
    """What is counted over the texts of one grammar, or of many."""

    def __init__(self) -> None:
        self.depths: Counter[int] = Counter()
        self.open_tokens: list[int] = []
        self.local_results = self.from_store = self.table_bytes = self.grammars = 0

    def walk(self, vocabulary: stencilm.Vocabulary, grammar: stencilm.Grammar, walks: Any) -> None:
        compiled = stencilm.Compiler(vocabulary, cache_entries=0).compile(grammar)
        for tokens in walks:
            matcher = compiled.matcher()
            for token in [*tokens, None]:
                _, depth, left_open = matcher.mask_parts()
                self.depths[depth] += 1
                self.open_tokens.append(left_open)
                if token is not None and not matcher.accept(token):
                    raise ValueError("the text is refused")
        local_results, from_store, _, _ = compiled.learnt()
        self.local_results += local_results
        self.from_store += from_store
        self.table_bytes += compiled.memory
        self.grammars += 1

    def row(self, name: str, vocabulary: stencilm.Vocabulary) -> list[Any]:
        _, size, hits, misses, _, _ = vocabulary.store.usage()
        masks = self.depths.total()
        share = [100 * self.depths[depth] / masks for depth in (1, 2, 3)]
        share.append(100 - sum(share))
        return [
            name,
            masks,
            self.local_results / self.grammars,
            100 * self.from_store / max(self.local_results, 1),
            100 * hits / max(hits + misses, 1),
            *share,
            max(self.depths),
            sum(self.open_tokens) / masks,
            max(self.open_tokens),
            self.table_bytes / self.grammars / 2**20,
            size / 2**20,
        ]


def schemas(path: str, most: int) -> Iterator[tuple[Any, list[Any]]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases[:: max(len(cases) // most, 1)]:
        values = [test["data"] for test in case["tests"] if test["valid"]]
        if values:
            yield case["schema"], values


def forget(vocabulary: stencilm.Vocabulary) -> None:
    """Leaves in the store what loading a tokenizer makes."""
    vocabulary.renew_store()
    vocabulary._warm()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    parser.add_argument("--schemas")
    parser.add_argument("--most", type=int, default=1_000)
    arguments = parser.parse_args()
    vocabulary = stencilm.Vocabulary.load(arguments.tokenizer)
    text = peers.Text(arguments.tokenizer)
    rows, data = [], {}
    for name, (kind, source, samples) in texts.workloads().items():
        forget(vocabulary)
        figures = Figures()
        walks = [text.tokens(sample) for sample in samples]
        figures.walk(vocabulary, peers.read(kind, source), walks)
        rows.append(figures.row(name, vocabulary))
        data[name] = {"depths": dict(figures.depths), "open_tokens": figures.open_tokens}
    if arguments.schemas:
        forget(vocabulary)
        figures, refused = Figures(), 0
        for schema, values in schemas(arguments.schemas, arguments.most):
            try:
                grammar = stencilm.Grammar.from_json_schema(json.dumps(schema))
                walks = [text.tokens(json.dumps(value, ensure_ascii=False)) for value in values]
                figures.walk(vocabulary, grammar, walks)
            except (stencilm.StencilmError, ValueError):
                refused += 1
        name = f"{figures.grammars} schemas ({refused} left out), a mean of each"
        rows.append(figures.row(name, vocabulary))
        data["schemas"] = {"depths": dict(figures.depths), "left_out": refused}
    columns = [
        *(
            "grammar",
            "masks",
            "local results",
            "from the store, %",
            "look-ups there that hit, %",
            "1 deep, %",
            "2, %",
            "3, %",
        ),
        *("more, %", "deepest", "open tokens, mean", "most", "tables, MiB", "store, MiB"),
    ]
    about = results.surroundings(arguments.tokenizer, ["stencilm"])
    results.save("composed", about, data, PAPER + results.table(columns, rows))


if __name__ == "__main__":
    main()

"""What papers measure: JSON without a schema, function calls, XML, a language like Python, SQL.

    python bench/workloads.py TOKENIZER [--engines stencilm llguidance xgrammar glrmask]

The grammars and texts in `bench/workloads/` are given to each engine as they are. A text is cut
into the model's tokens; before each the mask is asked for, and must allow it. *Cold* is the first
time with a grammar, *warm* the second; in microseconds of processor time.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import alone
import peers
import results

import stencilm

sys.path.insert(0, str(Path(__file__).parent / "workloads"))
import texts

SECONDS = 120


def measure(engine: peers.Engine, kind: str, grammar: Any, walks: list[list[int]]) -> Any:
    """Times of one workload."""
    clock, own = peers.clock, peers.clock_cost()
    engine.forget()
    began = clock()
    engine.compile(kind, grammar)
    engine.begin()
    engine.fill()
    first = clock() - began
    found: dict[str, Any] = {"first": first / 1e3}
    for what in ("cold", "warm"):
        masks, accepts = [], []
        for tokens in walks:
            engine.begin()
            for place, token in enumerate(tokens):
                began = clock()
                engine.fill()
                filled = clock()
                taken = engine.accept(token)
                accepted = clock()
                is_set = int(engine.words()[token >> 5]) >> (token & 31) & 1
                if not taken or not is_set:
                    raise ValueError(f"token {place} of a text is refused")
                masks.append((filled - began - own) / 1e3)
                accepts.append((accepted - filled - own) / 1e3)
            if not engine.may_stop():
                raise ValueError("a text may not end")
        found[what] = {
            "mean": sum(masks) / len(masks),
            "p50": results.quantile(masks, 0.5),
            "p99": results.quantile(masks, 0.99),
            "most": max(masks),
            "accept": sum(accepts) / len(accepts),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
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
    for name, (kind, grammar, samples) in texts.workloads().items():
        walks = [text.tokens(sample) for sample in samples]
        found[name] = alone.within(
            SECONDS, lambda k=kind, g=grammar, w=walks: measure(engine, k, g, w)
        )
    print(json.dumps(found))


def show(arguments: argparse.Namespace) -> None:
    found = alone.each_engine(__file__, arguments.engines, [arguments.tokenizer])
    columns = [
        *("workload", "engine", "first mask", "cold mean", "cold p50", "cold p99", "cold most"),
        *("warm mean", "warm p99", "warm most", "accept, cold", "accept, warm"),
    ]
    rows: list[list[Any]] = []
    reasons = []
    for workload in texts.workloads():
        for name in found:
            run = found[name][workload]
            if isinstance(run, dict):
                cold, warm = run["cold"], run["warm"]
                figures = [run["first"], cold["mean"], cold["p50"], cold["p99"], cold["most"]]
                figures += [warm["mean"], warm["p99"], warm["most"], cold["accept"], warm["accept"]]
            else:
                figures = [None] * 10
                reasons.append(f"- {name}, {workload}: {run}")
            rows.append([workload, name, *figures])
    text = "Microseconds of processor time.\n\n" + results.table(columns, rows)
    if reasons:
        text += "\nNo figure:\n\n" + "\n".join(reasons) + "\n"
    results.save("workloads", results.surroundings(arguments.tokenizer, found), found, text)


if __name__ == "__main__":
    main()

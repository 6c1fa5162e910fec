"""Real instances in other legal spellings: under the widest options the verdict never changes.

    python bench/spellings.py [--spellings 3] [--limit N] [--seed N] [-v]

Each instance of the mask benchmark's development data is offered as `json.dumps` writes it, then in
other key orders, white space, escapes and spellings of numbers. Counts what is refused to compile,
what is judged otherwise than the data says, and what changes its verdict with its spelling.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import conformance
from suite_engine import Stencilm

import stencilm

DATA = conformance.SHARED / "data" / "maskbench-dev.jsonl.gz"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--spellings", type=int, default=3)
    parser.add_argument("--limit", type=int, default=None, help="schemas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", action="store_true", help="print every instance that is counted")
    arguments = parser.parse_args()
    if not arguments.data.exists():
        print(f"{arguments.data} is not here")
        return 2
    suite = conformance.module(conformance.SHARED / "bench" / "suite.py")
    engine, random = Stencilm(), Random(arguments.seed)
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    began = time.perf_counter()

    def note(what: str, case: str, text: str) -> None:
        counts[what] += 1
        if arguments.v:
            print(f"{what}: {case}: {text[:160]}")

    with gzip.open(arguments.data, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number == arguments.limit:
                break
            case = json.loads(line, parse_float=suite.Number, parse_int=suite.Number)
            counts["schemas"] += 1
            try:
                accepts = engine.schema(suite.plain(case["schema"]), "draft2020-12", {}, True)
            except stencilm.StencilmError as error:
                refusals[conformance.reason_of(error)[:90]] += 1
                if arguments.v:
                    print(f"refused: {case['id']}: {error}")
                continue
            # In draft-04 an integer is a spelling.
            may_respell_numbers = "draft-04" not in json.dumps(suite.plain(case["schema"]))
            for test in case["tests"]:
                counts["instances"] += 1
                usual = suite.usual(test["data"])
                try:
                    verdict = accepts(usual.encode("utf-8", "surrogatepass"))
                    if verdict is not test["valid"]:
                        what = "accepted, invalid" if verdict else "refused, valid"
                        note(what, case["id"], usual)
                    for _ in range(arguments.spellings):
                        counts["spellings"] += 1
                        text = suite.spell(test["data"], random, may_respell_numbers)
                        if accepts(text.encode("utf-8", "surrogatepass")) is not verdict:
                            note("changes with its spelling", case["id"], text)
                            break
                except stencilm.LimitError as error:
                    note("limit in mid-text", case["id"], str(error))
    for what, count in counts.items():
        print(f"{count:8} {what}")
    for reason, count in refusals.most_common():
        print(f"{count:8} refused: {reason}")
    print(f"{time.perf_counter() - began:.0f} s")
    wrong = (
        "limit in mid-text",
        "refused, valid",
        "accepted, invalid",
        "changes with its spelling",
    )
    return int(bool(refusals) or any(counts[what] for what in wrong))


if __name__ == "__main__":
    sys.exit(main())

"""The official suite of JSON Schema against the list of what does not pass, `conformance.toml`.

    python bench/conformance.py            says what differs from the list
    python bench/conformance.py --write    rewrites the list, and the tables of the docs

The list is strict both ways: a test that fails must be in it with a reason, and one that passes
must not. Reasons are found where that can be done; others are kept from the list as it was, and a
new one that nobody explained is `unexplained`, which the tests refuse.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import islice, permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
LIST = ROOT / "conformance.toml"
PAGE = ROOT / "docs" / "grammars" / "json-schema.md"
BEGIN, END = "<!-- conformance: begin -->", "<!-- conformance: end -->"

PARTS = ("required", "optional", "format")
UNEXPLAINED = "unexplained"
ORDER = "names come in declared order"
MOST_ORDERS = 5_000

# (file, group, test): the names under which the list has a test.
Name = tuple[str, str, str]


@dataclass
class Outcome:
    """What a run over the suite found."""

    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    total: Counter[tuple[str, str]] = field(default_factory=Counter)
    groups: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    failed: dict[Name, str] = field(default_factory=dict)
    """The reason, or `unexplained`."""
    seen: dict[Name, str] = field(default_factory=dict)
    """Of those that are unexplained: what happened."""


def is_here() -> bool:
    """Whether the suite is on this machine."""
    return (SHARED / "bench" / "suite.py").exists()


def module(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def run() -> Outcome:
    """Offers every instance of the suite as the text that `json.dumps` gives."""
    suite = module(SHARED / "bench" / "suite.py")
    engine = module(ROOT / "bench" / "suite_engine.py").Stencilm()
    drafts, remotes = suite.read_suite(SHARED / "data" / "json-schema-test-suite.tar.gz")
    outcome = Outcome()
    for draft, files in drafts.items():
        for part, file, groups in sorted(
            files, key=lambda entry: (PARTS.index(entry[0]), entry[1])
        ):
            for group in groups:
                tests = group["tests"]
                place = (f"{draft} {file}", group["description"])
                outcome.groups[place] = [test["description"] for test in tests]
                outcome.total[draft, part] += len(tests)
                try:
                    schema = suite.plain(group["schema"])
                    accepts = engine.schema(schema, draft, remotes, part == "format")
                    error = None
                except Exception as raised:
                    error = raised
                for test in tests:
                    name = (*place, test["description"])
                    if error is not None:
                        outcome.failed[name] = reason_of(error)
                        outcome.seen[name] = f"{type(error).__name__}: {error}"
                        continue
                    text = suite.usual(test["data"])
                    if accepts(text.encode("utf-8", "surrogatepass")) is test["valid"]:
                        outcome.passed[draft, part] += 1
                        continue
                    in_order = test["valid"] and passes_in_some_order(suite, accepts, test["data"])
                    outcome.failed[name] = ORDER if in_order else UNEXPLAINED
                    outcome.seen[name] = f"{'refuses' if test['valid'] else 'accepts'} {text:.80}"
    return outcome


def reason_of(error: Exception) -> str:
    """A reason from an exception, without the place."""
    text = str(error).removeprefix(f"at `{getattr(error, 'location', '')}`: ")
    if type(error).__name__ == "UnsupportedError":
        return f"`{text.split(' cannot be enforced')[0]}` is refused"
    return f"{type(error).__name__}: {text}"


def passes_in_some_order(suite: ModuleType, accepts: Callable[[bytes], bool], data: Any) -> bool:
    """Whether the instance is accepted once its members come in another order."""
    orders = islice(reordered(data), MOST_ORDERS)
    return any(accepts(suite.usual(order).encode("utf-8", "surrogatepass")) for order in orders)


def reordered(data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        for names in permutations(data):
            values = [list(islice(reordered(data[name]), 24)) for name in names]
            for chosen in product(*values):
                yield dict(zip(names, chosen, strict=True))
    elif isinstance(data, list):
        for items in product(*(list(islice(reordered(item), 24)) for item in data)):
            yield list(items)
    else:
        yield data


def listed() -> tuple[dict[str, dict[str, list[int]]], dict[Name, str]]:
    """The counts, and the reasons by test, of the list."""
    if not LIST.exists():
        return {}, {}
    table = tomllib.loads(LIST.read_text())
    reasons: dict[Name, str] = {}
    for reason, files in table.get("failing", {}).items():
        for file, groups in files.items():
            for group, tests in groups.items():
                reasons |= {(file, group, test): reason for test in tests}
    return table["passing"], reasons


def explained(outcome: Outcome) -> dict[Name, str]:
    """The failing tests with their reasons; those that the list knows better keep theirs."""
    _, known = listed()
    return {
        name: known.get(name, reason) if reason == UNEXPLAINED else reason
        for name, reason in outcome.failed.items()
    }


def write(outcome: Outcome) -> None:
    """Rewrites the list and the table of the page."""
    lines = [
        "# Tests of the official JSON Schema suite that do not pass, by reason, file and group.",
        "# Written by `python bench/conformance.py --write`; tests/test_conformance.py compares.",
        "",
        "# [passing, all]",
    ]
    for draft in dict.fromkeys(draft for draft, _ in outcome.total):
        lines.append(f"[passing.{quoted(draft)}]")
        for part in PARTS:
            passed, total = outcome.passed[draft, part], outcome.total[draft, part]
            lines.append(f"{part} = [{passed}, {total}]")
    lines += ["", "# How many tests each file has."]
    files: Counter[str] = Counter()
    for (file, _), tests in outcome.groups.items():
        files[file] += len(tests)
    for draft in dict.fromkeys(draft for draft, _ in outcome.total):
        lines.append(f"[files.{quoted(draft)}]")
        lines += [
            f"{quoted(file.removeprefix(f'{draft} '))} = {count}"
            for file, count in files.items()
            if file.startswith(f"{draft} ")
        ]
    tree: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for (file, group, test), reason in explained(outcome).items():
        tree[reason][file][group].append(test)
    for reason, files in sorted(tree.items()):
        for file, groups in files.items():
            lines += ["", f"[failing.{quoted(reason)}.{quoted(file)}]"]
            for group, tests in groups.items():
                lines.append(f"{quoted(group)} = [")
                lines += [f"  {quoted(test)}," for test in tests]
                lines.append("]")
    LIST.write_text("\n".join(lines) + "\n")
    PAGE.write_text(page_with_table())


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def page_with_table() -> str:
    """The page with the table that the list makes."""
    passing, reasons = listed()
    lines = ["", "| dialect | required | optional | formats |", "|---|---|---|---|"]
    for draft, parts in passing.items():
        cells = " | ".join("{} of {}".format(*parts[part]) for part in PARTS)
        lines.append(f"| {dialect(draft)} | {cells} |")
    lines += ["", "| what does not pass | required | optional | formats |", "|---|---|---|---|"]
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for (file, _, _), reason in reasons.items():
        rows[reason][part_of(file)] += 1
    for reason, counts in sorted(rows.items(), key=lambda row: (-row[1].total(), row[0])):
        lines.append(
            f"| {reason} | " + " | ".join(str(counts[part] or "") for part in PARTS) + " |"
        )
    lines += ["", *table_of_files(list(passing), Counter(file for file, _, _ in reasons))]
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after


def dialect(draft: str) -> str:
    name = draft.removeprefix("draft")
    return name if len(name) > 1 else f"draft-0{name}"


def table_of_files(drafts: list[str], failing: Counter[str]) -> list[str]:
    """How many tests pass, by file and dialect."""
    files = tomllib.loads(LIST.read_text())["files"]
    lines = [
        "| tests that pass of | " + " | ".join(map(dialect, drafts)) + " |",
        "|---" * (len(drafts) + 1) + "|",
    ]
    names = {name for draft in drafts for name in files[draft]}
    for name in sorted(names, key=lambda name: (PARTS.index(part_of(name)), name.lower())):
        cells = []
        for draft in drafts:
            count, failed = files[draft].get(name, 0), failing[f"{draft} {name}"]
            cells.append(f"{count - failed} of {count}" if failed else str(count or ""))
        shown = name.removesuffix(".json").removeprefix("optional/")
        kind = "" if part_of(name) != "optional" else " (optional)"
        lines.append(f"| `{shown}`{kind} | " + " | ".join(cells) + " |")
    return lines


def part_of(file: str) -> str:
    if "optional/format/" in file:
        return "format"
    return "optional" if "/" in file else "required"


def differences(outcome: Outcome) -> list[str]:
    """What the list says otherwise than the run."""
    _, known = listed()
    found = explained(outcome)
    lines = [f"passes, but is listed: {show(name)}" for name in known.keys() - found.keys()]
    for name, reason in found.items():
        if name not in known:
            lines.append(f"fails, and is not listed: {show(name)}: {outcome.seen[name]}")
        elif known[name] != reason:
            lines.append(f"fails for another reason, {reason}: {show(name)}")
        elif reason == UNEXPLAINED:
            lines.append(f"has no reason: {show(name)}: {outcome.seen[name]}")
    return sorted(lines)


def show(name: Name) -> str:
    return "{}: {} / {}".format(*name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="rewrite the list and the page")
    arguments = parser.parse_args()
    if not is_here():
        print(f"{SHARED} is not here")
        return 2
    outcome = run()
    if arguments.write:
        write(outcome)
    for line in differences(outcome):
        print(line)
    for draft in dict.fromkeys(draft for draft, _ in outcome.total):
        counts = (f"{outcome.passed[draft, p]}/{outcome.total[draft, p]}" for p in PARTS)
        print(
            f"{draft:14}", *(f"{part} {count}" for part, count in zip(PARTS, counts, strict=True))
        )
    return bool(differences(outcome))


if __name__ == "__main__":
    sys.exit(main())

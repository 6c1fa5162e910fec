"""Results: kept as JSON with the machine, the versions and the date, and shown as tables."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import peers

FOLDER = Path(__file__).parent / "results"


def surroundings(tokenizer: str, names: Iterable[str]) -> dict[str, Any]:
    """What figures hold for."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "tokenizer": Path(tokenizer).name,
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "versions": {name: peers.version_of(name) for name in names},
    }


def save(name: str, about: dict[str, Any], data: Any, table: str) -> None:
    """Writes `results/NAME.json` and `results/NAME.md`, and prints the table."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps({"about": about, "data": data}, indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    versions = ", ".join(f"{engine} {version}" for engine, version in about["versions"].items())
    head = (
        f"{about['date']}; {about['processor']}, {about['cores']} cores, load {about['load']} when"
        f" it ended; Python {about['python']}; tokenizer {about['tokenizer']}; {versions}.\n\n"
    )
    (FOLDER / f"{name}.md").write_text(head + table, encoding="utf-8")
    print(head + table)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown; numbers to three places that matter, None as a dash."""
    lines = ["| " + " | ".join(columns) + " |", "|---" + "|---:" * (len(columns) - 1) + "|"]
    lines += ["| " + " | ".join(map(shown, row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return (
            f"{value:,.2f}"
            if abs(value) < 10
            else f"{value:,.0f}"
            if abs(value) >= 100
            else f"{value:,.1f}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all do not pass."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())

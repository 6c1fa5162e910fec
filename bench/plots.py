"""Pictures of what the other scripts measured: `results/*.svg`, from `results/*.json`.

python bench/plots.py
"""

from __future__ import annotations

import json
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import results

COLORS = {
    "stencilm": "#0b6e4f",
    "llguidance": "#c8553d",
    "xgrammar": "#3d5a80",
    "glrmask": "#b0892f",
}


def load(name: str) -> Any:
    path = results.FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["data"] if path.exists() else None


def save(figure: Any, name: str) -> None:
    # Without a date the file changes only where the figures do.
    figure.savefig(results.FOLDER / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def states(found: dict[str, Any]) -> None:
    """Cold masks of the thirty states, sorted by ours."""
    names = sorted(found["stencilm"], key=lambda state: figure_of(found["stencilm"][state]) or 0)
    figure, axes = plt.subplots(figsize=(9, 8), layout="constrained")
    for engine, runs in found.items():
        points = [(figure_of(runs[state]), place) for place, state in enumerate(names)]
        shown = [(cold, place) for cold, place in points if cold]
        axes.scatter(*zip(*shown, strict=True), label=engine, color=COLORS[engine], s=28)
    axes.axvline(60, color="gray", linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel("cold mask, µs; the line is 60 µs")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
    save(figure, "states")


def figure_of(run: Any) -> float | None:
    return max(run["cold"], 0.01) if isinstance(run, dict) else None


def growth(found: dict[str, Any]) -> None:
    """Mask and token after so many tokens, a picture for each kind of text."""
    kinds = list(found["stencilm"])
    figure, grid = plt.subplots(
        2, (len(kinds) + 1) // 2, figsize=(16, 6), sharex=True, sharey=True, layout="constrained"
    )
    for kind, axes in zip(kinds, grid.flat, strict=False):
        for engine, runs in found.items():
            points = runs[kind][0] if isinstance(runs[kind], list) else []
            if points:
                tokens = [point["tokens"] for point in points]
                both = [max(point["mask"] + point["accept"], 0.01) for point in points]
                axes.plot(tokens, both, marker=".", label=engine, color=COLORS[engine])
        axes.set_title(kind, fontsize=9)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.grid(alpha=0.3)
    grid.flat[0].legend(fontsize=8)
    figure.supxlabel("tokens before", fontsize=9)
    figure.supylabel("mask and token, µs", fontsize=9)
    save(figure, "growth")


def workloads(found: dict[str, Any]) -> None:
    """First masks and cold masks of the papers' workloads."""
    kinds = list(found["stencilm"])
    figure, grid = plt.subplots(1, 3, figsize=(14, 4.5), layout="constrained")
    for axes, what in zip(grid, ("first mask", "cold, mean", "warm, mean"), strict=True):
        for number, (engine, runs) in enumerate(found.items()):
            bars = [mean_of(runs[kind], what.split(",")[0]) for kind in kinds]
            places = [place + 0.2 * number for place in range(len(kinds))]
            axes.bar(places, bars, 0.2, label=engine, color=COLORS[engine])
        axes.set_yscale("log")
        axes.set_xticks(range(len(kinds)), kinds, rotation=40, ha="right", fontsize=8)
        axes.set_title(f"{what}, µs", fontsize=10)
        axes.grid(axis="y", alpha=0.3)
    grid[0].legend(fontsize=8)
    save(figure, "workloads")


def mean_of(run: Any, what: str) -> float:
    if not isinstance(run, dict):
        return 0.0
    value: float = run["first"] if what == "first mask" else run[what]["mean"]
    return value


def streaming(found: dict[str, Any]) -> None:
    """Memory while schemas stream through."""
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    schemas = [sample["schemas"] for sample in found["samples"]]
    for name, label in (
        ("resident", "resident, beyond the vocabulary"),
        ("cache_bytes", "counted: compiled grammars"),
        ("store_bytes", "counted: store"),
    ):
        less = found["resident_before"] if name == "resident" else 0
        values = [(sample[name] - less) / 2**20 for sample in found["samples"]]
        axes.plot(schemas, values, label=label)
    limit = found["store_mib"] + found["cache_mib"]
    axes.axhline(limit, color="gray", linestyle=":", label="both limits together")
    axes.set_xlabel("different schemas")
    axes.set_ylabel("MiB")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    save(figure, "streaming")


def main() -> None:
    for draw in (states, growth, workloads, streaming):
        found = load(draw.__name__)
        if found is not None:
            draw(found)


if __name__ == "__main__":
    main()

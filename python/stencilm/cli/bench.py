"""`stencilm bench`: what grammars cost and save on this machine."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from stencilm import Compiler, Grammar, StencilmError
from stencilm.sampling import compare

from .console import Failure, command, err, out, print_json, progress
from .models import (
    ChatModel,
    Engine,
    can_read,
    load_model,
    load_vocabulary,
    missing_libraries,
    model_path,
)
from .options import JsonOutput

__all__ = ["bench"]

bench = typer.Typer(help="Measure what grammars cost and save here.", no_args_is_help=True)

_QUESTION = "Describe Maria Lopez, 34, and her order of one red bicycle, as JSON."

_GRAMMARS: dict[str, Any] = {
    "a person": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 40},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "email": {"type": "string", "pattern": r"^[a-z0-9.]{1,20}@[a-z]{1,12}\.(com|org|net)$"},
            "biography": {"type": "string", "minLength": 80, "maxLength": 240},
            "role": {"enum": ["admin", "user", "guest"]},
        },
        "required": ["name", "age", "email", "biography", "role"],
        "additionalProperties": False,
    },
    "many fixed keys": {
        "type": "object",
        "properties": {
            "customer_information": {"$ref": "#/$defs/customer"},
            "delivery_information": {"$ref": "#/$defs/delivery"},
            "number_of_ordered_items": {"type": "integer", "minimum": 1, "maximum": 99},
            "requires_customer_confirmation": {"type": "boolean"},
            "preferred_payment_method": {"enum": ["credit_card", "bank_transfer", "invoice"]},
        },
        "required": [
            "customer_information",
            "delivery_information",
            "number_of_ordered_items",
            "requires_customer_confirmation",
            "preferred_payment_method",
        ],
        "additionalProperties": False,
        "$defs": {
            "customer": {
                "type": "object",
                "properties": {
                    "first_name": {"type": "string", "pattern": "^[A-Z][a-z]{1,9}$"},
                    "last_name": {"type": "string", "pattern": "^[A-Z][a-z]{1,9}$"},
                    "age_in_years": {"type": "integer", "minimum": 18, "maximum": 99},
                    "is_existing_customer": {"type": "boolean"},
                },
                "required": ["first_name", "last_name", "age_in_years", "is_existing_customer"],
                "additionalProperties": False,
            },
            "delivery": {
                "type": "object",
                "properties": {
                    "requested_delivery_date": {"type": "string", "format": "date"},
                    "destination_country": {"enum": ["DE", "ES", "FR", "US"]},
                    "is_express_delivery": {"type": "boolean"},
                },
                "required": [
                    "requested_delivery_date",
                    "destination_country",
                    "is_express_delivery",
                ],
                "additionalProperties": False,
            },
        },
    },
}


class Clock(StrEnum):
    """What is measured."""

    WALL = "wall"
    CPU = "cpu"


_CLOCKS = {Clock.WALL: time.perf_counter, Clock.CPU: time.process_time}


@dataclass(frozen=True, slots=True)
class _Run:
    """How to measure one engine."""

    engine: str
    path: Path
    threads: int | None
    rounds: int
    max_tokens: int
    clock: Clock


@bench.command("e2e")
@command
def e2e(
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="NAME|FILE.py:CLASS",
            help="Of stencilm's own (without it, all that are installed), or a class with the"
            " members of `sampling.Model` and `chat_prompt`. May be repeated.",
        ),
    ] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(
            "--model",
            help="As for `generate`. May be repeated: each engine takes the first that it reads.",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="How many the engines compute with.")
    ] = None,
    rounds: Annotated[
        int, typer.Option("--rounds", min=2, help="How often each text is written.")
    ] = 6,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=3, help="Where a text is cut.")
    ] = 160,
    clock: Annotated[
        Clock,
        typer.Option(
            "--clock",
            help="Time as it passes, or the process's own on all processors: with --threads 1 the"
            " same, but for what other processes take.",
        ),
    ] = Clock.WALL,
    here: Annotated[bool, typer.Option("--here", hidden=True)] = False,
    json_output: JsonOutput = False,
) -> None:
    """Time a model's tokens free, held to a grammar, and with forced tokens skipped.

    Free and held runs write the same tokens in turn; for each token the fastest of all rounds
    counts. `overhead` is what holding adds, `noise` how much two halves of the free runs differ;
    in parentheses the matcher's first run, in which no mask was known. Each engine runs in a
    process of its own. Run nothing beside it.
    """
    paths = [model_path(path) for path in model or []] or [model_path(None)]
    runs = [
        _Run(name, path, threads, rounds, max_tokens, clock)
        for name, path in _chosen(engine or [], paths)
    ]
    if here:
        print_json([row for run in runs for row in _measure(run)])
        return
    cores, load = os.cpu_count() or 1, os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    rows: list[dict[str, Any]] = []
    with progress("measuring") as set_stage:
        for run in runs:
            set_stage(f"measuring {run.engine}")
            rows += _measure_apart(run)
    if json_output:
        print_json({"cores": cores, "load_before": load, "rows": rows})
        return
    for row in rows:
        if "error" in row:
            err.print(Text.assemble(("error: ", "bold red"), f"{_name(row)}: {row['error']}"))
    measured = [row for row in rows if "error" not in row]
    if not measured:
        raise Failure("nothing could be measured")
    _show(measured)
    out.print(f"{cores} cores, of which {load:.1f} were busy before")


def _chosen(engines: list[str], paths: list[Path]) -> list[tuple[str, Path]]:
    """The engines to measure, each with its model."""
    found = []
    for name in engines or [e.value for e in Engine if not missing_libraries(e)]:
        if ".py:" in name:
            found.append((name, paths[0]))
            continue
        if name not in list(Engine):
            raise Failure(f"there is no engine {name}: {', '.join(Engine)}, or FILE.py:CLASS")
        readable = [path for path in paths if can_read(Engine(name), path)]
        if readable:
            found.append((name, readable[0]))
        elif engines:
            raise Failure(f"{name} can read none of the models: name another with --model")
    if not found:
        raise Failure("no engine is installed that can read the model")
    return found


def _measure_apart(run: _Run) -> list[dict[str, Any]]:
    """The rows of one engine, whose threads and memory end with it."""
    arguments = ["--engine", run.engine, "--model", str(run.path), "--here", "--json-output"]
    arguments += ["--rounds", str(run.rounds), "--max-tokens", str(run.max_tokens)]
    arguments += ["--clock", run.clock.value]
    if run.threads is not None:
        arguments += ["--threads", str(run.threads)]
    made = subprocess.run(
        [sys.executable, "-m", "stencilm", "bench", "e2e", *arguments],
        stdout=subprocess.PIPE,
        stderr=None if err.is_terminal else subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    last = (made.stdout.strip().splitlines() or [""])[-1]
    try:
        rows = json.loads(last)
    except ValueError:
        rows = {"error": {"message": f"it ended with exit code {made.returncode}"}}
    if isinstance(rows, list):
        return rows
    return [{"engine": run.engine, "error": rows["error"]["message"]}]


def _measure(run: _Run) -> list[dict[str, Any]]:
    model, version = _load(run)
    vocabulary = load_vocabulary(run.path, model.vocab_size)
    compiler = Compiler(vocabulary)
    prompt = model.chat_prompt(_QUESTION)
    rows = []
    for name, schema in _GRAMMARS.items():
        row: dict[str, Any] = {"engine": run.engine, "version": version, "grammar": name}
        compiled = compiler.compile(Grammar.from_json_schema(schema, whitespace="compact"))
        try:
            found = compare(
                model,
                vocabulary,
                compiled.matcher,
                prompt,
                rounds=run.rounds,
                max_tokens=run.max_tokens,
                clock=_CLOCKS[run.clock],
            )
            rows.append({**row, **found.as_dict()})
        except StencilmError as error:
            rows.append({**row, "error": str(error)})
    return rows


def _load(run: _Run) -> tuple[ChatModel, str]:
    if ".py:" not in run.engine:
        engine = Engine(run.engine)
        return load_model(run.path, engine, run.threads), _version(engine)
    file, _, name = run.engine.rpartition(":")
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    if spec is None or spec.loader is None or not Path(file).is_file():
        raise Failure(f"there is no file {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise Failure(f"{file} has no {name}")
    made: ChatModel = getattr(module, name)(run.path, threads=run.threads)
    return made, str(getattr(made, "version", ""))


def _version(engine: Engine) -> str:
    names = {Engine.LLAMA_CPP: "llama-cpp-python"}
    try:
        return importlib.metadata.version(names.get(engine, engine.value))
    except importlib.metadata.PackageNotFoundError:
        return "?"


_TITLES = (
    *("engine", "grammar", "tokens", "free ms", "held ms", "overhead", "noise", "matcher µs"),
    *("skipping ms", "forced", "speed"),
)


def _show(rows: list[dict[str, Any]]) -> None:
    """A table in Markdown, for terminals and for documents."""
    lines = [_TITLES, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for index, line in enumerate(lines):
        # Names to the left, figures to the right.
        padded = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        out.print(Text(f"| {' | '.join(padded)} |"))
        if index == 0:
            rules = ["-" * w if at < 2 else "-" * (w - 1) + ":" for at, w in enumerate(widths)]
            out.print(Text(f"| {' | '.join(rules)} |"))


def _name(row: dict[str, Any]) -> str:
    return " ".join(filter(None, [Path(row["engine"]).name, row.get("version")]))


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        _name(row),
        row["grammar"],
        str(row["tokens"]),
        f"{row['free_seconds'] * 1e3:.2f}",
        f"{row['held_seconds'] * 1e3:.2f}",
        f"{row['overhead'] * 100:+.2f} %",
        f"{row['noise'] * 100:.2f} %",
        f"{row['matcher_seconds'] * 1e6:.0f} ({row['first_matcher_seconds'] * 1e6:.0f})",
        f"{row['skipping_seconds'] * 1e3:.2f}",
        f"{row['skipping_forced']} of {row['skipping_tokens']}",
        f"{row['speed']:.2f} x",
    )

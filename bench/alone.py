"""Each measurement in a process of its own: none can slow, crash or outlast the others."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def each_engine(script: str, names: Iterable[str], arguments: Sequence[str]) -> dict[str, Any]:
    """Runs `script` for each engine, with `--only NAME`; gives the JSON that each prints last."""
    found = {}
    for name in names:
        command = [sys.executable, script, *arguments, "--only", name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found[name] = json.loads(done.stdout.splitlines()[-1])
    return found


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What `work` gives, or a text that says why there is nothing: it failed or took longer.

    It runs in a fork of this process, which has loaded what it needs.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def run() -> None:
        try:
            theirs.send(work())
        except Exception as error:
            theirs.send(f"{type(error).__name__}: {error}"[:200])

    child = context.Process(target=run)
    child.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else f"longer than {seconds:.0f} s"
    except EOFError:
        child.join()
        return f"crashed with {child.exitcode}"
    finally:
        if child.is_alive():
            child.kill()
        child.join()

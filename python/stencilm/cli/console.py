"""What every command prints with, and how a command fails."""

from __future__ import annotations

import functools
import json
import sys
import traceback
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING, ParamSpec

import typer
from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from stencilm import InternalError, LimitError, StencilmError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Code", "Failure", "command", "err", "out", "print_json", "progress"]

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

P = ParamSpec("P")


class Code(IntEnum):
    """The exit codes: part of the interface."""

    OK = 0
    NO = 1
    USAGE = 2
    LIMIT = 3
    INTERNAL = 70
    INTERRUPTED = 130


class Failure(Exception):
    """Ends a command.

    Args:
        message: What went wrong, in a sentence.
        code: How the process ends.
        detail: Shown under the message to people: the place, with a caret.
        fields: Added to the message for machines.
    """

    def __init__(
        self,
        message: str,
        code: Code = Code.USAGE,
        *,
        detail: RenderableType | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.detail = detail
        self.fields = dict(fields or {})


def command(function: Callable[P, None]) -> Callable[P, None]:
    """Turn every failure of a command into a message and an exit code."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(Code.INTERRUPTED) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            failure = _as_failure(error)
            if kwargs.get("json_output"):
                fields = {"message": failure.message, "exit_code": int(failure.code)}
                print_json({"error": {**fields, **failure.fields}})
            else:
                _show(failure)
            raise typer.Exit(failure.code) from None

    return run


def print_json(value: object) -> None:
    """One value on one line, for machines."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


@contextmanager
def progress(stage: str) -> Iterator[Callable[[str], None]]:
    """A spinner with a clock on a terminal's stderr; calling what it gives changes the text."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(stage, total=None)
        yield lambda text: bar.update(task, description=text)


def _as_failure(error: Exception) -> Failure:
    if isinstance(error, Failure):
        return error
    if isinstance(error, InternalError) or not isinstance(error, StencilmError):
        trace = Text(traceback.format_exc(), style="dim")
        return Failure(f"a bug of ours, please report it: {error!r}", Code.INTERNAL, detail=trace)
    return Failure(str(error), Code.LIMIT if isinstance(error, LimitError) else Code.USAGE)


def _show(failure: Failure) -> None:
    err.print(Text.assemble(("error: ", "bold red"), failure.message))
    if failure.detail is not None:
        err.print(failure.detail)

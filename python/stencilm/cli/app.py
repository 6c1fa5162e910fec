"""The commands, put together."""

from __future__ import annotations

import typer

from .bench import bench
from .check import check
from .debug import debug
from .explain import explain
from .generate import generate
from .next import next_

__all__ = ["app"]

app = typer.Typer(
    name="stencilm",
    help="Hold the output of language models to a schema, a grammar or a regular expression.",
    epilog=(
        "Exit codes: 0 yes, or done; 1 no (the text is not valid); 2 a mistake in the call or"
        " in the grammar; 3 a limit was reached; 70 a bug of ours; 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(generate)
app.command()(check)
app.command("next")(next_)
app.command()(explain)
app.add_typer(debug, name="debug")
app.add_typer(bench, name="bench")

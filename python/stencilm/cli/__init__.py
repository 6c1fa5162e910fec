"""The command `stencilm`: one file for each of its commands.

The only package that imports `typer` and `rich`.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        print(
            f"stencilm: the command line needs {error.name}: pip install 'stencilm[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    app()

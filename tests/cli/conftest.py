"""How the tests of the command line call it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

pytest.importorskip("typer", reason="the command line's libraries are not installed")
pytest.importorskip("rich", reason="the command line's libraries are not installed")

from typer.testing import CliRunner

from stencilm.cli import models
from stencilm.cli.app import app

PERSON = Path(__file__).parents[2] / "examples" / "person.json"


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, read again."""
        return json.loads(self.out)


class Run(Protocol):
    """Calls `stencilm`."""

    def __call__(self, *arguments: object, stdin: str | None = None) -> Outcome:
        """See `call`."""


class Write(Protocol):
    """Puts a text into a file."""

    def __call__(self, text: str | bytes) -> Path:
        """The path of the file."""


def call(*arguments: object, stdin: str | None = None) -> Outcome:
    """Call `stencilm` with these arguments."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call `stencilm`, without a default model."""
    monkeypatch.setattr(models, "_default_model", lambda: None)
    return call


@pytest.fixture
def person() -> Path:
    return PERSON


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(text: str | bytes) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return put

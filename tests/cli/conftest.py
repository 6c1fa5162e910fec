"""What the tests of the command line start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("typer", reason="the command line's libraries are not installed")

from calling import PERSON, call

from stencilm.cli import models

if TYPE_CHECKING:
    from pathlib import Path

    from calling import Run, Write


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

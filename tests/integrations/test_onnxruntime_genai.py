"""ONNX Runtime GenAI with a real model, which its model builder has to make first.

`STENCILM_ONNX_MODEL` names its folder.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

og = pytest.importorskip("onnxruntime_genai", reason="ONNX Runtime GenAI is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

from stencilm import Compiler, Grammar, Vocabulary  # noqa: E402
from stencilm.integrations.onnxruntime_genai import GrammarGuide, OnnxRuntimeModel  # noqa: E402
from stencilm.sampling import Finish, ModelError, generate  # noqa: E402


@pytest.fixture(scope="module")
def folder() -> Path:
    named = os.environ.get("STENCILM_ONNX_MODEL")
    if not named:
        pytest.skip("STENCILM_ONNX_MODEL does not name a folder with a model")
    return Path(named)


@pytest.fixture(scope="module")
def model(folder: Path) -> OnnxRuntimeModel:
    return OnnxRuntimeModel(folder, threads=1)


@pytest.fixture(scope="module")
def vocabulary(folder: Path, model: OnnxRuntimeModel) -> Vocabulary:
    return Vocabulary.load(folder, vocab_size=model.vocab_size)


def test_our_own_loop(model: OnnxRuntimeModel, vocabulary: Vocabulary, person: Any) -> None:
    matcher = Compiler(vocabulary).compile(Grammar.from_json_schema(person)).matcher()
    prompt = model.chat_prompt("Describe Maria Lopez, 34")
    steps = list(generate(model, matcher, vocabulary, prompt))
    text = b"".join(vocabulary.token_bytes(step.token_id) or b"" for step in steps)
    jsonschema.validate(json.loads(text), person)
    assert steps[-1].finish is Finish.STOP


def test_several_ids_in_one_pass_are_the_same_sequence(model: OnnxRuntimeModel) -> None:
    ids = model.chat_prompt("Describe Maria Lopez, 34")
    model.reset()
    whole = model.step(ids)
    model.reset()
    model.step(ids[:-3])
    for token_id in ids[-3:]:
        one_by_one = model.step([token_id])
    assert np.corrcoef(whole, one_by_one)[0, 1] > 0.99
    with pytest.raises(ValueError, match="no ids"):
        model.step([])


@pytest.mark.parametrize("options", [{}, {"do_sample": True, "temperature": 1.3}])
def test_its_own_generator_with_a_batch(
    folder: Path, vocabulary: Vocabulary, options: dict[str, Any]
) -> None:
    patterns = ["[A-Z][a-z]{2,9} is [0-9]{1,2}\\.", "yes|no"]
    compiler = Compiler(vocabulary)
    matchers = [compiler.compile(Grammar.from_regex(p)).matcher() for p in patterns]
    loaded = og.Model(str(folder))
    parameters = og.GeneratorParams(loaded)
    parameters.set_search_options(max_length=60, batch_size=2, **options)
    generator = og.Generator(loaded, parameters)
    prompt = og.Tokenizer(loaded).encode("Hello there. ")
    generator.append_tokens(np.stack([prompt, prompt]).astype(np.int32))
    guide = GrammarGuide(matchers, vocabulary)
    while not generator.is_done():
        guide.mask(generator)
        generator.generate_next_token()
    for row, pattern in enumerate(patterns):
        ids = generator.get_sequence(row)[len(prompt) :].tolist()
        text = b"".join(vocabulary.token_bytes(token) or b"" for token in ids).decode()
        assert re.fullmatch(pattern, text)


def test_beams_are_refused(folder: Path, vocabulary: Vocabulary) -> None:
    loaded = og.Model(str(folder))
    parameters = og.GeneratorParams(loaded)
    parameters.set_search_options(max_length=20, num_beams=3)
    generator = og.Generator(loaded, parameters)
    generator.append_tokens(og.Tokenizer(loaded).encode("Hello"))
    matcher = Compiler(vocabulary).compile(Grammar.from_regex("a+")).matcher()
    with pytest.raises(ValueError, match=r"1 matchers, but 3 sequences.*Beam search"):
        GrammarGuide([matcher], vocabulary).mask(generator)


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no genai_config\.json"):
        OnnxRuntimeModel(tmp_path)

"""The real model on OpenVINO, end to end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("openvino", reason="OpenVINO is not installed")
pytest.importorskip("openvino_genai", reason="OpenVINO GenAI is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

from stencilm import Compiler, Grammar, Vocabulary  # noqa: E402
from stencilm.integrations.openvino import OpenVINOModel  # noqa: E402
from stencilm.sampling import Figures, Finish, ModelError, generate  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "Describe Maria Lopez, 34"


@pytest.fixture(scope="module")
def model(smollm2: Path) -> OpenVINOModel:
    return OpenVINOModel(smollm2)


@pytest.fixture(scope="module")
def vocabulary(smollm2: Path) -> Vocabulary:
    return Vocabulary.load(smollm2)


def answer(
    model: OpenVINOModel,
    vocabulary: Vocabulary,
    grammar: Grammar | None,
    question: str = QUESTION,
    **options: float,
) -> tuple[str, Figures]:
    """What the model says, held to a grammar."""
    matcher = Compiler(vocabulary).compile(grammar).matcher() if grammar else None
    prompt = model.chat_prompt(question)
    steps = generate(model, matcher, vocabulary, prompt, **options)  # type: ignore[arg-type]
    text, figures = b"", Figures()
    for step in steps:
        text += vocabulary.token_bytes(step.token_id) or b""
        figures.add(step)
    return text.decode(), figures


def test_the_prompt_is_in_the_models_own_form(model: OpenVINOModel, vocabulary: Vocabulary) -> None:
    names = {number: name for name, number in vocabulary.special.items()}

    def spell(ids: list[int]) -> str:
        return "".join(names.get(i) or (vocabulary.token_bytes(i) or b"").decode() for i in ids)

    assert spell(model.chat_prompt("Hi 42")) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
        "<|im_end|>\n<|im_start|>user\nHi 42<|im_end|>\n<|im_start|>assistant\n"
    )
    assert spell(model.chat_prompt("Hi", "Be kind")).startswith("<|im_start|>system\nBe kind<")


def test_several_ids_in_one_pass_are_the_same_sequence(model: OpenVINOModel) -> None:
    ids = model.chat_prompt(QUESTION)
    model.reset()
    whole = model.step(ids)
    model.reset()
    model.step(ids[:-3])
    for token_id in ids[-3:]:
        one_by_one = model.step([token_id])
    assert whole.shape == (model.vocab_size,)
    assert np.corrcoef(whole, one_by_one)[0, 1] > 0.99
    assert whole.argmax() == one_by_one.argmax()


@pytest.mark.parametrize(("temperature", "seed"), [(0.0, 0), (1.0, 1), (1.5, 2)])
def test_every_text_is_valid_for_the_schema(
    model: OpenVINOModel, vocabulary: Vocabulary, person: Any, temperature: float, seed: int
) -> None:
    grammar = Grammar.from_json_schema(person)
    text, figures = answer(model, vocabulary, grammar, temperature=temperature, seed=seed)
    jsonschema.validate(json.loads(text), person)
    assert figures.finish is Finish.STOP
    assert figures.forced > 0


def test_without_the_stencil_it_is_not_json(model: OpenVINOModel, vocabulary: Vocabulary) -> None:
    text, _ = answer(model, vocabulary, None, max_tokens=40)
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(text)


def test_a_regex_and_a_choice(model: OpenVINOModel, vocabulary: Vocabulary) -> None:
    pattern = "[A-Z][a-z]{2,9} is [0-9]{1,3} years old\\."
    text, _ = answer(model, vocabulary, Grammar.from_regex(pattern))
    assert re.fullmatch(pattern, text)
    text, _ = answer(model, vocabulary, Grammar.choice(["yes", "no"]), "Is water wet?")
    assert text in {"yes", "no"}


def test_the_same_seed_writes_the_same_text(model: OpenVINOModel, vocabulary: Vocabulary) -> None:
    grammar = Grammar.from_regex("[a-z ]{40}")

    def draw(seed: int) -> str:
        return answer(model, vocabulary, grammar, temperature=1.2, top_p=0.95, seed=seed)[0]

    assert draw(5) == draw(5) != draw(6)


def test_skipping_certain_tokens_asks_the_model_less(
    model: OpenVINOModel, vocabulary: Vocabulary, person: Any
) -> None:
    grammar = Grammar.from_json_schema(person, whitespace="compact")
    text, figures = answer(model, vocabulary, grammar)
    jsonschema.validate(json.loads(text), person)
    assert figures.forced > 10


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model at"):
        OpenVINOModel(tmp_path / "none.gguf")
    with pytest.raises(ModelError, match="has no openvino_model"):
        OpenVINOModel(tmp_path)


def test_a_file_that_is_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STENCILM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(64))
    with pytest.raises(ModelError, match="cannot convert"):
        OpenVINOModel(path)
    assert list((tmp_path / "cache").iterdir()) == []

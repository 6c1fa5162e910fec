"""llama.cpp with the real model: llama-cpp-python, and the example for xllamacpp."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from stencilm import Compiler, Grammar, Matcher, Vocabulary  # noqa: E402
from stencilm.sampling import Finish, ModelError, generate  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "xllamacpp_model.py"


@pytest.fixture(scope="module")
def llama(smollm2: Path) -> Any:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    return llama_cpp.Llama(str(smollm2), n_ctx=1024, n_threads=1, verbose=False)


@pytest.fixture(scope="module")
def vocabulary(smollm2: Path) -> Vocabulary:
    return Vocabulary.load(smollm2)


def matcher(vocabulary: Vocabulary, grammar: Grammar) -> Matcher:
    return Compiler(vocabulary).compile(grammar).matcher()


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_chat_completion(
    llama: Any, vocabulary: Vocabulary, person: Any, temperature: float
) -> None:
    from stencilm.integrations.llama_cpp import GrammarLogitsProcessor

    grammar = Grammar.from_json_schema(person, whitespace="compact")
    held = GrammarLogitsProcessor(llama, matcher(vocabulary, grammar), vocabulary)
    answer = llama.create_chat_completion(
        [{"role": "user", "content": "Describe Maria Lopez, 34"}],
        logits_processor=[held],
        temperature=temperature,
        seed=3,
    )
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "stop"
    jsonschema.validate(json.loads(choice["message"]["content"]), person)


def test_a_completion_and_its_verdict(llama: Any, vocabulary: Vocabulary) -> None:
    from stencilm.integrations.llama_cpp import GrammarLogitsProcessor

    pattern = "[A-Z][a-z]{2,9} is [0-9]{1,2}\\."
    held = GrammarLogitsProcessor(
        llama, matcher(vocabulary, Grammar.from_regex(pattern)), vocabulary
    )
    prompt = llama.tokenize(b"Who is it? ")
    written = llama.create_completion(prompt, logits_processor=[held], max_tokens=40)
    text = written["choices"][0]["text"]
    assert re.fullmatch(pattern, text)
    ids = llama.tokenize(text.encode(), add_bos=False)
    assert held.is_whole([*prompt, *ids])
    assert not held.is_whole([*prompt, *ids[:-1]])


def test_an_error_ends_the_text(llama: Any, vocabulary: Vocabulary) -> None:
    from stencilm.integrations.llama_cpp import GrammarLogitsProcessor

    held = GrammarLogitsProcessor(
        llama, matcher(vocabulary, Grammar.from_regex("[a-z]{5}")), vocabulary
    )
    written = llama.create_completion("One", logits_processor=[held], max_tokens=20)
    assert re.fullmatch("[a-z]{5}", written["choices"][0]["text"])
    held.raise_error()
    # It was made for another prompt.
    written = llama.create_completion("Two", logits_processor=[held], max_tokens=20)
    assert written["choices"][0]["text"] == ""
    with pytest.raises(ValueError, match="do not begin with the prompts"):
        held.raise_error()


def test_drafts_are_refused(smollm2: Path, vocabulary: Vocabulary) -> None:
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    from stencilm.integrations.llama_cpp import GrammarLogitsProcessor

    drafting = llama_cpp.Llama(
        str(smollm2), n_ctx=64, verbose=False, draft_model=LlamaPromptLookupDecoding()
    )
    with pytest.raises(ValueError, match="draft_model cannot be held"):
        GrammarLogitsProcessor(drafting, matcher(vocabulary, Grammar.json()), vocabulary)


def test_our_own_loop(smollm2: Path, vocabulary: Vocabulary, person: Any) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    from stencilm.integrations.llama_cpp import LlamaCppModel

    model = LlamaCppModel(smollm2, threads=1)
    grammar = Grammar.from_json_schema(person)
    prompt = model.chat_prompt("Describe Maria Lopez, 34")
    steps = list(generate(model, matcher(vocabulary, grammar), vocabulary, prompt))
    text = b"".join(vocabulary.token_bytes(step.token_id) or b"" for step in steps)
    jsonschema.validate(json.loads(text), person)
    assert steps[-1].finish is Finish.STOP
    with pytest.raises(ModelError, match="no model at"):
        LlamaCppModel(smollm2.parent / "none.gguf")


def test_the_example_for_xllamacpp(smollm2: Path, person: Any) -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    assert smollm2.is_file()
    made = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    jsonschema.validate(json.loads(made.stdout), person)

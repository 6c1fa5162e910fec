"""The one call, with models and tokenizers of `transformers`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import stencilm  # noqa: E402
from stencilm import Grammar  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

STOP, END, WIDTH = 256, 257, 300


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """One token for each byte, in the order of the bytes."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    letters = [chr(b) if b in printable else chr(next(rest)) for b in range(256)]
    made = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(t, normalized=False) for t in ("<stop>", "<end>")])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<stop>")
    fast.chat_template = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}>"
    return fast


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=[STOP, END],
        pad_token_id=STOP,
    )
    return transformers.LlamaForCausalLM(config).eval()


def test_prompts_of_every_kind(model: Any, tokenizer: Any) -> None:
    grammar = Grammar.from_regex("[a-z]{3,12}!?")
    texts = {
        str(stencilm.generate(model, tokenizer, prompt, grammar))
        for prompt in ("Hi\n>", list(b"Hi\n>"), [{"role": "user", "content": "Hi"}])
    }
    assert len(texts) == 1
    assert re.fullmatch("[a-z]{3,12}!?", texts.pop())


def test_forced_tokens_need_no_pass_of_their_own(model: Any, tokenizer: Any) -> None:
    schema = {"type": "object", "properties": {"is_certain": {"type": "boolean"}}}
    schema |= {"required": ["is_certain"], "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    passes = []
    handle = model.register_forward_pre_hook(lambda *_: passes.append(1))
    for skip in (True, False):
        passes.clear()
        made = stencilm.generate(model, tokenizer, "?", grammar, skip_forced=skip)
        assert made.is_whole
        assert isinstance(json.loads(made.text)["is_certain"], bool)
        assert made.passes == len(passes) == (1 if skip else made.figures.tokens)
    handle.remove()
    assert f"{made.figures.tokens} tokens" in made.figures.line()


def test_a_greedy_text_is_that_of_the_library(model: Any, tokenizer: Any) -> None:
    made = stencilm.generate(model, tokenizer, "Hello", None, max_tokens=30)
    ids = tokenizer("Hello", return_tensors="pt")
    output = model.generate(**ids, do_sample=False, max_new_tokens=30)
    assert made.token_ids == output[0, ids["input_ids"].shape[1] :].tolist()


def test_all_ends_of_the_model_are_ends(model: Any, tokenizer: Any) -> None:
    ended = set()
    for seed in range(60):
        grammar = Grammar.from_regex("a*")
        made = stencilm.generate(model, tokenizer, "?", grammar, temperature=3.0, seed=seed)
        assert set(made.text) <= {"a"}
        ended.add(made.token_ids[-1])
    assert ended == {STOP, END}


def test_a_text_that_was_cut_is_not_whole(model: Any, tokenizer: Any) -> None:
    grammar = Grammar.from_regex("[a-z]{9}")
    made = stencilm.generate(model, tokenizer, "?", grammar, max_tokens=4)
    assert (len(made.text), made.is_whole) == (4, False)


def test_the_vocabulary_is_made_once(
    model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stencilm.generate(model, tokenizer, "?", Grammar.choice(["a"]))

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(stencilm.Vocabulary, "load", never)
    stencilm.generate(model, tokenizer, "?", Grammar.choice(["b"]))


def test_the_real_model(smollm2: Path, person: Any) -> None:
    pytest.importorskip("gguf", reason="transformers reads GGUF files with gguf")
    pytest.importorskip("accelerate", reason="transformers reads GGUF files with accelerate")
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    where = {"pretrained_model_name_or_path": smollm2.parent, "gguf_file": smollm2.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**where)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
    question = [{"role": "user", "content": "Describe Maria Lopez, 34"}]
    grammar = Grammar.from_json_schema(person, whitespace="compact")
    made = stencilm.generate(model, tokenizer, question, grammar)
    jsonschema.validate(json.loads(made.text), person)
    assert made.is_whole
    assert made.passes < 0.8 * made.figures.tokens

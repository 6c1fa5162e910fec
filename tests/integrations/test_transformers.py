"""The logits processor against the real library: a tiny random model, and the real one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

from stencilm import Compiler, Grammar, Vocabulary  # noqa: E402
from stencilm.integrations.transformers import GrammarLogitsProcessor, TransformersModel  # noqa: E402
from stencilm.sampling import Finish, ModelError, generate  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from stencilm import Matcher

STOP, PAD, WIDTH = 256, 257, 320
BYTES = [bytes([byte]) for byte in range(256)]
VOCABULARY = Vocabulary.from_tokens([*BYTES, None, None], stop=[STOP])
COMPILER = Compiler(VOCABULARY)


@pytest.fixture(scope="module")
def tiny() -> Any:
    """A random model whose logits are wider than the vocabulary."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        bos_token_id=None,
        eos_token_id=STOP,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def matcher(pattern: str) -> Matcher:
    return COMPILER.compile(Grammar.from_regex(pattern)).matcher()


def allowed(processor: GrammarLogitsProcessor, rows: list[list[int]]) -> list[set[int]]:
    scores = processor(torch.tensor(rows), torch.zeros(len(rows), WIDTH))
    return [{i for i in range(WIDTH) if row[i] == 0} for row in scores]


def ids(text: str) -> list[int]:
    return list(text.encode())


def test_each_step_allows_what_the_grammar_allows() -> None:
    processor = GrammarLogitsProcessor([matcher("a[bc]")], VOCABULARY)
    assert allowed(processor, [[7]]) == [{ord("a")}]
    assert allowed(processor, [[7, ord("a")]]) == [{ord("b"), ord("c")}]
    assert allowed(processor, [[7, *ids("ab")]]) == [{STOP}]


def test_rows_have_grammars_of_their_own_or_none() -> None:
    processor = GrammarLogitsProcessor([matcher("a"), None, matcher("[xy]")], VOCABULARY)
    rows = allowed(processor, [[PAD, 7], [8, 9], [PAD, PAD]])
    assert rows == [{ord("a")}, set(range(WIDTH)), {ord("x"), ord("y")}]


def test_a_finished_row_only_gets_stop_and_padding() -> None:
    processor = GrammarLogitsProcessor([matcher("a"), matcher("bbbb")], VOCABULARY, pad_id=PAD)
    allowed(processor, [[7], [7]])
    allowed(processor, [[7, *ids("a")], [7, *ids("b")]])
    rows = allowed(processor, [[7, *ids("a"), STOP], [7, *ids("bb")]])
    assert rows == [{STOP, PAD}, {ord("b")}]
    rows = allowed(processor, [[7, *ids("a"), STOP, PAD], [7, *ids("bbb")]])
    assert rows == [{STOP, PAD}, {ord("b")}]


def test_a_token_that_was_masked_leads_nowhere() -> None:
    processor = GrammarLogitsProcessor([matcher("ab")], VOCABULARY)
    allowed(processor, [[7]])
    assert allowed(processor, [[7, ord("x")]]) == [{STOP}]
    assert processor.are_whole(torch.tensor([[7, ord("x"), STOP]])) == [False]
    assert allowed(processor, [[7, ord("a")]]) == [{ord("b")}]


def test_rows_that_no_prompt_has_are_refused() -> None:
    processor = GrammarLogitsProcessor([matcher("ab"), None], VOCABULARY)
    with pytest.raises(ValueError, match=r"2 matchers, but 3 sequences"):
        allowed(processor, [[7], [7], [7]])
    allowed(processor, [[7, 8], [9, 9]])
    with pytest.raises(ValueError, match="do not begin with the prompts"):
        allowed(processor, [[7, 7, 97], [9, 9, 97]])


def test_a_vocabulary_without_an_end_is_refused() -> None:
    endless = Vocabulary.from_tokens([b"a"])
    with pytest.raises(ValueError, match="no stop token"):
        GrammarLogitsProcessor([None], endless)


def test_a_batch_of_different_grammars(tiny: Any) -> None:
    patterns = ["[a-f]{3}", "(xy){1,30}z?", "[0-9]{1,9}", None]
    prompts = [[1, 2, 3], [4], [5, 6], [7, 8]]
    longest = max(map(len, prompts))
    padded = torch.tensor([[PAD] * (longest - len(p)) + p for p in prompts])
    processor = GrammarLogitsProcessor(
        [matcher(p) if p else None for p in patterns], VOCABULARY, pad_id=PAD
    )
    torch.manual_seed(1)
    output = tiny.generate(
        padded,
        attention_mask=(padded != PAD).long(),
        do_sample=True,
        max_new_tokens=80,
        logits_processor=[processor],
    )
    for pattern, row in zip(patterns, output[:, longest:].tolist(), strict=True):
        if pattern is None:
            continue
        end = row.index(STOP)
        assert set(row[end + 1 :]) <= {PAD}
        assert re.fullmatch(pattern, bytes(row[:end]).decode())


@pytest.fixture(scope="module")
def folder(tiny: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model and a tokenizer of bytes, as a Hugging Face folder."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    path = tmp_path_factory.mktemp("tiny")
    tiny.save_pretrained(path)
    # The byte alphabet in the order of its bytes, so that an id is its byte.
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    letters = [chr(b) if b in printable else chr(next(rest)) for b in range(256)]
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<stop>", normalized=False)])
    tokenizer.save(str(path / "tokenizer.json"))
    (path / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": "<stop>", "chat_template": "{{ messages[0]['content'] }}>"})
    )
    return path


def test_our_own_loop_over_a_folder(folder: Path) -> None:
    model = TransformersModel(folder)
    assert model.vocab_size == WIDTH
    prompt = model.chat_prompt("Hi")
    assert prompt == ids("Hi>")
    steps = list(generate(model, matcher("[a-f]{3}-[0-9]{4}"), VOCABULARY, prompt))
    assert re.fullmatch("[a-f]{3}-[0-9]{4}", bytes(step.token_id for step in steps).decode())


def test_several_ids_in_one_pass_are_the_same_sequence(folder: Path) -> None:
    model = TransformersModel(folder)
    whole = model.step([1, 2, 3, 4])
    model.reset()
    model.step([1, 2])
    model.step([3])
    assert model.step([4]) == pytest.approx(whole, abs=1e-4)
    with pytest.raises(ValueError, match="no ids"):
        model.step([])


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model at"):
        TransformersModel(tmp_path / "none.gguf")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError):
        TransformersModel(tmp_path)


def test_the_real_model(smollm2: Path, person: Any) -> None:
    pytest.importorskip("gguf", reason="transformers reads GGUF files with gguf")
    pytest.importorskip("accelerate", reason="transformers reads GGUF files with accelerate")
    model = TransformersModel(smollm2)
    vocabulary = Vocabulary.load(smollm2)
    judge = Compiler(vocabulary).compile(Grammar.from_json_schema(person)).matcher()
    prompt = model.chat_prompt("Describe Maria Lopez, 34")
    steps = list(generate(model, judge, vocabulary, prompt))
    text = b"".join(vocabulary.token_bytes(step.token_id) or b"" for step in steps)
    jsonschema.validate(json.loads(text), person)
    assert steps[-1].finish is Finish.STOP

"""Every way in which `transformers` generates, held to grammars.

Beams are judged by all texts of a small language, scored one by one; drafts by generation without.
"""

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

if TYPE_CHECKING:
    from pathlib import Path

STOP, PAD, WIDTH = 256, 257, 320
VOCABULARY = Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None, None], stop=[STOP])
COMPILER = Compiler(VOCABULARY)
ANIMALS = ["ape", "apes", "ant", "bee", "bees", "cat", "dog", "doe"]


def random_model(seed: int) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=512,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=STOP,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def tiny() -> Any:
    return random_model(0)


def processor(*grammars: str | Grammar | None) -> GrammarLogitsProcessor:
    made = [Grammar.from_regex(g) if isinstance(g, str) else g for g in grammars]
    matchers = [COMPILER.compile(g).matcher() if g else None for g in made]
    return GrammarLogitsProcessor(matchers, VOCABULARY, pad_id=PAD)


def texts(output: Any, prompt: int) -> list[str]:
    return [bytes(i for i in row[prompt:].tolist() if i < 256).decode("latin-1") for row in output]


def score(model: Any, prompt: list[int], text: str) -> float:
    """The log probability of a text and its end."""
    ids = torch.tensor([[*prompt, *text.encode(), STOP]])
    with torch.inference_mode():
        steps = model(ids).logits[0].log_softmax(-1)
    written = range(len(prompt), ids.shape[1])
    return sum(float(steps[at - 1, ids[0, at]]) for at in written)


def test_beams_find_the_likeliest_texts_of_a_language(tiny: Any) -> None:
    prompts = [[1, 2, 3], [9, 8, 7]]
    languages = [ANIMALS, [f"{a}{b}" for a in "xyz" for b in "0123"]]
    held = processor(*map(Grammar.choice, languages))
    count = 4
    output = tiny.generate(
        torch.tensor(prompts),
        num_beams=24,
        num_return_sequences=count,
        length_penalty=0.0,
        early_stopping=False,
        max_new_tokens=8,
        logits_processor=[held],
    )
    assert held.are_whole(output) == [True] * count * 2
    for prompt, language, found in zip(
        prompts, languages, [texts(output[:count], 3), texts(output[count:], 3)], strict=True
    ):
        ranked = sorted(language, key=lambda text: -score(tiny, prompt, text))
        assert found == ranked[:count]


def test_more_beams_than_texts_are_told_apart(tiny: Any) -> None:
    held = processor(Grammar.choice(["ab", "ac"]))
    output = tiny.generate(
        torch.tensor([[1]]),
        num_beams=6,
        num_return_sequences=6,
        max_new_tokens=5,
        logits_processor=[held],
    )
    whole = held.are_whole(output)
    assert whole[0]
    for is_whole, row in zip(whole, output[:, 1:].tolist(), strict=True):
        ended = row[: row.index(STOP)] if STOP in row else row
        assert is_whole == (bytes(i % 256 for i in ended) in (b"ab", b"ac") and STOP in row)


@pytest.mark.parametrize("seed", range(3))
def test_beams_that_are_sampled_stay_in_their_grammars(tiny: Any, seed: int) -> None:
    patterns = ["[a-c]{2,6}(-[0-9]{2})?", "(xy|yx){1,4}"]
    held = processor(*patterns)
    torch.manual_seed(seed)
    output = tiny.generate(
        torch.tensor([[PAD, 1], [2, 3]]),
        attention_mask=torch.tensor([[0, 1], [1, 1]]),
        num_beams=4,
        do_sample=True,
        num_return_sequences=2,
        max_new_tokens=20,
        logits_processor=[held],
    )
    assert held.are_whole(output) == [True] * 4
    for index, text in enumerate(texts(output, 2)):
        assert re.fullmatch(patterns[index // 2], text)


def test_several_sequences_for_each_prompt(tiny: Any) -> None:
    held = processor("[a-z]{3,9}", None, "[0-9]{2}")
    torch.manual_seed(1)
    output = tiny.generate(
        torch.tensor([[1], [2], [3]]),
        do_sample=True,
        num_return_sequences=5,
        max_new_tokens=12,
        logits_processor=[held],
    )
    assert held.are_whole(output) == [True] * 15
    found = texts(output, 1)
    assert all(re.fullmatch("[a-z]{3,9}", text) for text in found[:5])
    assert all(re.fullmatch("[0-9]{2}", text) for text in found[10:])
    assert len(set(found[:5])) > 1


@pytest.mark.parametrize("drafts", ["assistant", "itself", "lookup"])
@pytest.mark.parametrize("is_sampled", [False, True])
def test_drafts_change_nothing(tiny: Any, drafts: str, is_sampled: bool) -> None:
    pattern = "(abcabd|cab|ddd){4,12}"
    prompt = torch.tensor([list(b"abcabdabcab")])
    options: dict[str, Any] = {"prompt_lookup_num_tokens": 4}
    if drafts != "lookup":
        options = {"assistant_model": random_model(1) if drafts == "assistant" else tiny}
    held = processor(pattern)
    torch.manual_seed(2)
    output = tiny.generate(
        prompt, do_sample=is_sampled, max_new_tokens=90, logits_processor=[held], **options
    )
    assert held.are_whole(output) == [True]
    assert re.fullmatch(pattern, texts(output, 11)[0])
    if not is_sampled:
        alone = tiny.generate(
            prompt, do_sample=False, max_new_tokens=90, logits_processor=[processor(pattern)]
        )
        assert output.tolist() == alone.tolist()


def test_padding_on_the_left_changes_nothing(tiny: Any) -> None:
    prompts = [[1, 2, 3, 4], [5], [6, 7]]
    patterns = ["[a-f]{5,9}", "(ab|ba){2,6}", "[0-9]{3}"]
    padded = torch.tensor([[PAD] * (4 - len(p)) + p for p in prompts])
    together = tiny.generate(
        padded,
        attention_mask=(padded != PAD).long(),
        do_sample=False,
        max_new_tokens=20,
        logits_processor=[processor(*patterns)],
    )
    for prompt, pattern, row in zip(prompts, patterns, together, strict=True):
        alone = tiny.generate(
            torch.tensor([prompt]),
            do_sample=False,
            max_new_tokens=20,
            logits_processor=[processor(pattern)],
        )
        assert texts([row], 4) == texts(alone, len(prompt))


def contrastive(
    model: Any,
    input_ids: Any,
    *,
    logits_processor: Any,
    stopping_criteria: Any,
    generation_config: Any,
    **ignored: Any,
) -> Any:
    """Contrastive search: of the `top_k` likeliest, the one least like what is there already."""
    ids, alpha, count = input_ids, 0.6, generation_config.top_k
    is_done = torch.zeros(len(ids), dtype=torch.bool)
    while not is_done.all():
        with torch.inference_mode():
            scores = logits_processor(ids, model(ids).logits[:, -1].float())
            chances, tokens = scores.softmax(-1).topk(count, dim=-1)
            chosen = []
            for row in range(len(ids)):
                tried = torch.cat([ids[row].expand(count, -1), tokens[row, :, None]], dim=1)
                hidden = model(tried, output_hidden_states=True).hidden_states[-1]
                hidden = torch.nn.functional.normalize(hidden, dim=-1)
                likeness = (hidden[:, :-1] @ hidden[:, -1:, :].mT)[..., 0].amax(1)
                values = (1 - alpha) * chances[row] - alpha * likeness
                values[chances[row] == 0] = -torch.inf
                chosen.append(tokens[row, values.argmax()])
        ids = torch.cat([ids, torch.stack(chosen)[:, None]], dim=1)
        is_done |= stopping_criteria(ids, None)
    return ids


def test_a_search_of_ones_own(tiny: Any) -> None:
    patterns = ["(ab|ba|cc){3,8}", "[0-9]{4}"]
    held = processor(*patterns)
    output = tiny.generate(
        torch.tensor([[1, 2], [3, 4]]),
        custom_generate=contrastive,
        top_k=6,
        do_sample=True,
        max_new_tokens=20,
        logits_processor=[held],
    )
    assert held.are_whole(output) == [True, True]
    assert all(re.fullmatch(p, text) for p, text in zip(patterns, texts(output, 2), strict=True))


SCHEMA: Any = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "role": {"enum": ["admin", "user", "guest"]},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
}


class Real:
    """SmolLM2 and its vocabulary."""

    def __init__(self, path: Path) -> None:
        wrapped = TransformersModel(path)
        self.model: Any = wrapped._model
        self.vocabulary = Vocabulary.load(path)
        self.compiler = Compiler(self.vocabulary)
        questions = ["Describe Maria Lopez, 34", "Who is Bo?"]
        self.prompts = [wrapped.chat_prompt(question) for question in questions]

    def processor(self, count: int = 1) -> GrammarLogitsProcessor:
        grammar = Grammar.from_json_schema(SCHEMA, whitespace="compact")
        matchers = [self.compiler.compile(grammar).matcher() for _ in range(count)]
        return GrammarLogitsProcessor(matchers, self.vocabulary)

    def generate(self, prompts: list[list[int]], held: Any, **options: Any) -> list[list[int]]:
        """What comes after the prompts, which are padded on the left."""
        stop = self.vocabulary.stop_ids[0]
        longest = max(map(len, prompts))
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
        output = self.model.generate(
            torch.tensor([[stop] * (longest - len(p)) + p for p in prompts]),
            attention_mask=mask,
            max_new_tokens=60,
            logits_processor=[held],
            eos_token_id=self.vocabulary.stop_ids,
            pad_token_id=stop,
            **options,
        )
        assert held.are_whole(output) == [True] * len(output)
        rows: list[list[int]] = output[:, longest:].tolist()
        return [row[: row.index(stop)] if stop in row else row for row in rows]

    def check(self, row: list[int]) -> None:
        text = b"".join(self.vocabulary.token_bytes(token) or b"" for token in row)
        jsonschema.validate(json.loads(text), SCHEMA)


@pytest.fixture(scope="module")
def real(smollm2: Path) -> Real:
    pytest.importorskip("gguf", reason="transformers reads GGUF files with gguf")
    pytest.importorskip("accelerate", reason="transformers reads GGUF files with accelerate")
    return Real(smollm2)


def test_the_real_model_with_beams(real: Real) -> None:
    for options in ({}, {"do_sample": True}):
        rows = real.generate(
            real.prompts, real.processor(2), num_beams=3, num_return_sequences=2, **options
        )
        for row in rows:
            real.check(row)


def test_the_real_model_with_drafts_and_padding(real: Real) -> None:
    plain = [real.generate([p], real.processor(), do_sample=False)[0] for p in real.prompts]
    for row in plain:
        real.check(row)
    first = real.prompts[:1]
    for options in ({"prompt_lookup_num_tokens": 5}, {"assistant_model": real.model}):
        assert real.generate(first, real.processor(), do_sample=False, **options) == plain[:1]
    for row in real.generate(real.prompts, real.processor(2), do_sample=False):
        real.check(row)


def test_the_real_model_searching_contrastively(real: Real) -> None:
    options = {"custom_generate": contrastive, "top_k": 4, "do_sample": True}
    real.check(real.generate(real.prompts[1:], real.processor(), **options)[0])

"""MLX LM, held to grammars: a small random model, on whatever device MLX has here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

mx = pytest.importorskip("mlx.core", reason="MLX is not installed")
pytest.importorskip("mlx_lm", reason="MLX LM is not installed")

from mlx_lm.generate import generate_step  # noqa: E402
from mlx_lm.models import llama  # noqa: E402
from mlx_lm.sample_utils import make_sampler  # noqa: E402

from stencilm import Compiler, Grammar, Vocabulary  # noqa: E402
from stencilm.integrations.mlx import GrammarLogitsProcessor  # noqa: E402

if TYPE_CHECKING:
    from stencilm import Matcher

STOP, WIDTH = 256, 300
VOCABULARY = Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], stop=[STOP])


def matcher(pattern: str) -> Matcher:
    return Compiler(VOCABULARY).compile(Grammar.from_regex(pattern)).matcher()


@pytest.fixture(scope="module")
def tiny() -> Any:
    mx.random.seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-6}
    return llama.Model(llama.ModelArgs(model_type="llama", vocab_size=WIDTH, **sizes, **heads))


@pytest.mark.parametrize("temperature", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("prompt", [[1], [1, 2, 3, 4, 5]])
def test_texts_match(tiny: Any, prompt: list[int], temperature: float) -> None:
    pattern = "(ab|ba|[0-9]{2}){2,9}z"
    held = GrammarLogitsProcessor(matcher(pattern), VOCABULARY)
    written: list[int] = []
    for token, _ in generate_step(
        mx.array(prompt),
        tiny,
        max_tokens=60,
        sampler=make_sampler(temp=temperature),
        logits_processors=[held],
    ):
        if token == STOP:
            break
        written.append(int(token))
    assert re.fullmatch(pattern, bytes(written).decode())


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_what_may_not_come_is_minus_infinity(dtype: Any) -> None:
    held = GrammarLogitsProcessor(matcher("a[bc]"), VOCABULARY)
    for tokens, allowed in (([7], {97}), ([7, 97], {98, 99}), ([7, 97, 98], {STOP})):
        logits = held(mx.array(tokens), mx.zeros((1, WIDTH), dtype=dtype))
        assert logits.dtype == dtype
        values = logits.astype(mx.float32)[0].tolist()
        assert {token for token in range(WIDTH) if values[token] == 0} == allowed
        assert values.count(float("-inf")) == WIDTH - len(allowed)
    assert held.is_whole(mx.array([7, 97, 98, STOP]))
    assert not held.is_whole(mx.array([7, 97]))

"""The backend for vLLM, without a server. `scripts/e2e vllm` runs it in the server's environment.

The judge of masks is vLLM's own loop, which asks a grammar token by token.
"""

from __future__ import annotations

import json
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("vllm", reason="vLLM is not installed: run scripts/e2e vllm")

import torch
from vllm.config import StructuredOutputsConfig
from vllm.entrypoints.generate.base import protocol
from vllm.entrypoints.openai.chat_completion.protocol import (
    ChatCompletionNamedToolChoiceParam,
    ChatCompletionToolsParam,
)
from vllm.exceptions import VLLMValidationError
from vllm.sampling_params import SamplingParams, StructuredOutputsParams
from vllm.tool_parsers import structural_tag_registry as registry
from vllm.v1.structured_output import ConstraintBounds, StructuredOutputManager
from vllm.v1.structured_output.backend_types import StructuredOutputOptions

from stencilm import LimitError
from stencilm.integrations import vllm as plugin
from stencilm.integrations._serving import ServedModel, Settings, request_grammar

WORDS = [b"ab", b"ba", b"aab", b'{"', b'":', b"12", b"true"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS, None]
END = len(TOKENS) - 1
WIDTH = len(TOKENS) + 9
"""Logits are padded."""


class Tokenizer(list[bytes | None]):
    """A list of tokens that is found again like an object."""

    __hash__ = object.__hash__


@pytest.fixture(autouse=True)
def registered() -> None:
    plugin.register()


def config(**members: Any) -> Any:
    return StructuredOutputsConfig(backend="stencilm", **members)


def backend() -> plugin.StencilmBackend:
    engine = SimpleNamespace(structured_outputs_config=config())
    return plugin.StencilmBackend(engine, Tokenizer(TOKENS), WIDTH)


def grammar(pattern: str) -> plugin.StencilmGrammar:
    return backend().compile_grammar(StructuredOutputOptions.REGEX, pattern, {END})


class Engine:
    """A manager of structured outputs with requests, as a scheduler holds them."""

    def __init__(self, grammars: dict[str, Any], bounds: dict[str, ConstraintBounds]) -> None:
        self.manager = object.__new__(StructuredOutputManager)
        self.manager.backend = backend()
        self.manager.fill_bitmask_parallel_threshold = 128
        self.manager._full_mask = torch.tensor(-1, dtype=torch.int32)
        self.manager._grammar_bitmask = None
        self.manager.vllm_config = SimpleNamespace(
            num_speculative_tokens=5,
            scheduler_config=SimpleNamespace(max_num_seqs=16),
            model_config=SimpleNamespace(is_diffusion=False),
        )
        self.requests = {
            name: SimpleNamespace(
                name=name, structured_output_request=SimpleNamespace(grammar=grammar)
            )
            for name, grammar in grammars.items()
        }
        usual = ConstraintBounds(0, 0)
        self.manager._get_constraint_bounds = lambda request, draft, spec_tokens_committed=False: (
            bounds.get(request.name, usual)
        )

    def rows(self, function: Any, drafts: dict[str, list[int]]) -> Any:
        rows = function(self.manager, self.requests, list(self.requests), drafts)
        return rows.copy()


def test_the_release_that_is_installed_is_known() -> None:
    assert plugin.differences() == []


def test_another_release_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def grammar_init(self: Any, request: Any, what_is_new: int) -> None: ...

    monkeypatch.setattr(StructuredOutputManager, "grammar_init", grammar_init)
    monkeypatch.setattr(plugin.vllm, "__version__", "9.9", raising=False)
    plugin._log.propagate = True
    with caplog.at_level("ERROR"):
        plugin.register()
    assert "vLLM 9.9" in caplog.text
    assert "grammar_init takes (self, request, what_is_new)" in caplog.text


def test_the_configuration_takes_the_name() -> None:
    assert config(disable_any_whitespace=True).disable_any_whitespace
    with pytest.raises(ValueError, match="disable_additional_properties"):
        config(disable_additional_properties=True)
    with pytest.raises(ValueError, match="xgrammar and guidance"):
        StructuredOutputsConfig(backend="auto", disable_any_whitespace=True)


def test_settings_that_are_none_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STENCILM_OPTIONS", '{"key_order": "sideways"}')
    with pytest.raises(ValueError, match="STENCILM_OPTIONS"):
        config()


@pytest.mark.parametrize("seed", range(60))
def test_rows_are_those_of_vllms_own_loop(seed: int) -> None:
    random = Random(seed)
    patterns = ["[ab]{0,9}", "(ab|ba)+", 'x?|{"[a-z]*":(12|true)}', "a{3}"]
    grammars = {str(i): grammar(random.choice(patterns)) for i in range(random.randint(1, 6))}
    drafts: dict[str, list[int]] = {}
    for name, one in grammars.items():
        for token in _walk(one, random, random.randint(0, 6)):
            assert one.accept_tokens(name, [token])
        # A draft goes to the grammar before it is scheduled, which cuts it off.
        draft = one.validate_tokens(_walk(one, random, random.randint(0, 4)))
        if random.random() < 0.7 and draft:
            padding = random.randint(0, 2) * random.randint(0, 1)
            drafts[name] = draft + [-1] * padding
    bounds = {
        name: ConstraintBounds(1, 1)
        for name in grammars
        if name not in drafts and random.random() < 0.2
    }
    engine = Engine(grammars, bounds)
    before = [one.matcher.describe() for one in grammars.values()]
    ours = engine.rows(StructuredOutputManager.grammar_bitmask, drafts)
    theirs = engine.rows(StructuredOutputManager.grammar_bitmask.__wrapped__, drafts)
    assert np.array_equal(ours, theirs)
    assert [one.matcher.describe() for one in grammars.values()] == before


def _walk(one: plugin.StencilmGrammar, random: Random, most: int) -> list[int]:
    matcher, tokens = one.matcher.fork(), []
    while len(tokens) < most and not matcher.has_stopped():
        allowed = [token for token in range(len(TOKENS)) if matcher.is_allowed(token)]
        tokens.append(random.choice(allowed))
        assert matcher.accept(tokens[-1])
    return tokens


def test_reasoning_that_ends_inside_of_a_draft_is_left_to_vllm() -> None:
    engine = Engine({"a": grammar("b+")}, {"a": ConstraintBounds(2, 2)})
    drafts = {"a": [7, 8, 98]}
    ours = engine.rows(StructuredOutputManager.grammar_bitmask, drafts)
    theirs = engine.rows(StructuredOutputManager.grammar_bitmask.__wrapped__, drafts)
    assert np.array_equal(ours, theirs)
    assert (ours[:2] == -1).all()
    assert not (ours[2] == -1).all()


@pytest.mark.parametrize("seed", range(12))
def test_masks_are_applied_as_by_xgrammar(seed: int) -> None:
    random = Random(seed)
    torch.manual_seed(seed)
    config()
    kernels = plugin.vllm_utils.xgr
    assert isinstance(kernels, plugin._Kernels)
    rows, width = random.randint(1, 9), random.choice([50, 4_096, 5_000])
    mask = torch.zeros((rows, -(-width // 32)), dtype=torch.int32)
    for row in range(rows):
        match random.randrange(4):
            case 0:
                mask[row] = -1
            case 1:
                mask[row] = torch.randint(-(2**31), 2**31 - 1, mask[row].shape)
            case 2:
                mask[row, : random.randrange(3)] = random.randrange(2**31)
            case _:
                mask[row] = -1
                mask[row, : random.randrange(3)] = random.randrange(2**31)
    indices = random.choice([None, random.sample(range(rows), random.randint(1, rows))])
    ours = torch.randn(rows, width)
    theirs = ours.clone()
    kernels.apply_token_bitmask_inplace(ours, mask, indices=indices)
    kernels._theirs().apply_token_bitmask_inplace(theirs, mask, indices=indices)
    assert torch.equal(ours, theirs)


def test_a_stop_token_is_a_step_that_is_given_back() -> None:
    one = grammar("ab?")
    before = one.matcher.describe()
    assert one.accept_tokens("r", [97, 98, END, 97])
    assert one.is_terminated()
    one.rollback(3)
    assert not one.is_terminated()
    assert one.matcher.describe() == before
    assert one.validate_tokens([97, END, 98]) == [97, END]
    assert one.validate_tokens([98]) == []


def test_a_limit_ends_one_request_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, sound = grammar("a+"), grammar("b+")

    class Stuck:
        def __getattr__(self, name: str) -> Any:
            return getattr(broken_matcher, name)

        def fill_mask(self, *arguments: Any) -> None:
            raise LimitError("mask_work")

    broken_matcher, broken.matcher = broken.matcher, Stuck()
    real = plugin.fill_masks
    monkeypatch.setattr(
        plugin,
        "fill_masks",
        lambda matchers, *more: (
            real(matchers, *more)
            if not any(isinstance(m, Stuck) for m in matchers)
            else (_ for _ in ()).throw(LimitError("mask_work"))
        ),
    )
    engine = Engine({"broken": broken, "sound": sound}, {})
    rows = engine.rows(StructuredOutputManager.grammar_bitmask, {})
    assert (rows[0] == -1).all()
    assert rows[1].tolist() == _row(grammar("b+")).tolist()
    assert not broken.accept_tokens("broken", [97])
    assert sound.accept_tokens("sound", [98])


def _row(one: plugin.StencilmGrammar) -> Any:
    mask = backend().allocate_token_bitmask(1)
    one.fill_bitmask(mask, 0)
    return mask.numpy()[0]


def test_a_token_that_may_not_come_ends_the_request() -> None:
    one = grammar("a+")
    assert not one.accept_tokens("r", [98])
    one.reset()
    assert one.accept_tokens("r", [97])


MODEL = SimpleNamespace(is_diffusion=False, get_vocab_size=lambda: WIDTH)


def validated(**members: Any) -> StructuredOutputsParams:
    asked = StructuredOutputsParams(**members)
    params = SamplingParams(structured_outputs=asked)
    params._validate_structured_outputs(MODEL, config(), Tokenizer(TOKENS))
    return asked


@pytest.mark.parametrize(
    "members",
    [
        {"json": {"type": "integer"}},
        {"json": '{"type": "integer"}'},
        {"json_object": True},
        {"regex": "a+"},
        {"regex": ""},
        {"choice": ["a", "b"]},
        {"grammar": 'root ::= "a"'},
        {"grammar": 'start: "a"'},
        {"structural_tag": '{"type": "structural_tag", "format": {"type": "any_text"}}'},
    ],
)
def test_what_can_be_enforced_passes(members: dict[str, Any]) -> None:
    assert validated(**members)._backend == "stencilm"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"json": {"properties": {"a": {"type": "no"}}}}, "/properties/a/type"),
        ({"json": ""}, "byte 0"),
        ({"json": " "}, "JSON value"),
        ({"json_object": False}, "json_object"),
        ({"regex": "(a"}, "byte"),
        ({"choice": []}, "no output"),
        ({"grammar": " "}, "byte"),
        ({"structural_tag": "{}"}, "stencilm"),
        ({"json": "{}", "whitespace_pattern": " "}, "whitespace_pattern"),
        ({"json": "{}", "disable_additional_properties": True}, "disable_additional_properties"),
    ],
)
def test_what_cannot_is_an_answer_to_the_request(members: dict[str, Any], message: str) -> None:
    with pytest.raises(VLLMValidationError, match=message):
        validated(**members)


def test_what_goes_to_the_engine_has_no_depth() -> None:
    assert validated(json={"type": "integer"}).json == '{"type": "integer"}'


def test_a_schema_too_deep_for_pythons_encoder_is_an_answer_too() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(VLLMValidationError):
        validated(json=schema)
    while schema:  # Letting go of it all at once is deep, too.
        schema = schema.pop("not")


def test_a_request_cannot_choose_another_backend() -> None:
    asked = StructuredOutputsParams(regex="a")
    asked._backend = "xgrammar"
    params = SamplingParams(structured_outputs=asked)
    with pytest.raises(VLLMValidationError, match="xgrammar"):
        params._validate_structured_outputs(MODEL, config(), Tokenizer(TOKENS))


def test_tags_that_xgrammar_refuses_are_judged_here() -> None:
    tag = {"type": "regex", "pattern": r"(?=.*\d)(?!0)[a-z0-9]+"}
    spec = json.dumps({"type": "structural_tag", "format": tag})
    config()
    protocol.validate_structural_tag_payload(spec, parameter="response_format")
    assert validated(structural_tag=spec)._backend == "stencilm"


def _tool(name: str, **function: Any) -> ChatCompletionToolsParam:
    return ChatCompletionToolsParam(
        type="function", function={"name": name, "strict": True, **function}
    )


@pytest.mark.parametrize("is_reasoning", [False, True])
@pytest.mark.parametrize("choice", ["auto", "required", "named"])
@pytest.mark.parametrize("family", sorted({*registry.SUPPORTED_STRUCTURAL_TAG_MODELS, "minimax"}))
def test_tags_that_vllm_makes_for_tools_are_read(
    family: str, choice: str, is_reasoning: bool
) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [_tool("weather", parameters=schema), _tool("now")]
    named = ChatCompletionNamedToolChoiceParam(type="function", function={"name": "weather"})
    chosen: Any = named if choice == "named" else choice
    tag = registry.get_model_structural_tag(family, tools, chosen, is_reasoning)
    spec = json.dumps(tag.model_dump())
    assert request_grammar("structural_tag", spec).kind == "structural_tag"


def test_the_front_end_keeps_no_grammars() -> None:
    served: ServedModel = plugin._front_model(Tokenizer(TOKENS), WIDTH)
    served.compile("regex", "a+")
    assert not served._kept._entries
    assert served.settings == Settings()

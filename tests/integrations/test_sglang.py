"""The backend for SGLang, without a server. `scripts/e2e sglang` runs it in its environment.

The judges are SGLang's own walk of a draft tree, which asks a grammar node by node, and `re`.
"""

from __future__ import annotations

import json
import re
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sglang", reason="SGLang is not installed: run scripts/e2e sglang")

import torch
from sglang.srt.constrained.base_grammar_backend import (
    GRAMMAR_BACKEND_REGISTRY,
    BaseGrammarBackend,
    GrammarRow,
    InvalidGrammarObject,
)
from sglang.srt.server_args import GRAMMAR_BACKEND_CHOICES
from sglang.srt.speculative.spec_utils import traverse_tree

from stencilm import LimitError
from stencilm.integrations import sglang as plugin
from stencilm.integrations._serving import ServedModel, Settings

WORDS = [b"ab", b"ba", b"aab", b'{"', b'":', b"12", b"true"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS, None]
END = len(TOKENS) - 1
WIDTH = len(TOKENS) + 9
"""Logits are padded."""


def backend(**more: Any) -> plugin.StencilmBackend:
    return plugin.StencilmBackend(ServedModel(TOKENS, WIDTH, Settings()), stop=[END], **more)


def grammar(pattern: str) -> plugin.StencilmGrammar:
    made = backend().dispatch_regex(pattern)
    assert isinstance(made, plugin.StencilmGrammar)
    return made


def row(one: plugin.StencilmGrammar) -> list[int]:
    mask = one.allocate_vocab_mask(WIDTH, 1, "cpu")
    one.fill_vocab_mask(mask, 0)
    return mask[0].tolist()


def allowed(one: plugin.StencilmGrammar) -> list[int]:
    words = row(one)
    return [token for token in range(WIDTH) if words[token // 32] >> (token % 32) & 1]


def test_the_release_that_is_installed_is_known() -> None:
    assert plugin.differences() == []


def test_it_is_registered_once() -> None:
    plugin.register()
    plugin.register()
    assert GRAMMAR_BACKEND_CHOICES.count("stencilm") == 1
    assert "stencilm" in GRAMMAR_BACKEND_REGISTRY


def test_another_release_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def set_cache(self: Any, key: Any, value: Any, what_is_new: int) -> None: ...

    monkeypatch.setattr(BaseGrammarBackend, "set_cache", set_cache)
    monkeypatch.setattr(plugin, "version", lambda name: "9.9")
    GRAMMAR_BACKEND_REGISTRY.pop("stencilm", None)
    with caplog.at_level("ERROR"):
        plugin.register()
    assert "SGLang 9.9" in caplog.text
    assert "set_cache takes (self, key, value, what_is_new)" in caplog.text
    assert "stencilm" not in GRAMMAR_BACKEND_REGISTRY


@pytest.mark.parametrize(
    ("name", "spec", "right", "wrong"),
    [
        ("json", '{"type": "integer"}', b"12", b'"'),
        ("json", "$$ANY$$", b"[12]", b"x"),
        ("regex", "(?i)ab?", b"AB", b"b"),
        ("ebnf", 'root ::= "a"+', b"aa", b"b"),
        ("ebnf", 'start: "a"+', b"aa", b"b"),
        (
            "structural_tag",
            '{"structures": [{"begin": "<f>", "schema": {}, "end": "</f>"}], "triggers": ["<f"]}',
            b"x<f>12</f>",
            b"x<f>x",
        ),
        (
            "structural_tag",
            '{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": null}}',
            b"[12]",
            b"x",
        ),
    ],
)
def test_requests_mean_what_they_say(name: str, spec: str, right: bytes, wrong: bytes) -> None:
    for text, is_right in ((right, True), (wrong, False)):
        one = getattr(backend(), f"dispatch_{name}")(spec)
        matcher = one.matcher
        assert (matcher.accept_bytes(text) and matcher.may_stop()) == is_right


@pytest.mark.parametrize(
    ("name", "spec", "message"),
    [
        ("json", '{"properties": {"a": {"type": "no"}}}', "/properties/a/type"),
        ("json", "", "byte 0"),
        ("regex", "(a", "byte"),
        ("ebnf", 'root ::= "a', "byte"),
        ("structural_tag", "{}", "stencilm"),
    ],
)
def test_mistakes_are_answers(name: str, spec: str, message: str) -> None:
    made = getattr(backend(), f"dispatch_{name}")(spec)
    assert isinstance(made, InvalidGrammarObject)
    assert message in made.error_message


@pytest.mark.parametrize("seed", range(40))
def test_walks_match_and_can_be_given_back(seed: int) -> None:
    random = Random(seed)
    pattern = random.choice(["[ab]{0,9}", "(ab|ba)+", 'x?|\\{"[a-z]*":(12|true)', "a{3}"])
    one, text, rows = grammar(pattern), b"", []
    for _ in range(60):
        rows.append(row(one))
        choices = allowed(one)
        token = random.choice(choices)
        if len(rows) > 6:
            token = END if END in choices else min(choices)
        one.accept_token(token)
        if token == END:
            break
        text += TOKENS[token] or b""
    assert one.is_terminated()
    assert re.fullmatch(pattern, text.decode())
    one.accept_token(97)
    assert one.is_terminated()
    for expected in reversed(rows):
        one.rollback(1)
        assert row(one) == expected


@pytest.mark.parametrize("seed", range(40))
def test_rows_of_a_tree_are_those_of_the_engine(seed: int) -> None:
    # SGLang walks the tree with our methods; the engine fills all rows of it in one call.
    random = Random(seed)
    one = grammar(random.choice(["[ab]*", "(ab|ba)*", "(aab|12){2}"]))
    nodes = random.randint(2, 7)
    parents = [-1, *(random.randrange(node) for node in range(1, nodes))]
    child, sibling = [-1] * nodes, [-1] * nodes
    for node in range(nodes - 1, 0, -1):
        sibling[node], child[parents[node]] = child[parents[node]], node
    pool = [97, 98, END, *range(256, 256 + len(WORDS))]
    tokens = [0, *(random.choice(pool) for _ in range(nodes - 1))]
    theirs = one.allocate_vocab_mask(WIDTH, nodes, "cpu")
    as_tensors = [torch.tensor(part) for part in (child, sibling, tokens)]
    traverse_tree(*as_tensors, one, theirs, WIDTH)
    ours = one.allocate_vocab_mask(WIDTH, nodes, "cpu")
    is_open = one.matcher.fill_tree_masks(tokens, child, sibling, ours)
    for node in range(nodes):
        # SGLang leaves the rows of refused nodes, and those after the end, as they were.
        if is_open[node] and tokens[node] != END:
            assert theirs[node].tolist() == ours[node].tolist()


def test_copies_begin_anew() -> None:
    one = grammar("ab")
    one.accept_token(97)
    other = one.copy()
    assert other.grammar_stats.is_cache_hit
    assert allowed(other) == [97, TOKENS.index(b"ab")]
    assert 98 in allowed(one)


def test_what_must_come_is_jumped_over() -> None:
    one = grammar("(abba|x)[é日]y")
    assert one.try_jump_forward(None) is None
    one.accept_token(97)
    helper = one.try_jump_forward(None)
    assert helper is not None
    text, _ = one.jump_forward_str_state(helper)
    # The bytes of both letters begin differently, so there is no part of one to jump over.
    assert text == "bba"
    old, new = [97], [TOKENS.index(b"ab"), TOKENS.index(b"ba")]
    one.jump_and_retokenize(old, new, -1)
    assert one.try_jump_forward(None) is None
    with pytest.raises(ValueError, match="may not come"):
        one.accept_token(97)


def test_a_batch_is_filled_in_one_call_and_leaves_other_rows_alone() -> None:
    ones = [grammar("a"), grammar("b+"), grammar("ab?")]
    mask = ones[0].allocate_vocab_mask(WIDTH, 5, "cpu")
    entries = [
        GrammarRow(row=place, grammar=one) for place, one in zip((0, 2, 3), ones, strict=True)
    ]
    ones[0].fill_vocab_mask_batched(entries, mask)
    for place, one in zip((0, 2, 3), ones, strict=True):
        assert mask[place].tolist() == row(one)
    assert mask[1].tolist() == mask[4].tolist() == [-1] * mask.shape[1]
    ones[0].reset_vocab_mask(mask)
    assert (mask == -1).all()


def test_masks_are_applied() -> None:
    one = grammar("a")
    mask = one.allocate_vocab_mask(WIDTH, 2, "cpu")
    one.fill_vocab_mask(mask, 1)
    logits = torch.ones(2, WIDTH)
    one.apply_vocab_mask(logits=logits, vocab_mask=one.move_vocab_mask(mask, "cpu"))
    assert (logits[0] == 1).all()
    assert (logits[1] > 0).nonzero().flatten().tolist() == [97]


def test_a_limit_ends_one_request_and_no_other() -> None:
    broken, sound = grammar("a+"), grammar("b+")
    matcher = broken.matcher

    class Stuck:
        def __getattr__(self, name: str) -> Any:
            return getattr(matcher, name)

        def fill_mask(self, *arguments: Any) -> None:
            raise LimitError("mask_work")

    broken.matcher = Stuck()  # type: ignore[assignment]
    mask = sound.allocate_vocab_mask(WIDTH, 2, "cpu")
    broken.fill_vocab_mask(mask, 0)
    entries = [GrammarRow(row=0, grammar=broken), GrammarRow(row=1, grammar=sound)]
    sound.fill_vocab_mask_batched(entries, mask)
    assert mask[1].tolist() == row(sound)
    assert [t for t in range(END) if mask[0][t // 32] >> (t % 32) & 1] == []
    with pytest.raises(ValueError, match="mask_work"):
        broken.accept_token(97)
    sound.accept_token(98)


def test_grammars_that_came_once_are_let_go_of() -> None:
    made = backend()
    for number in range(2_000):
        key = ("regex", f"a{number}" + "b" * 20_000)
        made.set_cache(key, InvalidGrammarObject("no"))
        assert len(made.cache) <= 256
        assert sum(len(spec) for _, spec in made.cache) <= 16 << 20
    made.set_cache(("regex", "c" * (17 << 20)), InvalidGrammarObject("no"))
    assert not made.cache
    made.set_cache(("regex", "d"), grammar("d"))
    found, is_hit = made.get_cached_or_future_value(("regex", "d"), False)
    assert is_hit
    assert isinstance(found, plugin.StencilmGrammar)


def test_the_operators_flags_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    serving = SimpleNamespace(
        constrained_json_whitespace_pattern=None,
        constrained_json_max_whitespace_cnt=1,
        constrained_json_disable_any_whitespace=False,
        reasoning_parser=None,
    )
    monkeypatch.setattr(plugin, "get_serving", lambda: serving)
    made = plugin._make_backend(None, TOKENS, WIDTH, {END})
    spec = json.dumps({"type": "array", "items": {"type": "null"}})
    assert made.dispatch_json(spec).matcher.accept_bytes(b"[ null")
    assert not made.dispatch_json(spec).matcher.accept_bytes(b"[  null")
    serving.constrained_json_disable_any_whitespace = True
    made = plugin._make_backend(None, TOKENS, WIDTH, {END})
    assert not made.dispatch_json(spec).matcher.accept_bytes(b"[ null")
    serving.constrained_json_whitespace_pattern = " *"
    with pytest.raises(ValueError, match="whitespace-pattern"):
        plugin._make_backend(None, TOKENS, WIDTH, {END})

"""Captures, budgets of tokens and temperatures, from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import stencilm
from stencilm import Compiler, Grammar, GrammarSyntaxError, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

TOKENS = [bytes([byte]) for byte in range(256)]
VOCABULARY = Vocabulary.from_tokens([*TOKENS, b"abc", b"}}", None], stop=[258])
COMPILER = Compiler(VOCABULARY)


def test_a_schema_inside_of_other_grammars_is_captured() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    arguments = Grammar.from_json_schema(schema).rule(capture="arguments")
    call = Grammar.literal("<call>") + arguments + Grammar.literal("</call>")
    text = Grammar.from_regex("[^<]*").rule(capture="text")
    matcher = COMPILER.compile((text + call).repeat(1) + text).matcher()
    parts = [b"so: ", b'{"city":"Oslo"}', b"\nand ", b"{}", b"."]
    written = b"%s<call>%s</call>%s<call>%s</call>%s" % tuple(parts)
    assert matcher.accept_bytes(written)
    found = matcher.captures()
    assert [capture.text for capture in found] == parts
    assert [capture.name for capture in found[:2]] == ["text", "arguments"]
    assert all(written[it.start :].startswith(it.text) for it in found)
    assert found[0] != found[1]
    assert len(set(found)) == 5
    fork = matcher.fork()
    matcher.rollback()
    assert matcher.captures() == []
    assert fork.captures() == found


def test_a_budget_of_tokens_counts_tokens_and_no_texts() -> None:
    grammar = Grammar.from_regex("[a-z]*").rule(max_tokens=2) + Grammar.literal("!")
    matcher = COMPILER.compile(grammar).matcher()
    assert matcher.accept_bytes(b"any text is no token".replace(b" ", b""))
    assert matcher.accept(256)
    assert matcher.is_allowed(ord("z"))
    assert matcher.accept(ord("a"))
    assert matcher.forced_text() == b"!"
    matcher.rollback()
    assert matcher.is_allowed(ord("z"))
    # Drafts see the same.
    mask = stencilm.allocate_mask(3, VOCABULARY.size)
    assert matcher.fill_draft_masks([ord("a"), ord("b")], mask) == 1
    assert stencilm.allowed_ids(mask[1]).tolist() == [ord("!")]
    assert matcher.validate([ord("a"), ord("!")]) == 2


def test_values_are_checked() -> None:
    grammar = Grammar.literal("a")
    for name in ("", "two words", 'quo"te'):
        with pytest.raises(GrammarSyntaxError, match="the name of a capture"):
            grammar.rule(capture=name)
    for temperature in (-0.5, float("nan"), float("inf")):
        with pytest.raises(GrammarSyntaxError, match="temperature"):
            grammar.rule(temperature=temperature)
    with pytest.raises(GrammarSyntaxError, match="1 at least"):
        grammar.rule(max_tokens=0)
    with pytest.raises(OverflowError):
        grammar.rule(max_tokens=-1)


class Undecided:
    """A model to which all letters are alike, but for `a`, which is likelier."""

    vocab_size = 259

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def reset(self) -> None:
        pass

    def step(self, ids: Sequence[int]) -> NDArray[np.float32]:
        logits = np.zeros(259, dtype=np.float32)
        logits[ord("a")] = 3
        return logits


def test_a_rule_is_sampled_at_its_temperature() -> None:
    cold = Grammar.from_regex("[a-d]{40}").rule(temperature=0.0, capture="cold")
    hot = Grammar.from_regex("[a-d]{40}").rule(temperature=1000.0, capture="hot")
    grammar = cold + hot + Grammar.from_regex("[a-d]{40}").rule(capture="rest")
    made = stencilm.generate(Undecided(), VOCABULARY, "x", grammar, temperature=0.01, seed=1)
    texts = {capture.name: capture.text for capture in made.captures}
    assert texts["cold"] == b"a" * 40
    # A token that began in the rule before may reach into this one.
    assert texts["rest"].endswith(b"a" * 37)
    assert set(texts["hot"]) == set(b"abcd")


def test_one_temperature_for_several_ways_is_the_highest() -> None:
    grammar = Grammar.from_ebnf("""
        root ::= word number?
        word[temperature=0.5] ::= [a-z]+ ("-" [a-z]+)?
        number[temperature=0.25] ::= [0-9]+
    """)
    matcher = COMPILER.compile(grammar).matcher()
    found = []
    for token in b"a1":
        found.append(matcher.temperature())
        assert matcher.accept(token)
    assert [*found, matcher.temperature()] == [0.5, 0.5, 0.25]
    assert matcher.accept(258)
    assert matcher.temperature() is None

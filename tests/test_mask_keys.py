"""Keys of masks: equal exactly where masks are equal, judged by the masks' own bytes."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from stencilm import Grammar, Limits, Vocabulary

if TYPE_CHECKING:
    from conftest import Kit

GRAMMARS = [
    Grammar.json(),
    Grammar.from_regex("(?=.*[0-9])([a-z]{1,9} ?|[0-9]+){1,50}"),
    Grammar.from_regex("[ab]*|[a-z]{3}"),
    Grammar.from_ebnf('root ::= root "+" root | "(" root ")" | [0-9]+ | [a-z]+'),
    Grammar.from_json_schema({"properties": {"ab": {"type": "integer"}, "abc": True}}),
    Grammar.from_json_schema({"additionalProperties": {"type": "integer"}}),
    Grammar.choice(["yes", "yesterday", "no"]),
    Grammar.choice([f"{number:x}" for number in range(3, 9_000, 7)]),
    Grammar.substring_of("a string of words, in which the words of a string are found"),
]


class Book:
    """Which mask came with which key."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        self.masks: dict[bytes, bytes] = {}
        self.keys: dict[bytes, bytes] = {}

    def note(self, matcher: object) -> None:
        key = matcher.mask_key()  # type: ignore[attr-defined]
        mask = self.kit.mask(matcher).tobytes()  # type: ignore[arg-type]
        assert len(key) == 16
        assert self.masks.setdefault(key, mask) == mask, "one key for two masks"
        assert self.keys.setdefault(mask, key) == key, "two keys for one mask"


@pytest.mark.parametrize("limits", [None, Limits(grammar_bytes=30_000)], ids=["usual", "tight"])
def test_keys_are_equal_exactly_where_masks_are(kit: Kit, limits: Limits | None) -> None:
    book = Book(kit)
    for grammar in GRAMMARS:
        for seed in range(12):
            random = Random(seed)
            matcher = kit.matcher(grammar)
            if limits is not None:
                compiled = type(kit.compiler)(kit.vocabulary, limits=limits).compile(grammar)
                matcher = compiled.matcher()
            for _ in range(30):
                book.note(matcher)
                allowed = kit.allowed(matcher)
                if not allowed:
                    break
                if random.random() < 0.1:
                    matcher.rollback(min(matcher.rollback_window, 2))
                assert matcher.accept(random.choice(kit.allowed(matcher)))
    assert len(book.masks) > 50
    assert len(book.masks) == len(book.keys)


def test_what_only_one_text_forbids_counts(byte_kit: Kit) -> None:
    """The name `a` came already in one text and not in the other."""
    grammar = Grammar.from_json_schema({"additionalProperties": {"type": "integer"}})
    book = Book(byte_kit)
    for text in (b'{"a":1,"a', b'{"b":1,"a', b'{"ab":1,"a', b'{"ab":1,"b'):
        matcher = byte_kit.matcher(grammar)
        assert matcher.accept_bytes(text)
        book.note(matcher)
    assert len(book.masks) == 2


def test_the_stop_tokens_count(kit: Kit) -> None:
    may_end, may_not = kit.matcher("[ab]*"), kit.matcher("[ab]+")
    assert may_end.mask_key() != may_not.mask_key()
    assert may_not.accept(97)
    assert may_end.mask_key() == may_not.mask_key()
    stopped = may_end.fork()
    assert stopped.accept(kit.vocabulary.stop_ids[0])
    assert stopped.mask_key() != may_end.mask_key()
    assert not kit.mask(stopped).any()
    other = kit.matcher("x")
    assert other.accept(120)
    assert other.accept(kit.vocabulary.stop_ids[1])
    assert other.mask_key() == stopped.mask_key()


def test_keys_need_no_mask_before(many_kit: Kit) -> None:
    first, second = many_kit.matcher("[a-z]{3} x"), many_kit.matcher("[a-z]{3} x")
    key = first.mask_key()
    mask = many_kit.mask(second)
    assert second.mask_key() == key
    np.testing.assert_array_equal(many_kit.mask(first), mask)


def test_keys_outlive_the_store_and_the_tables(many_kit: Kit) -> None:
    """A device keeps a mask under its key: another grammar finds it there after all is evicted."""
    vocabulary = Vocabulary.restore(many_kit.vocabulary.to_bytes(), store_bytes=50_000)
    compiler = type(many_kit.compiler)(vocabulary, cache_entries=1)
    before = compiler.compile(Grammar.from_regex("x[a-z]{2,9} !")).matcher()
    assert before.accept(ord("x"))
    key = before.mask_key()
    for number in range(40):
        matcher = compiler.compile(Grammar.from_regex(f"[a-{chr(99 + number % 20)}]* ")).matcher()
        matcher.mask_key()
    vocabulary.renew_store()
    after = compiler.compile(Grammar.from_regex("y[a-z]{2,9} !")).matcher()
    assert after.accept(ord("y"))
    assert after.mask_key() == key


def test_vocabularies_do_not_share_keys(byte_kit: Kit) -> None:
    twin = Vocabulary.restore(byte_kit.vocabulary.to_bytes())
    other = type(byte_kit.compiler)(twin).compile(Grammar.from_regex("ab")).matcher()
    assert other.mask_key() != byte_kit.matcher("ab").mask_key()

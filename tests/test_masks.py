"""Masks: which bits are set, and where they are written."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from stencilm import (
    Compiler,
    Grammar,
    Limits,
    Matcher,
    Vocabulary,
    VocabularyError,
    allocate_mask,
    allowed_ids,
    apply_mask,
    fill_masks,
)

if TYPE_CHECKING:
    from conftest import Kit

REGEXES = [
    "a",
    "ab?",
    "(ab|ba)*",
    "(a|b)*abb",
    "a{3,7}b{0,100000}",
    "(?=.*b)[abc]{2,6}",
    "(?!ab)[ab]+c",
    "(?<=a)b|ab(?!b)c*",
    r"\bab\b( \bba\b)*",
    ".*",
    "[^a]*",
    r"[\s\S]*the end",
    r"\d+(\.\d+)?(e[+-]?\d{1,3})?",
    "[é日]+本?",
    '"([^"\\\\\\n]|\\\\["n\\\\])*"',
    "(hello|hell|help)( the)*",
    "[^\\x00-\\x7f]+",
    "(a*)*b",
    "((a{2,3}b){2,5}c?){1,9}",
]
EBNFS = [
    'root ::= "(" root ")" | "[" root "]" | "ab"*',
    'root ::= root "+" root | "(" root ")" | [0-9]+',
    'root ::= "a" root "b" | ""',
    'root ::= "a" root "a" | "b" root "b" | "c" | "ab"',
    'root ::= <|tool|> "ab" <|tool|>? | "abc"',
    'root ::= x* y\nx ::= "ab" | "abc" | "b"\ny ::= "c" | "日本"',
]
SCHEMAS: list[Any] = [
    True,
    {"type": "object", "properties": {"ab": {"type": "integer"}}, "required": ["ab"]},
    {"type": "array", "items": {"enum": ["true", True, "the", 10, None]}, "maxItems": 4},
    {"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^[a-z日]*$"},
    {"anyOf": [{"type": "number", "minimum": -10, "maximum": 123}, {"type": "boolean"}]},
]


def grammars() -> list[Grammar]:
    return [
        *map(Grammar.from_regex, REGEXES),
        *map(Grammar.from_ebnf, EBNFS),
        *map(Grammar.from_json_schema, SCHEMAS),
    ]


def ids(grammar: Grammar) -> str:
    return f"{grammar.kind}-{grammar.source}"


@pytest.fixture
def words(byte_kit: Kit) -> int:
    return byte_kit.vocabulary.words


@pytest.fixture
def matcher(byte_kit: Kit) -> Matcher:
    return byte_kit.matcher("[ab]{4}")


@pytest.fixture
def expected(byte_kit: Kit, matcher: Matcher) -> list[int]:
    return byte_kit.allowed(matcher)


# Which bits.


@pytest.mark.parametrize("grammar", grammars(), ids=ids)
def test_a_bit_is_set_exactly_if_the_token_is_accepted(kit: Kit, grammar: Grammar) -> None:
    random = Random(grammar.source)
    for _ in range(3):
        matcher = kit.matcher(grammar)
        for _ in range(12):
            allowed = kit.allowed(matcher)
            before = matcher.rollback_window
            accepted = []
            for token in range(kit.vocabulary.size):
                assert matcher.is_allowed(token) == (token in allowed)
                if matcher.accept(token):
                    accepted.append(token)
                    matcher.rollback()
            assert matcher.rollback_window == before
            assert accepted == allowed
            if not allowed:
                break
            matcher.accept(random.choice(allowed))


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_regex(r"[A-Z][a-z]+( [A-Za-z]+)*\."),
        Grammar.from_regex(".*a.{40}b"),
        Grammar.from_ebnf('root ::= root "+" root | "(" root ")" | [0-9]+ | [a-z]+'),
        Grammar.from_json_schema(SCHEMAS[1], indent=2),
        Grammar.json(),
    ],
    ids=ids,
)
def test_a_bit_is_set_exactly_if_a_token_of_a_real_tokenizer_is_accepted(
    llama_kit: Kit, grammar: Grammar
) -> None:
    random = Random(1)
    matcher = llama_kit.matcher(grammar)
    size = llama_kit.vocabulary.size
    for step in range(8):
        allowed = llama_kit.allowed(matcher)
        tokens = range(size) if step in (0, 3) else random.sample(range(size), 3_000)
        accepted = []
        for token in tokens:
            if matcher.accept(token):
                accepted.append(token)
                matcher.rollback()
        assert set(accepted) == set(allowed) & set(tokens)
        matcher.accept(random.choice(allowed))
        if matcher.has_stopped():
            break


LANGUAGES = [
    "(ab|ba)*",
    "a*b{2,3}a?",
    "(a|bb)*(ab)?",
    "(?!aba)[ab]{1,5}",
    "(?=.*bb)[ab]*a",
    "a|bab",
]


@pytest.mark.parametrize("pattern", LANGUAGES)
def test_a_token_is_allowed_exactly_if_some_text_goes_on_with_it(pattern: str) -> None:
    texts = ["".join(t) for n in range(1, 4) for t in itertools.product("ab", repeat=n)]
    vocabulary = Vocabulary.from_tokens([*(text.encode() for text in texts), None], stop=[14])
    compiled = Compiler(vocabulary).compile(Grammar.from_regex(pattern))
    all_texts = ["".join(t) for n in range(11) for t in itertools.product("ab", repeat=n)]
    sentences = [text for text in all_texts if re.fullmatch(pattern, text)]
    prefixes = {text[:end] for text in sentences for end in range(len(text) + 1)}
    for start in ["", *texts]:
        matcher = compiled.matcher()
        assert matcher.accept_bytes(start.encode()) == (start in prefixes)
        if start not in prefixes:
            continue
        mask = allocate_mask(1, vocabulary.size)
        matcher.fill_mask(mask)
        wanted = [token for token, text in enumerate(texts) if start + text in prefixes]
        wanted += [14] if start in sentences else []
        assert allowed_ids(mask[0]).tolist() == wanted


def test_no_token_leads_to_a_text_that_the_vocabulary_cannot_spell() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b"])
    matcher = Compiler(vocabulary).compile(Grammar.from_regex("a|bc")).matcher()
    mask = allocate_mask(1, vocabulary.size)
    matcher.fill_mask(mask)
    assert allowed_ids(mask[0]).tolist() == [0]


def test_a_bit_of_a_special_token_is_set_exactly_if_it_is_accepted(kit: Kit) -> None:
    matcher = kit.matcher(Grammar.from_ebnf('root ::= <|tool|> "ab" <|tool|>? | "abc"'))
    tool = kit.vocabulary.special["<|tool|>"]
    assert tool in kit.allowed(matcher)
    assert matcher.is_allowed(tool)
    assert matcher.validate([tool, 256, tool]) == 3
    assert matcher.accept(tool)
    assert kit.allowed(matcher) == [97, 256, 261]
    matcher.rollback()
    assert tool in kit.allowed(matcher)


def test_special_tokens_that_the_vocabulary_lacks_are_refused(byte_kit: Kit) -> None:
    with pytest.raises(VocabularyError, match=r"<\|tool\|>"):
        byte_kit.matcher(Grammar.from_ebnf('root ::= <|tool|> "ab"'))


def test_a_grammar_that_the_vocabulary_cannot_spell_is_refused() -> None:
    vocabulary = Vocabulary.from_tokens([b"a", b"b"])
    with pytest.raises(VocabularyError, match=r"cannot spell .* 0x63 \(`c`\)\. Add them"):
        Compiler(vocabulary).compile(Grammar.from_regex("abc"))


def test_a_schema_that_the_vocabulary_cannot_spell_is_refused_when_it_is_compiled() -> None:
    schema = {"type": "object", "properties": {"a": {"const": True}}, "required": ["a"]}
    tokens = [bytes([byte]) for byte in b'{}":a']
    compiler = Compiler(Vocabulary.from_tokens(tokens))
    with pytest.raises(VocabularyError, match=r"0x74 \(`t`\)"):
        compiler.compile(Grammar.from_json_schema(schema))
    compiler.compile(Grammar.from_json_schema(schema | {"required": []}))


def test_tokens_that_no_others_complete_are_refused() -> None:
    tokens = [b'{"', b"a", b'":', b"1", b"}", b"{}", b"{"]
    schema = {"properties": {"a": {"const": 1}}, "type": "object", "additionalProperties": False}
    grammar = Grammar.from_json_schema(schema, whitespace="compact")
    for count, expected in ((7, [0, 5, 6]), (6, [0, 5]), (5, [0])):
        vocabulary = Vocabulary.from_tokens(tokens[:count])
        matcher = Compiler(vocabulary).compile(grammar).matcher()
        mask = allocate_mask(1, vocabulary.size)
        matcher.fill_mask(mask)
        assert allowed_ids(mask[0]).tolist() == expected
        assert [matcher.is_allowed(token) for token in range(count)] == [
            token in expected for token in range(count)
        ]


def test_duplicates_are_allowed_together(kit: Kit) -> None:
    same = [t for t in range(kit.vocabulary.size) if kit.vocabulary.token_bytes(t) == b"ab"]
    assert len(same) == 2
    assert set(same) <= set(kit.allowed(kit.matcher("abb")))


def test_every_stop_token_may_end_a_text_and_no_other_token_without_text(kit: Kit) -> None:
    allowed = kit.allowed(kit.matcher(".*"))
    textless = [t for t in allowed if kit.vocabulary.token_bytes(t) is None]
    assert textless == kit.vocabulary.stop_ids


def test_after_the_end_no_bit_is_set(kit: Kit) -> None:
    matcher = kit.matcher("a*")
    assert matcher.accept(kit.vocabulary.stop_ids[1])
    assert kit.allowed(matcher) == []


def test_a_mask_does_not_depend_on_the_store(many_kit: Kit) -> None:
    for pattern in [".*", "[a-z]+ [0-9]*", '"[^"]*"']:
        vocabulary = many_kit.vocabulary
        tight = Vocabulary.restore(vocabulary.to_bytes(), store_bytes=0)
        mask = allocate_mask(1, vocabulary.size)
        Compiler(tight).compile(Grammar.from_regex(pattern)).matcher().fill_mask(mask)
        np.testing.assert_array_equal(mask[0], many_kit.mask(many_kit.matcher(pattern)))


# Where they are written.


def test_one_dimension(matcher: Matcher, expected: list[int], words: int) -> None:
    mask = np.full(words, -1, dtype=np.int32)
    matcher.fill_mask(mask)
    assert allowed_ids(mask).tolist() == expected


def test_one_row_of_many(matcher: Matcher, expected: list[int], words: int) -> None:
    mask = np.full((3, words), -1, dtype=np.int32)
    matcher.fill_mask(mask, 1)
    assert (mask[[0, 2]] == -1).all()
    assert allowed_ids(mask[1]).tolist() == expected


def test_words_beyond_the_vocabulary_become_zero(
    matcher: Matcher, expected: list[int], words: int
) -> None:
    mask = np.full((2, words + 5), -1, dtype=np.int32)
    matcher.fill_mask(mask, 1)
    assert (mask[0] == -1).all()
    assert allowed_ids(mask[1]).tolist() == expected


def test_a_part_of_the_columns(matcher: Matcher, expected: list[int], words: int) -> None:
    big = np.full((3, words + 5), -1, dtype=np.int32)
    matcher.fill_mask(big[:, :words], 1)
    assert (big[[0, 2]] == -1).all()
    assert (big[:, words:] == -1).all()
    assert allowed_ids(big[1, :words]).tolist() == expected


def test_every_second_row_and_rows_backwards(
    matcher: Matcher, expected: list[int], words: int
) -> None:
    big = np.full((6, words), -1, dtype=np.int32)
    matcher.fill_mask(big[::2], 1)
    assert allowed_ids(big[2]).tolist() == expected
    big[2] = -1
    matcher.fill_mask(big[::-1], 1)
    assert allowed_ids(big[4]).tolist() == expected
    assert (np.delete(big, 4, axis=0) == -1).all()


def test_a_memory_view(matcher: Matcher, expected: list[int], words: int) -> None:
    memory = bytearray(4 * words)
    matcher.fill_mask(memoryview(memory).cast("i"))
    assert allowed_ids(np.frombuffer(memory, dtype=np.int32)).tolist() == expected


def test_a_tensor_of_torch(matcher: Matcher, expected: list[int], words: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    mask = torch.full((4, words), -1, dtype=torch.int32)
    matcher.fill_mask(mask, 2)
    assert allowed_ids(mask[2].numpy()).tolist() == expected
    assert (mask[[0, 1, 3]] == -1).all()
    matcher.fill_mask(mask[::2], 0)
    assert allowed_ids(mask[0].numpy()).tolist() == expected
    with pytest.raises((TypeError, BufferError), match=r"i32|int32"):
        matcher.fill_mask(torch.zeros((1, words), dtype=torch.int64))


@pytest.mark.parametrize("dtype", ["int64", "uint32", "float32", "int8", "bool"])
def test_other_types_are_refused_by_name(matcher: Matcher, words: int, dtype: str) -> None:
    with pytest.raises(TypeError, match=r"a mask is a writable buffer of int32.*got ndarray"):
        matcher.fill_mask(np.zeros((1, words), dtype=dtype))  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, 3, "mask", [0] * 9])
def test_things_that_are_no_buffer_are_refused_by_name(matcher: Matcher, thing: Any) -> None:
    name = type(thing).__name__
    with pytest.raises(TypeError, match=f"a mask is a writable buffer of int32.*got {name}"):
        matcher.fill_mask(thing)


def test_the_other_byte_order_is_refused(matcher: Matcher, words: int) -> None:
    with pytest.raises(ValueError, match="byte order"):
        matcher.fill_mask(np.zeros((1, words), dtype=np.dtype(np.int32).newbyteorder()))


def test_read_only_masks_are_refused(matcher: Matcher, words: int) -> None:
    mask = np.zeros((1, words), dtype=np.int32)
    mask.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        matcher.fill_mask(mask)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 8), "rows of 8 words, but the vocabulary needs 9"),
        ((8,), "rows of 8 words, but the vocabulary needs 9"),
        ((1, 1, 9), "one or two dimensions, not 3"),
    ],
)
def test_other_shapes_are_refused(matcher: Matcher, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matcher.fill_mask(np.zeros(shape, dtype=np.int32))


def test_scattered_words_are_refused(matcher: Matcher, words: int) -> None:
    for mask in (
        np.zeros((2, 2 * words), dtype=np.int32)[:, ::2],
        np.zeros((2, words), dtype=np.int32, order="F"),
        np.zeros(2 * words, dtype=np.int32)[::2],
        np.zeros((2, words), dtype=np.int32)[:, ::-1],
    ):
        with pytest.raises(ValueError, match="next to each other"):
            matcher.fill_mask(mask)
        assert not mask.any()


def test_rows_that_are_not_aligned_are_refused(matcher: Matcher, words: int) -> None:
    memory = bytearray(8 * words + 2)
    mask = np.ndarray((2, words), dtype=np.int32, buffer=memory, strides=(4 * words + 2, 4))
    with pytest.raises(ValueError, match="align"):
        matcher.fill_mask(mask, 1)


@pytest.mark.parametrize("row", [2, 10**12])
def test_a_row_out_of_range(matcher: Matcher, words: int, row: int) -> None:
    with pytest.raises(IndexError, match=f"row {row} of a mask with 2 rows"):
        matcher.fill_mask(np.zeros((2, words), dtype=np.int32), row)
    with pytest.raises(IndexError):
        matcher.fill_mask(np.zeros(words, dtype=np.int32), row)
    with pytest.raises(IndexError):
        matcher.fill_mask(np.zeros((0, words), dtype=np.int32))


def test_a_failure_leaves_the_matcher_as_it_was(matcher: Matcher, expected: list[int]) -> None:
    with pytest.raises(ValueError, match="words"):
        matcher.fill_mask(np.zeros((1, 1), dtype=np.int32))
    mask = allocate_mask(1, 257)
    matcher.fill_mask(mask)
    assert allowed_ids(mask[0]).tolist() == expected
    assert matcher.rollback_window == 0


# Many at once.


@pytest.mark.parametrize("count", [0, 1, 3, 4, 33])
def test_many_masks_are_those_of_each(many_kit: Kit, count: int) -> None:
    many_kit.vocabulary.renew_store()
    compiler = Compiler(many_kit.vocabulary)
    patterns = [f"([a-z]{{{n}}}|[0-9 ]+)[^x]*" for n in range(count)]
    matchers = [compiler.compile(Grammar.from_regex(p)).matcher() for p in patterns]
    mask = allocate_mask(count, many_kit.vocabulary.size)
    mask[:] = -1
    fill_masks(matchers, mask)
    for row, pattern in enumerate(patterns):
        np.testing.assert_array_equal(mask[row], many_kit.mask(many_kit.matcher(pattern)))
    again = allocate_mask(count, many_kit.vocabulary.size)
    fill_masks(matchers, again)
    np.testing.assert_array_equal(mask, again)


def test_none_leaves_its_row_alone(kit: Kit) -> None:
    first, last = kit.matcher("a"), kit.matcher("b")
    mask = np.full((3, kit.vocabulary.words), 5, dtype=np.int32)
    fill_masks([first, None, last], mask)
    assert (mask[1] == 5).all()
    np.testing.assert_array_equal(mask[0], kit.mask(first))
    np.testing.assert_array_equal(mask[2], kit.mask(last))


def test_the_rows_may_be_chosen(kit: Kit) -> None:
    first, last = kit.matcher("a"), kit.matcher("b")
    mask = np.full((5, kit.vocabulary.words), 5, dtype=np.int32)
    fill_masks([first, None, last], mask, rows=[4, 0, 1])
    assert (mask[[0, 2, 3]] == 5).all()
    np.testing.assert_array_equal(mask[4], kit.mask(first))
    np.testing.assert_array_equal(mask[1], kit.mask(last))


def test_many_masks_need_rows_that_are_there(kit: Kit) -> None:
    matchers = [kit.matcher("a"), kit.matcher("b")]
    mask = allocate_mask(2, kit.vocabulary.size)
    with pytest.raises(ValueError, match="2 matchers, but 1 rows"):
        fill_masks(matchers, mask, rows=[0])
    with pytest.raises(IndexError, match="row 7 of a mask with 2 rows"):
        fill_masks(matchers, mask, rows=[0, 7])
    with pytest.raises(IndexError, match="row 1 of a mask with 1 rows"):
        fill_masks(matchers, mask[:1])
    with pytest.raises(TypeError, match="Matcher"):
        fill_masks(["a"], mask)  # type: ignore[list-item]


def test_a_matcher_comes_once(kit: Kit) -> None:
    matcher = Compiler(kit.vocabulary, cache_entries=0).compile(Grammar.from_regex("ab*")).matcher()
    mask = allocate_mask(2, kit.vocabulary.size)
    with pytest.raises(ValueError, match="twice"):
        fill_masks([matcher, matcher], mask)
    fill_masks([matcher, matcher.fork()], mask)
    np.testing.assert_array_equal(mask[0], mask[1])


def test_a_matcher_comes_once_even_if_its_mask_is_known(kit: Kit) -> None:
    matcher = kit.matcher("ab*")
    mask = allocate_mask(2, kit.vocabulary.size)
    matcher.fill_mask(mask)
    with pytest.raises(ValueError, match="twice"):
        fill_masks([matcher, matcher], mask)


def test_a_limit_in_one_row_is_an_error_and_the_others_go_on(many_kit: Kit) -> None:
    small = Compiler(many_kit.vocabulary, limits=Limits(mask_work=1), cache_entries=0)
    many_kit.vocabulary.renew_store()
    failing = small.compile(Grammar.from_regex("([a-z]|[0-9] )*[A-Z]")).matcher()
    matchers = [many_kit.matcher(f"{letter}[0-9]*") for letter in "abcd"]
    mask = allocate_mask(5, many_kit.vocabulary.size)
    with pytest.raises(Exception, match="mask_work"):
        fill_masks([failing, *matchers], mask)
    fill_masks([None, *matchers], mask)
    for row, matcher in enumerate(matchers, start=1):
        np.testing.assert_array_equal(mask[row], many_kit.mask(matcher))


# Helpers.


@pytest.mark.parametrize("size", [1, 31, 32, 33, 257])
def test_allocate_and_read_back(size: int) -> None:
    mask = allocate_mask(3, size)
    assert mask.shape == (3, (size + 31) // 32)
    assert mask.dtype == np.int32
    assert not mask.any()
    for token in (0, size // 2, size - 1):
        mask[1] = 0
        mask.view(np.uint32)[1, token // 32] |= np.uint32(1) << np.uint32(token % 32)
        assert allowed_ids(mask[1]).tolist() == [token]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("width", [250, 257, 300])
def test_apply_a_mask(byte_kit: Kit, dtype: str, width: int) -> None:
    logits = np.arange(width).astype(dtype)
    apply_mask(logits, byte_kit.mask(byte_kit.matcher("[ab]|")))
    kept = [97, 98, 256] if width > 256 else [97, 98]
    assert np.flatnonzero(np.isfinite(logits)).tolist() == kept
    assert logits[kept].tolist() == kept
    assert (logits[~np.isfinite(logits)] == -np.inf).all()

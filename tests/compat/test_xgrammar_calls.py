"""What calls do, beyond what the replayed answers ask: XGrammar 0.2.9 was asked the same."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest

import stencilm.compat.xgrammar as xgr
from stencilm import GrammarSyntaxError, VocabularyError

VOCAB = [b"<s>", b"</s>", b"a", b"b", b"ab", b"c", b""]
INFO = xgr.TokenizerInfo(VOCAB, stop_token_ids=[1])
COMPILER = xgr.GrammarCompiler(INFO)
AB = 'root ::= "a" "b"?'


def matcher(text: str, **options: Any) -> xgr.GrammarMatcher:
    return xgr.GrammarMatcher(COMPILER.compile_grammar(text), **options)


def mask_of(one: xgr.GrammarMatcher) -> list[int]:
    mask = np.zeros((1, 1), dtype=np.int32)
    one.fill_next_token_bitmask(mask)  # type: ignore[arg-type]
    return [token for token in range(INFO.vocab_size) if int(mask[0, 0]) >> token & 1]


def test_a_tokenizer_says_what_it_is() -> None:
    assert (INFO.vocab_size, INFO.stop_token_ids, INFO.special_token_ids) == (7, [1], [6])
    assert INFO.decoded_vocab == VOCAB
    assert INFO.vocab_type is xgr.VocabType.RAW
    assert xgr.TokenizerInfo(VOCAB).stop_token_ids == [1], "known by its text"
    assert xgr.TokenizerInfo(VOCAB, stop_token_ids=1).stop_token_ids == [1]
    assert xgr.TokenizerInfo(VOCAB, stop_token_ids=[100]).stop_token_ids == []
    padded = xgr.TokenizerInfo(VOCAB, vocab_size=10)
    assert padded.special_token_ids == [6, 7, 8, 9]
    assert padded.vocab_size == 10
    with pytest.raises(RuntimeError, match="vocab_size"):
        xgr.TokenizerInfo(VOCAB, vocab_size=3)


def test_vocabularies_are_decoded() -> None:
    fallback = xgr.TokenizerInfo(["▁a", "<0x0A>", "<0xff>"], xgr.VocabType.BYTE_FALLBACK)
    assert fallback.decoded_vocab == [b" a", b"\n", b"\xff"]
    level = xgr.TokenizerInfo(["Ġé", "Ċ", "<|x y|>"], xgr.VocabType.BYTE_LEVEL)
    assert level.decoded_vocab == [b" \xe9", b"\n", b"<|x y|>"]


def test_metadata_goes_round() -> None:
    metadata = INFO.dump_metadata()
    assert json.loads(metadata) == {
        "vocab_type": 0,
        "vocab_size": 7,
        "add_prefix_space": False,
        "stop_token_ids": [1],
    }
    again = xgr.TokenizerInfo.from_vocab_and_metadata(VOCAB, metadata)
    assert again.dump_metadata() == metadata
    assert again.decoded_vocab == VOCAB
    saved = xgr.TokenizerInfo.deserialize_json(INFO.serialize_json())
    assert saved.dump_metadata() == metadata
    assert saved.decoded_vocab == VOCAB
    with pytest.raises(RuntimeError):
        xgr.TokenizerInfo.from_vocab_and_metadata(VOCAB, "[]")


def test_a_text_ends_with_a_stop_token() -> None:
    one = matcher(AB)
    assert (one.max_rollback_tokens, one.temperature, one.stop_token_ids) == (-1, None, [1])
    assert not one.accept_token(1)
    assert one.accept_token(2)
    assert one.is_completed()
    assert not one.is_terminated()
    assert mask_of(one) == [1, 3]
    assert one.accept_token(1)
    assert one.is_completed()
    assert one.is_terminated()
    for refused in (2, 1, 99, -1, 6):
        assert not one.accept_token(refused)
    assert not one.accept_string("")
    assert not one.accept_string(b"b")
    for call in (lambda: mask_of(one), one.find_jump_forward_string):
        with pytest.raises(RuntimeError, match="has ended"):
            call()
    assert one.find_jump_forward_tokens() == []
    one.rollback()
    assert mask_of(one) == [1, 3]
    with pytest.raises(RuntimeError):
        one.rollback(5)
    one.rollback(0)
    one.rollback(-1)
    assert one.accept_string("")
    assert mask_of(one) == [1, 3]
    one.rollback()
    assert not one.accept_string(b"ab")
    with pytest.raises(TypeError):
        one.accept_token(2.0)  # type: ignore[arg-type]
    one.reset()
    assert mask_of(one) == [2, 4]


def test_a_text_may_end_by_itself() -> None:
    one = matcher(AB, terminate_without_stop_token=True)
    assert one.accept_token(2)
    assert one.is_completed()
    assert one.is_terminated()
    assert mask_of(one) == [3]
    assert one.accept_token(3)
    assert one.is_terminated()
    assert mask_of(one) == []
    assert not one.accept_token(1)
    one.rollback()
    assert one.is_terminated()


def test_stop_tokens_may_be_others() -> None:
    one = matcher(AB, override_stop_tokens=[5])
    assert one.stop_token_ids == [5]
    assert one.accept_token(2)
    assert mask_of(one) == [3, 5]
    assert not one.accept_token(1)
    assert one.accept_token(5)
    assert one.is_terminated()
    assert matcher(AB, override_stop_tokens=5).stop_token_ids == [5]
    # A stop token is no text.
    assert mask_of(matcher('root ::= "c" | "ab"', override_stop_tokens=5)) == [2, 4]


def test_all_tokens_may_be_allowed() -> None:
    info = xgr.TokenizerInfo([b"a", b"b"], stop_token_ids=[])
    compiled = xgr.GrammarCompiler(info).compile_regex("[^x]*")
    mask = xgr.allocate_token_bitmask(1, 2)
    mask[0, 0] = 0
    assert not xgr.GrammarMatcher(compiled).fill_next_token_bitmask(mask)
    assert mask.tolist() == [[-1]]
    wide = xgr.TokenizerInfo([bytes([byte]) for byte in range(97, 97 + 26)] * 3)
    compiled = xgr.GrammarCompiler(wide).compile_regex("[a-z]*")
    mask = xgr.allocate_token_bitmask(2, 78)
    mask[:] = 0
    assert not xgr.GrammarMatcher(compiled).fill_next_token_bitmask(mask, 1)
    assert mask.tolist() == [[0, 0, 0], [-1, -1, -1]]


@pytest.mark.parametrize(
    ("mask", "index"),
    [
        (np.zeros((1, 2), dtype=np.int32), 0),
        (np.zeros((1, 0), dtype=np.int32), 0),
        (np.zeros((1, 1), dtype=np.int64), 0),
        (np.zeros((1, 1, 1), dtype=np.int32), 0),
        (np.zeros((1, 1), dtype=np.int32), 3),
    ],
)
def test_masks_that_are_none(mask: Any, index: int) -> None:
    with pytest.raises(RuntimeError):
        matcher(AB).fill_next_token_bitmask(mask, index)
    if index:
        with pytest.raises(RuntimeError):
            xgr.BatchGrammarMatcher().batch_fill_next_token_bitmask([matcher(AB)], mask, [index])


def test_what_must_come_is_known() -> None:
    def jumps(text: str) -> tuple[str, list[int]]:
        one = matcher(text)
        return one.find_jump_forward_string(), one.find_jump_forward_tokens()

    assert jumps('root ::= "abc"') == ("abc", [4, 5])
    assert jumps('root ::= "cc" [ab]') == ("cc", [5, 5])
    # After `ab` may come `a` or `ab`.
    assert jumps('root ::= "aba" [bc]') == ("aba", [4])
    one = xgr.testing._get_matcher_from_grammar('root ::= "中" | "丁"')
    assert one.find_jump_forward_string() == "", "half a character is none"
    assert jumps('root ::= "a" | "b"') == ("", [])


def test_forks_go_their_own_ways() -> None:
    one = matcher('root ::= "a" ("b" | "c")', default_temperature=0.5)
    assert one.accept_token(2)
    other = one.fork()
    assert one.accept_token(3)
    assert mask_of(other) == [3, 5]
    assert other.temperature == 0.5
    assert other.accept_token(5)


def test_captures_and_temperatures_of_rules() -> None:
    one = matcher(
        'root ::= word ("c" word)?\nword[capture, temperature=0.25] ::= "a" | "b"',
        default_temperature=0.5,
    )
    assert one.temperature == 0.25
    assert one.accept_token(2)
    assert one.temperature == 0.5, "a `c` comes next, or the end"
    assert one.get_captures() == [("word", b"a")]
    assert one.accept_token(5)
    other = one.fork()
    assert one.accept_token(2)
    assert one.get_captures() == [("word", b"a")]
    assert one.get_captures(deduplicate=False) == [("word", b"a")] * 2
    assert other.accept_token(3)
    assert other.get_captures() == [("word", b"a"), ("word", b"b")]
    one.rollback(2)
    assert one.get_captures() == [("word", b"a")]
    # A tree: `c`, and below it `a` or what is refused.
    arrays: Any = [np.array(part) for part in ([1, 2, -1, -1], [-1, -1, 3, -1], [2, 5, 2, 5])]
    rows: Any = np.zeros((4, 1), dtype=np.int32)
    temperatures: Any = np.zeros(4)
    assert one.traverse_draft_tree(*arrays, rows, -1.0, temperatures)
    assert temperatures.tolist() == [0.5, 0.25, 0.5, 0.5]


@pytest.mark.parametrize(
    ("tokens", "children", "siblings", "before", "rows"),
    [
        ([2, 3, 4], [1, 2, -1], [-1, -1, -1], [2], [0b1000, 0b100000, 0b10]),
        ([2, 3, 5], [1, -1, -1], [-1, 2, -1], [2], [0b1000, 0b100000, 0]),
        ([2, 99], [1, -1], [-1, -1], [2], [0b1000, 0]),
    ],
)
def test_masks_of_a_tree_of_drafts(
    tokens: list[int], children: list[int], siblings: list[int], before: list[int], rows: list[int]
) -> None:
    one = matcher('root ::= "a" "b" ("c" | "ab")?' if 4 not in tokens else 'root ::= "a" "b" "c"')
    if tokens == [2, 3, 4]:
        tokens = [2, 3, 5]
    else:
        one = matcher('root ::= "a" "b" "c"')
    assert all(map(one.accept_token, before))
    mask = np.full((len(tokens), 1), 7, dtype=np.int32)
    arrays: Any = [np.array(part) for part in (children, siblings, tokens)]
    temperatures: Any = np.zeros(len(tokens))
    filled: Any = mask
    assert one.traverse_draft_tree(*arrays, filled, -1.0, temperatures)
    assert mask[:, 0].tolist() == rows
    assert temperatures.tolist() == [-1.0] * len(tokens)
    with pytest.raises(RuntimeError):
        one.traverse_draft_tree(np.array([0]), *arrays[1:], filled)  # type: ignore[arg-type]


def test_many_at_once() -> None:
    batch = xgr.BatchGrammarMatcher
    made = [matcher(AB) for _ in range(5)]
    assert batch.batch_accept_token(made, [2, 3, 4, 2, 2]) == [True, False, True, True, True]
    assert batch.batch_accept_string(made[:2], ["b", b"a"]) == [True, True]
    mask = xgr.allocate_token_bitmask(6, INFO.vocab_size)
    batch(max_threads=2).batch_fill_next_token_bitmask(made, mask, [5, 4, 3, 2, 1])
    assert [int(row[0]) & 0x7F for row in mask] == [0x7F, 0b1010, 0b1010, 0b10, 0b1010, 0b10]
    batch.batch_rollback(made[:2], [2, 1])
    batch.batch_rollback(made[2:4])
    assert [mask_of(one) for one in made[:4]] == [[2, 4]] * 4
    temperatures: Any = np.zeros(2)
    batch.batch_fill_temperature([made[0], matcher(AB, default_temperature=2.0)], temperatures)
    assert temperatures.tolist() == [-1.0, 2.0]
    for call in (
        lambda: batch.batch_accept_token(made, [2]),
        lambda: batch.batch_accept_string(made, ["a"]),
        lambda: batch.batch_rollback(made, [1]),
        lambda: batch(max_threads=0),
        lambda: batch(max_threads="x"),  # type: ignore[arg-type]
    ):
        with pytest.raises(RuntimeError):
            call()


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: xgr.Grammar.from_ebnf('root ::= "a'), RuntimeError, "at byte"),
        (lambda: xgr.Grammar.from_ebnf("root ::= b"), RuntimeError, "unknown rule `b`"),
        (lambda: xgr.Grammar.from_regex("(a"), RuntimeError, "at byte"),
        (lambda: xgr.Grammar.from_regex("a{,3}"), RuntimeError, "write"),
        (lambda: xgr.Grammar.from_lark("start: x"), RuntimeError, "unknown rule `x`"),
        (lambda: xgr.Grammar.from_lark("start: @x", named_grammars={"x": ""}), RuntimeError, "@"),
        (lambda: xgr.Grammar.from_json_schema("{"), RuntimeError, ""),
        (lambda: xgr.Grammar.from_json_schema({"type": "strin"}), RuntimeError, "/type"),
        (lambda: xgr.Grammar.from_json_schema(3), ValueError, "JSON text"),  # type: ignore[arg-type]
        (lambda: xgr.Grammar.from_structural_tag("{"), xgr.InvalidJSONError, ""),
        (
            lambda: xgr.Grammar.from_structural_tag({}),
            xgr.InvalidStructuralTagError,
            "`format` is missing",
        ),
        (lambda: xgr.Grammar.from_structural_tag(1, 2, 3), TypeError, ""),
        (lambda: COMPILER.compile_structural_tag("{"), RuntimeError, ""),
        (lambda: COMPILER.compile_grammar("root ::= Token(99)"), RuntimeError, "99"),
        (lambda: xgr.StructuralTag.from_json({"format": {"type": "no"}}), ValueError, "no"),
        (lambda: xgr.GrammarCompiler(3), ValueError, "TokenizerInfo"),  # type: ignore[arg-type]
        (lambda: xgr.GrammarCompiler(INFO, cache_limit_bytes=-2), RuntimeError, "-2"),
        (lambda: xgr.set_max_recursion_depth(0), RuntimeError, "depth"),
        (lambda: xgr.get_model_structural_tag("none"), ValueError, "qwen_3"),
        (lambda: xgr.Grammar.deserialize_json("{"), xgr.InvalidJSONError, ""),
        (lambda: xgr.Grammar.deserialize_json("{}"), xgr.DeserializeVersionError, "None"),
        (lambda: xgr.Grammar.deserialize_json("[]"), xgr.DeserializeFormatError, ""),
        (
            lambda: xgr.Grammar.deserialize_json('{"__VERSION__":"v18"}'),
            xgr.DeserializeVersionError,
            "v18",
        ),
        (
            lambda: xgr.Grammar.deserialize_json(INFO.serialize_json()),
            xgr.DeserializeFormatError,
            "TokenizerInfo",
        ),
    ],
)
def test_errors_are_of_their_kinds(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert message in str(caught.value)


def test_the_cause_is_our_error() -> None:
    with pytest.raises(RuntimeError) as caught:
        xgr.Grammar.from_ebnf("root ::= b")
    assert isinstance(caught.value.__cause__, GrammarSyntaxError)
    assert caught.value.__cause__.location == 9
    with pytest.raises(RuntimeError) as caught:
        COMPILER.compile_lark("start: <nobody>")
    assert isinstance(caught.value.__cause__, VocabularyError)


def test_what_is_compiled_goes_round() -> None:
    tag = xgr.StructuralTag(
        format=xgr.structural_tag.SequenceFormat(
            elements=[
                xgr.structural_tag.TokenFormat(token="<s>"),
                xgr.structural_tag.RegexFormat(pattern="ab?"),
            ]
        )
    )
    parts = [
        xgr.Grammar.from_ebnf(AB),
        xgr.Grammar.from_regex("a"),
        xgr.Grammar.from_lark('start: "a" "b"?'),
        xgr.Grammar.from_regex("[ab]{2}"),
    ]
    compiled = [
        *(COMPILER.compile_grammar(part) for part in parts),
        COMPILER.compile_grammar(xgr.Grammar.union(*parts)),
        COMPILER.compile_grammar(xgr.Grammar.concat(*parts)),
        COMPILER.compile_structural_tag(tag),
    ]
    for one in compiled:
        again = xgr.CompiledGrammar.deserialize_json(one.serialize_json(), INFO)
        assert str(again.grammar) == str(one.grammar)
        matchers = [xgr.GrammarMatcher(one), xgr.GrammarMatcher(again)]
        assert mask_of(matchers[0]) == mask_of(matchers[1])
        assert again.tokenizer_info is INFO
        assert again.memory_size_bytes > 0
    with pytest.raises(xgr.DeserializeFormatError, match="other tokens"):
        xgr.CompiledGrammar.deserialize_json(compiled[0].serialize_json(), xgr.TokenizerInfo(["a"]))


def test_the_cache_knows_what_it_has() -> None:
    compiler = xgr.GrammarCompiler(INFO)
    one = compiler.compile_regex("ab*")
    assert compiler.compile_regex("ab*")._compiled is one._compiled
    assert compiler.get_cache_size_bytes() > 0
    assert compiler.cache_limit_bytes == -1
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0
    assert compiler.compile_regex("ab*")._compiled is not one._compiled
    plain = xgr.GrammarCompiler(INFO, cache_enabled=False)
    assert plain.compile_regex("a")._compiled is not plain.compile_regex("a")._compiled
    small = xgr.GrammarCompiler(INFO, cache_limit_bytes=1)
    for at in range(20):
        small.compile_regex(f"a{{{at + 1}}}")
    assert small.cache_limit_bytes == 1
    assert small._compiler.cache_len == 1


def test_threads_share_a_compiler() -> None:
    compiler = xgr.GrammarCompiler(INFO, max_threads=4)
    found: list[bool] = []

    def work() -> None:
        for _ in range(50):
            one = xgr.GrammarMatcher(compiler.compile_grammar(AB))
            found.append(one.accept_string("ab") and one.is_completed())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 400


def test_settings_are_kept() -> None:
    assert xgr.get_max_recursion_depth() == 10_000
    with xgr.max_recursion_depth(77):
        assert xgr.get_max_recursion_depth() == 77
    assert xgr.get_max_recursion_depth() == 10_000
    assert xgr.get_serialization_version().startswith("stencilm")


def test_tokens_go_by_their_texts() -> None:
    info = xgr.TokenizerInfo(["<call>", "x", "<end>", "y", "</s>"])
    compiler = xgr.GrammarCompiler(info)
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "token_triggered_tags",
            "trigger_tokens": ["<call>"],
            "exclude_tokens": ["y"],
            "tags": [
                {
                    "begin": {"type": "token", "token": "<call>"},
                    "content": {"type": "any_tokens", "exclude_tokens": [1]},
                    "end": {"type": "token", "token": "<end>"},
                }
            ],
        },
    }
    one = xgr.GrammarMatcher(compiler.compile_structural_tag(json.dumps(tag)))
    for token, allowed in [(3, False), (1, True), (0, True), (1, False), (3, True), (2, True)]:
        assert one.accept_token(token) is allowed
    assert one.is_completed()
    lark = xgr.GrammarMatcher(compiler.compile_lark('start: <call> "x"'))
    assert lark.accept_token(0)
    assert lark.accept_token(1)
    assert lark.is_completed()
    rules = {
        "type": "token_dispatch",
        "rules": [["<call>", {"type": "const_string", "value": "x"}]],
    }
    dispatch = {"type": "structural_tag", "format": {**rules, "loop": False}}
    one = xgr.GrammarMatcher(compiler.compile_structural_tag(dispatch))
    assert one.accept_token(3)
    assert one.accept_token(0)
    assert not one.accept_token(3)


def test_old_structural_tags_are_read() -> None:
    item = xgr.StructuralTagItem(begin="<f>", schema={"type": "integer"}, end="</f>")
    for grammar in (
        xgr.Grammar.from_structural_tag([item], ["<f"]),
        xgr.Grammar.from_structural_tag(tags=[item], triggers=["<f"]),
        xgr.Grammar.from_structural_tag(
            xgr.StructuralTag.from_legacy_structural_tag([item], ["<f"])
        ),
    ):
        assert xgr.testing._is_grammar_accept_string(grammar, "hi <f>12</f> and <f>3</f>")
        assert not xgr.testing._is_grammar_accept_string(grammar, "<f>x</f>")


def test_what_nests_too_deep_is_an_error() -> None:
    schema: Any = {}
    tag: Any = {"type": "any_text"}
    for _ in range(20_000):
        schema = {"items": schema}
        tag = {"type": "optional", "content": tag}
    for make in (
        lambda: xgr.Grammar.from_json_schema('{"items":' * 100_000),
        lambda: COMPILER.compile_structural_tag({"type": "structural_tag", "format": tag}),
        lambda: xgr.Grammar.from_structural_tag('{"content":' * 100_000),
        lambda: xgr.Grammar.from_ebnf("root ::= " + "(" * 100_000),
        lambda: xgr.Grammar.from_regex("(" * 100_000),
        lambda: xgr.Grammar.deserialize_json("[" * 100_000),
    ):
        with pytest.raises(RuntimeError):
            make()
    assert xgr.testing._is_grammar_accept_string(xgr.Grammar.from_json_schema(schema), "[]")
    token = '{"type":"optional","content":' * 600 + '{"type":"token","token":1}' + "}" * 600
    with pytest.raises(RuntimeError):
        COMPILER.compile_structural_tag('{"type":"structural_tag","format":' + token + "}")


def test_masks_as_truth_values() -> None:
    truth: Any = np.array([[True] * 40, [False] * 39 + [True]])
    mask = xgr.testing.bool_mask_to_bitmask(truth)
    assert mask.tolist() == [[-1, 255], [0, 128]]
    back: Any = xgr.testing.bitmask_to_bool_mask(mask, 40)
    assert (back == truth).all()
    assert xgr.testing._is_single_token_bitmask(mask, 40, 1) == (True, 39)
    assert xgr.testing._is_single_token_bitmask(mask, 40, 0) == (False, -1)
    assert xgr.testing._get_masked_tokens_from_bitmask(mask, 40, 1) == list(range(39))


EMPTY: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "strict": True, "parameters": CITY}},
    {"type": "function", "function": {"name": "now", "strict": True, "parameters": EMPTY}},
]
CALLS = {
    "gemma_4": (
        ("<|channel>thought\n", "<channel|>"),
        '<|tool_call>call:weather{city:<|"|>Oslo<|"|>}<tool_call|>',
        "<|tool_call>call:now{}<tool_call|>",
        "<|tool_call>call:weather{}<tool_call|>",
    ),
    "mimo": (
        ("<think>", "</think>"),
        "<tool_call><function=weather><parameter=city>Oslo</parameter></function></tool_call>",
        "<tool_call><function=now></function></tool_call>",
        "<tool_call><function=weather></function></tool_call>",
    ),
    "deepseek_v4_1": (
        ("", "</think>"),
        '\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="weather">\n<｜DSML｜ parameter name="city" '
        'string="true">Oslo</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>',
        '\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="now">\n</｜DSML｜ invoke>\n</｜DSML｜ calls>',
        '\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="weather">\n</｜DSML｜ invoke>\n'
        "</｜DSML｜ calls>",
    ),
    "minimax_m3": (
        ("", "</mm:think>"),
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="weather">]<]minimax[>[<city>Oslo'
        "]<]minimax[>[</city>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="now">'
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="weather">'
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
    ),
}


@pytest.mark.parametrize("model", CALLS)
@pytest.mark.parametrize("reasoning", ["enabled", "disabled"])
def test_the_newer_models_write_so(model: str, reasoning: Any) -> None:
    (begin, end), weather, now, wrong = CALLS[model]
    thought = f"{begin}hm{end}" if reasoning == "enabled" else ""
    named = {"type": "function", "function": {"name": "now"}}
    for choice, texts in [
        ("auto", {"Hi.": True, "Hi." + weather: True, now: True, wrong: False}),
        ("required", {"Hi.": False, weather: True, now: True, wrong: False}),
        ("none", {"Hi.": True, now: False, weather: False}),
        (named, {now: True, weather: False, "Hi.": False}),
    ]:
        tag = xgr.get_model_structural_tag(model, TOOLS, choice, reasoning)
        grammar = xgr.Grammar.from_structural_tag(tag)
        for text, expected in texts.items():
            assert xgr.testing._is_grammar_accept_string(grammar, thought + text) == expected
        if reasoning == "enabled":
            assert not xgr.testing._is_grammar_accept_string(grammar, now)


def test_a_lark_text_begins_with_a_terminal() -> None:
    """As XGrammar 0.2.9 answers."""
    ignoring = 'start: "a"\n%ignore " "'
    option = '%grammar_options {"allow_initial_skip": true}\n'
    for text, given, expected in [
        (ignoring, "a ", True),
        (ignoring, " a", False),
        (option + ignoring, " a", True),
        ("start: a\na[max_chars=2]: /x+/", "xx", True),
        ("start: a\na[max_chars=2]: /x+/", "xxx", False),
    ]:
        grammar = xgr.Grammar.from_lark(text)
        assert xgr.testing._is_grammar_accept_string(grammar, given) == expected, (text, given)

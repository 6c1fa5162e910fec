"""What one does with XGrammar, written once and run with its module and with ours.

Where XGrammar is installed, both must give the same; otherwise ours must give what is written here.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

WORDS = ["{", "}", '"', ":", ",", " ", "\n", "name", "age", "Ann", "1", "2", "34", "true", "null"]
VOCAB: list[str | bytes] = [*WORDS, *(chr(at) for at in range(97, 123)), "[", "]", "<", ">", "/"]
VOCAB += ["=", "-", ".", "<call>", "</call>", "yes", "no", "</s>"]
STOP = len(VOCAB) - 1


class Person(BaseModel):
    name: str
    age: int


def info_of(xgr: Any) -> Any:
    return xgr.TokenizerInfo(VOCAB, stop_token_ids=[STOP])


def longest_first(xgr: Any, compiled: Any, text: str) -> list[str]:
    """Writes a text with the longest token that the mask allows, and ends it."""
    info = compiled.tokenizer_info
    matcher = xgr.GrammarMatcher(compiled)
    mask = xgr.allocate_token_bitmask(1, info.vocab_size)
    rest, taken = text, []
    while rest:
        matcher.fill_next_token_bitmask(mask)
        refused = set(xgr.testing._get_masked_tokens_from_bitmask(mask, info.vocab_size))
        ways = [
            (len(word), token)
            for token, word in enumerate(VOCAB)
            if token not in refused and rest.startswith(str(word))
        ]
        if not ways:
            return [*taken, f"stuck at {rest!r}"]
        length, token = max(ways)
        assert matcher.accept_token(token)
        taken.append(str(VOCAB[token]))
        rest = rest[length:]
    if not matcher.accept_token(STOP):
        return [*taken, "not the end"]
    return taken


def a_model_writes_json(xgr: Any) -> Any:
    compiler = xgr.GrammarCompiler(info_of(xgr))
    return longest_first(xgr, compiler.compile_builtin_json_grammar(), '{"name": [1, true]}')


def a_class_says_what_comes(xgr: Any) -> Any:
    compiler = xgr.GrammarCompiler(info_of(xgr), max_threads=2)
    compiled = compiler.compile_json_schema(Person)
    texts = ['{"name": "Ann", "age": 34}', '{"age": 34, "name": "Ann"}', '{"name": "Ann"}']
    return [longest_first(xgr, compiled, text) for text in texts]


def white_space_is_a_choice(xgr: Any) -> Any:
    schema = Person.model_json_schema()
    compact = '{"name":"ann","age":1}'
    lines = '{\n  "name": "ann",\n  "age": 1\n}'
    found = []
    for options in (
        {},
        {"separators": (",", ":")},
        {"indent": 2},
        {"indent": 2, "separators": (",", ":")},
    ):
        given: Any = {"any_whitespace": False, **options} if options else {}
        grammar = xgr.Grammar.from_json_schema(schema, **given)
        found.append([xgr.testing._is_grammar_accept_string(grammar, t) for t in (compact, lines)])
    return found


def grammars_go_together(xgr: Any) -> Any:
    number = xgr.Grammar.from_regex(r"-?[0-9]+(\.[0-9]+)?")
    word = xgr.Grammar.from_ebnf('root ::= "yes" | "no"')
    both = xgr.Grammar.concat(word, xgr.Grammar.from_ebnf('root ::= "="'), number)
    either = xgr.Grammar.union(both, word)
    texts = ["yes=-1.5", "no", "no=", "1", "yes=12"]
    return [xgr.testing._is_grammar_accept_string(either, text) for text in texts]


def tags_stand_in_text(xgr: Any) -> Any:
    tag = xgr.StructuralTag(
        format=xgr.structural_tag.TriggeredTagsFormat(
            triggers=["<call>"],
            tags=[
                xgr.structural_tag.TagFormat(
                    begin="<call>",
                    content=xgr.structural_tag.JSONSchemaFormat(json_schema={"type": "integer"}),
                    end="</call>",
                )
            ],
            at_least_one=False,
        )
    )
    compiled = xgr.GrammarCompiler(info_of(xgr)).compile_structural_tag(tag)
    texts = ["yes <call>12</call> no", "yes", "<call>x</call>", "<call>1"]
    return [longest_first(xgr, compiled, text) for text in texts]


def steps_are_given_back(xgr: Any) -> Any:
    compiled = xgr.GrammarCompiler(info_of(xgr)).compile_regex("(yes|no)-(yes|no)")
    matcher = xgr.GrammarMatcher(compiled, max_rollback_tokens=10)
    yes, dash, no = VOCAB.index("yes"), VOCAB.index("-"), VOCAB.index("no")
    seen = [matcher.accept_token(yes), matcher.find_jump_forward_string()]
    seen += [matcher.accept_token(dash), matcher.accept_token(no), matcher.accept_token(STOP)]
    seen += [matcher.is_terminated()]
    matcher.rollback(2)
    other = matcher.fork()
    seen += [matcher.is_terminated(), other.accept_token(yes), matcher.accept_token(no)]
    matcher.reset()
    return [*seen, matcher.accept_token(dash)]


def what_is_compiled_is_kept(xgr: Any) -> Any:
    info = info_of(xgr)
    saved = xgr.GrammarCompiler(info).compile_regex("[a-z]+=[0-9]").serialize_json()
    again = xgr.CompiledGrammar.deserialize_json(saved, info)
    tokens = xgr.TokenizerInfo.deserialize_json(info.serialize_json())
    return [longest_first(xgr, again, "ann=1"), json.loads(tokens.dump_metadata())["vocab_size"]]


def many_texts_at_once(xgr: Any) -> Any:
    info = info_of(xgr)
    compiled = xgr.GrammarCompiler(info).compile_regex("yes|no")
    matchers = [xgr.GrammarMatcher(compiled) for _ in range(3)]
    taken = xgr.BatchGrammarMatcher.batch_accept_string(matchers, ["ye", "n", "x"])
    mask = xgr.allocate_token_bitmask(3, info.vocab_size)
    xgr.BatchGrammarMatcher(max_threads=2).batch_fill_next_token_bitmask(matchers, mask)
    size = info.vocab_size
    allowed = []
    for row in range(3):
        refused = set(xgr.testing._get_masked_tokens_from_bitmask(mask, size, row))
        allowed.append([str(VOCAB[token]) for token in range(size) if token not in refused])
    return [taken, allowed]


PREFIX = ["{", '"', "name", '"', ":", " ", '"', "Ann", '"']
EXAMPLES: dict[Callable[[Any], Any], Any] = {
    a_model_writes_json: ["{", '"', "name", '"', ":", " ", "[", "1", ",", " ", "true", "]", "}"],
    a_class_says_what_comes: [
        [*PREFIX, ",", " ", '"', "age", '"', ":", " ", "34", "}"],
        ["{", '"', 'stuck at \'age": 34, "name": "Ann"}\''],
        [*PREFIX, "stuck at '}'"],
    ],
    white_space_is_a_choice: [[True, True], [True, False], [False, True], [False, False]],
    grammars_go_together: [True, True, False, False, True],
    tags_stand_in_text: [
        ["yes", " ", "<call>", "1", "2", "</call>", " ", "no"],
        ["yes"],
        ["<call>", "stuck at 'x</call>'"],
        ["<call>", "1", "not the end"],
    ],
    steps_are_given_back: [True, "-", True, True, True, True, False, True, True, False],
    what_is_compiled_is_kept: [["a", "n", "n", "=", "1"], len(VOCAB)],
    many_texts_at_once: [[True, True, False], [["s"], ["o"], ["n", "y", "yes", "no"]]],
}


# It says that `max_rollback_tokens` counts for nothing.
@pytest.mark.filterwarnings("ignore::DeprecationWarning:xgrammar")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
@pytest.mark.parametrize("module", ["stencilm.compat.xgrammar", "xgrammar"])
def test_an_example_gives_the_same(module: str, example: Callable[[Any], Any]) -> None:
    if module == "xgrammar":
        pytest.importorskip("xgrammar")
    xgr = importlib.import_module(module)
    assert example(xgr) == EXAMPLES[example]


def test_logits_are_masked() -> None:
    torch = pytest.importorskip("torch")
    xgr = importlib.import_module("stencilm.compat.xgrammar")
    mask = xgr.allocate_token_bitmask(2, 6)
    assert mask.dtype == xgr.bitmask_dtype
    assert mask.tolist() == [[-1], [-1]]
    mask[0, 0], mask[1, 0] = 0b101, 0
    inf = float("-inf")

    def masked(width: int, **options: Any) -> Any:
        logits = torch.zeros(2, width)
        xgr.apply_token_bitmask_inplace(logits, mask, **options)
        return logits.tolist()

    assert masked(6) == [[0, inf, 0, inf, inf, inf], [inf] * 6]
    assert masked(6, indices=[1]) == [[0] * 6, [inf] * 6]
    assert masked(6, vocab_size=2) == [[0, inf, 0, 0, 0, 0], [inf, inf, 0, 0, 0, 0]]
    with pytest.warns(UserWarning, match="says nothing of the last 8 logits"):
        assert masked(40)[1] == [inf] * 32 + [0] * 8
    for backend in ("cpu", "torch_native", "auto"):
        assert masked(6, backend=backend)[1] == [inf] * 6
    with pytest.raises(ValueError, match="no backend"):
        masked(6, backend="none")
    row = torch.zeros(6)
    xgr.apply_token_bitmask_inplace(row, mask[0])
    assert row.tolist() == [0, inf, 0, inf, inf, inf]
    xgr.reset_token_bitmask(mask)
    assert mask.tolist() == [[-1], [-1]]


def test_a_logits_processor_masks_each_step() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    xgr = importlib.import_module("stencilm.compat.xgrammar")
    compiled = xgr.GrammarCompiler(info_of(xgr)).compile_regex("yes|no")
    processor = xgr.hf.LogitsProcessor(compiled)
    ids = torch.zeros(2, 3, dtype=torch.long)

    def step(tokens: list[int] | None) -> list[list[str]]:
        nonlocal ids
        if tokens is not None:
            ids = torch.cat([ids, torch.tensor(tokens)[:, None]], dim=1)
        scores = processor(ids, torch.zeros(2, len(VOCAB)))
        return [[str(VOCAB[at]) for at in row.isfinite().nonzero()[:, 0]] for row in scores]

    assert step(None) == [["n", "y", "yes", "no"]] * 2
    assert step([VOCAB.index("yes"), VOCAB.index("n")]) == [["</s>"], ["o"]]
    assert [len(row) for row in step([STOP, VOCAB.index("o")])] == [len(VOCAB), 1]
    with pytest.raises(RuntimeError, match="not allowed"):
        step([STOP, VOCAB.index("o")])

"""The public bug reports about interfaces: what users of other engines met must not happen here.

The cases lie beside the repository, like the official suite. Those that are about threads, and
about bounds on compiling, are `test_threads.py` and `test_schema_hostile.py`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Compiler, Grammar, StencilmError, Vocabulary, allocate_mask, allowed_ids

if TYPE_CHECKING:
    from conftest import Kit

    from stencilm import Matcher

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "cases-dev.jsonl.gz"


def cases() -> dict[str, Any]:
    if not FILE.exists():
        return {}
    with gzip.open(FILE, "rt") as lines:
        return {case["id"]: case for case in map(json.loads, lines)}


CASES = cases()
API = [name for name, case in CASES.items() if case["format"] == "api"]
WITH_TOKENS = [name for name in API if "vocab" in CASES[name]["grammar"]]
LANGUAGES = [name for name, c in CASES.items() if c["format"] in ("json_schema", "regex", "ebnf")]

pytestmark = pytest.mark.skipif(not CASES, reason="the cases lie in ../shared, not here")


def grammar_of(form: str, source: Any, **options: Any) -> Grammar:
    if form == "json_schema":
        return Grammar.from_json_schema(source, **options)
    if form == "regex":
        return Grammar.from_regex(source)
    if form == "lark":
        # The one case in this language, in ours.
        return Grammar.from_ebnf(source.replace("start:", "root ::="))
    return Grammar.from_ebnf(source)


class Setup:
    """What a case describes: a vocabulary, a grammar, and tokens that come."""

    def __init__(self, case: dict[str, Any]) -> None:
        said = case["grammar"]
        size = max(said["vocab_size"], *(token["id"] + 1 for token in said["vocab"]))
        tokens: list[bytes | None] = [None] * size
        special: dict[str, int] = {}
        for token in said["vocab"]:
            if "special" in token:
                special[token["special"]] = token["id"]
            else:
                text = token.get("text")
                tokens[token["id"]] = bytes.fromhex(token["hex"]) if text is None else text.encode()
        vocabulary = Vocabulary.from_tokens(tokens, special=special, stop=said["eos"])
        ((form, source),) = said["constraint"].items()
        compact = said.get("options", {}).get("whitespace") == "none"
        options = {"whitespace": "compact"} if compact else {}
        self.vocabulary = vocabulary
        self.stops = said["eos"]
        self.compiled = Compiler(vocabulary).compile(grammar_of(form, source, **options))

    def after(self, tokens: list[int]) -> Matcher | None:
        matcher = self.compiled.matcher()
        return matcher if all(matcher.accept(token) for token in tokens) else None

    def allowed(self, tokens: list[int]) -> list[int]:
        matcher = self.after(tokens)
        return [] if matcher is None else ids(matcher, self.vocabulary)


def ids(matcher: Matcher, vocabulary: Vocabulary) -> list[int]:
    mask = allocate_mask(1, vocabulary.size)
    matcher.fill_mask(mask)
    found: list[int] = allowed_ids(mask[0]).tolist()
    return found


@pytest.mark.parametrize("name", WITH_TOKENS)
def test_the_tokens_are_those_of_the_case(name: str) -> None:
    case = CASES[name]
    setup = Setup(case)
    for step in case["grammar"].get("steps", []):
        assert setup.allowed(step["tokens"]) == step["allowed"], step
    for text in case["accept"]:
        matcher = setup.after(json.loads(text))
        assert matcher is not None, text
        assert set(ids(matcher, setup.vocabulary)) >= set(setup.stops), text
    for text in case["reject"]:
        matcher = setup.after(json.loads(text))
        assert matcher is None or not matcher.may_stop(), text
    matcher = setup.compiled.matcher()
    for operation, tokens in case["grammar"].get("ops", []):
        if operation == "push":
            assert all(matcher.accept(token) for token in tokens)
        elif operation == "push_refused":
            assert not any(matcher.accept(token) for token in tokens)
        elif operation == "allowed":
            assert ids(matcher, setup.vocabulary) == tokens
        else:
            assert operation == "new_matcher_from_history"
            again = setup.after(tokens)
            assert again is not None
            matcher = again


def test_ids_beyond_the_vocabulary_are_errors() -> None:
    setup = Setup(CASES["api-vocab-padding"])
    matcher = setup.compiled.matcher()
    assert not matcher.accept(7)
    for token in (8, -1):
        with pytest.raises(StencilmError):
            matcher.accept(token)
    assert ids(matcher, setup.vocabulary) == [0, 1, 2]


@pytest.mark.xfail(strict=True, reason="nobody counts the tokens that are missing yet")
def test_the_fewest_tokens_to_the_end() -> None:
    case = CASES["api-min-completion"]
    setup = Setup(case)
    for step in case["grammar"]["min_tokens_to_finish"]:
        matcher: Any = setup.after(step["tokens"])
        assert matcher.min_tokens() == step["min"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grammar.from_json_schema(""),
        lambda: Grammar.from_json_schema("{not json"),
        lambda: Grammar.from_ebnf(""),
        lambda: Grammar.choice([]),
    ],
)
def test_degenerate_requests_are_errors(make: Any) -> None:
    with pytest.raises((StencilmError, ValueError)):
        make()


def test_a_bad_request_leaves_the_next_one_alone(byte_kit: Kit) -> None:
    for request in CASES["api-fault-isolation"]["grammar"]["sequence"]:
        expected = request.pop("expect")
        ((form, source),) = request.items()
        form = {"json": "json_schema", "grammar": "ebnf"}.get(form, form)
        request["expect"] = expected
        if expected == "ok":
            byte_kit.compiler.compile(grammar_of(form, source))
        else:
            with pytest.raises(StencilmError):
                grammar_of(form, source)


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_is_read_compiles_and_masks_agree_with_accept(byte_kit: Kit, name: str) -> None:
    case = CASES[name]
    try:
        grammar = grammar_of(case["format"], case["grammar"])
    except StencilmError:
        return
    compiled = byte_kit.compiler.compile(grammar)
    for text in case["accept"]:
        matcher = compiled.matcher()
        for byte in text.encode()[:60]:
            mask = byte_kit.mask(matcher).copy()
            allowed = set(allowed_ids(mask).tolist())
            for token in range(byte_kit.vocabulary.size):
                if matcher.accept(token):
                    assert token in allowed
                    matcher.rollback(1)
                else:
                    assert token not in allowed
            assert (byte_kit.mask(matcher) == mask).all()
            if not matcher.accept(byte):
                break


def test_masks_do_not_slow_down_with_the_text(byte_kit: Kit) -> None:
    case = CASES["ebnf-text-without-marker"]
    for grammar in (
        Grammar.from_ebnf(case["grammar"]),
        Grammar.from_json_schema({"type": "string"}),
    ):
        check_masks_stay_fast(byte_kit, byte_kit.matcher(grammar))


def check_masks_stay_fast(byte_kit: Kit, matcher: Matcher) -> None:
    mask = allocate_mask(1, byte_kit.vocabulary.size)
    times = []
    assert matcher.accept_bytes(b'"') or matcher.accept_bytes(b"x")
    for _ in range(8_000):
        begin = perf_counter()
        matcher.fill_mask(mask)
        times.append(perf_counter() - begin)
        assert matcher.accept_bytes(b"x")
    # The text grew 16 times as long. The shortest times: a busy machine slows down the others.
    first, last = min(times[:500]), min(times[-500:])
    assert last < 4 * first + 2e-6

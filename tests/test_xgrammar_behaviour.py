"""What XGrammar answered in its own tests, for grammars in EBNF and for regular expressions.

The answers lie beside the repository, `../shared/data`; where they do not, nothing is tested.
Where we differ, `DIFFERENT` says why.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Compiler, Grammar, GrammarError, Matcher, Vocabulary, allocate_mask

if TYPE_CHECKING:
    from conftest import Kit

DATA = Path(__file__).parents[1].parent / "shared" / "data" / "xgrammar-behaviour-dev.jsonl.gz"

DIFFERENT = {
    'Regex("a(?=b)c")': "a look-ahead holds: nothing matches",
    "[max_tokens=": "rule options that say no more than which texts may come are refused",
    "[temperature=0.6]": "the same",
    "(=([ \\n\\r\\t]* [,}\\]:]))": "a look-ahead holds: there it is a hint",
    '(=Substring("b"))': "a macro may stand in a look-ahead",
    '"a" |': "an alternative may be empty, as in llama.cpp",
    '"a"{1,3}{1,3}': "what is repeated may be repeated, as in llama.cpp",
    '"a"++': "the same",
    '"a"??': "the same",
    "inner ::= TagDispatch": "after a dispatch that is empty the one around it goes on",
    'call ::= "fn(" Token(8, 9) ","': "no token leads to a dead end: the vocabulary has no comma",
    r"\a\f\n": r"ECMA-262 has no `\a` and no `\e`",
    "a{,3}": "braces that are no quantifier are themselves, as browsers read them",
}
"""Parts of sources, and why our answer is another one."""


def rows(kind: str) -> list[dict[str, Any]]:
    if not DATA.is_file():
        pytest.skip(f"the answers are not there: {DATA}")
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [row for row in read if row["source"].get("kind") == kind]


def source_text(row: dict[str, Any]) -> str:
    given = row["source"]["args"]
    keys = ("ebnf_string", "grammar", "regex_string", "regex")
    text: str = next(given[key] for key in keys if key in given)
    return text


def make(row: dict[str, Any]) -> Grammar:
    if row["source"]["kind"] == "regex":
        return Grammar.from_regex(source_text(row))
    start = row["source"]["args"].get("root_rule_name", "root")
    return Grammar.from_ebnf(source_text(row), start=start)


def as_bytes(text: Any) -> bytes:
    return bytes.fromhex(text["bytes"]) if isinstance(text, dict) else text.encode()


def difference(kit: Kit, row: dict[str, Any]) -> str | None:
    """What we answer otherwise."""
    try:
        grammar = make(row)
        if "ops" in row:
            return difference_of_calls(grammar, row)
        kit.compiler.compile(grammar)
    except GrammarError as error:
        return None if "error" in row else f"refused: {error}"
    if "error" in row:
        return "took what must be refused"
    for text, is_whole, expected in row["texts"]:
        matcher = kit.matcher(grammar)
        found = matcher.accept_bytes(as_bytes(text)) and (not is_whole or matcher.may_stop())
        if found != expected:
            return f"{text!r}: {found}"
    return None


def difference_of_calls(grammar: Grammar, row: dict[str, Any]) -> str | None:
    texts = [bytes.fromhex(token) for token in row.get("vocab") or []]
    stops = row.get("stop") or []
    if not texts:
        return None
    tokens = [None if at in stops else text for at, text in enumerate(texts)]
    vocabulary = Vocabulary.from_tokens(tokens, stop=stops)
    matcher: Matcher = Compiler(vocabulary).compile(grammar).matcher()
    for place, (name, arguments, expected) in enumerate(row["ops"]):
        found: Any
        if name == "fill_next_token_bitmask":
            mask = allocate_mask(1, vocabulary.size)
            matcher.fill_mask(mask)
            bits = int.from_bytes(mask[0].tobytes(), "little")
            found = bits
            wanted = sum((int(word) & 0xFFFFFFFF) << 32 * at for at, word in enumerate(expected[1]))
            expected = wanted & ((1 << vocabulary.size) - 1)
        elif name == "accept_token":
            found = matcher.accept(*arguments)
        elif name == "accept_string":
            found = matcher.accept_bytes(as_bytes(arguments[0]))
        elif name == "is_terminated":
            ends_itself = (row.get("options") or {}).get("terminate_without_stop_token", False)
            found = matcher.has_stopped() or (ends_itself and matcher.may_stop())
        elif name == "rollback":
            found = matcher.rollback(*arguments)
        elif name == "reset":
            found = matcher.reset()
        else:
            return None
        if found != expected:
            return f"call {place}, {name}{tuple(arguments)}: {found}, not {expected}"
    return None


@pytest.mark.parametrize("kind", ["ebnf", "regex"])
def test_answers_are_the_same(byte_kit: Kit, kind: str) -> None:
    wrong, counts = [], Counter[str]()
    for row in rows(kind):
        what = "texts" if "texts" in row else "error" if "error" in row else "calls"
        reason = difference(byte_kit, row)
        counts[f"{what} {'same' if reason is None else 'different'}"] += 1
        text = source_text(row)
        if reason is not None and not any(part in text for part in DIFFERENT):
            wrong.append(f"{text!r}: {reason}")
    print(dict(counts))
    assert not wrong, "\n".join(wrong)

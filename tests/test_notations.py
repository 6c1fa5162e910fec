"""Arguments that are not written as JSON, against Python's own parser and two validators."""

from __future__ import annotations

import ast
import json
import os
import re
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from judges import NotForJudges, dumps, judges_of, loads
from random_schemas import Generator, mutated, values

from stencilm import (
    Compiler,
    Grammar,
    GrammarSyntaxError,
    Limits,
    UnsatisfiableError,
    UnsupportedError,
    Vocabulary,
    allocate_mask,
    allowed_ids,
)
from stencilm.tools import parse_tool_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from stencilm import Matcher

pytest.importorskip("jsonschema_rs", reason="one judge alone has mistakes of its own")

SEED = int(os.environ.get("STENCILM_SEED", "1"))
SCHEMAS = int(os.environ.get("STENCILM_SCHEMAS", "600"))
QUICK = Limits(compile_time=5)
TOKENS = [
    *(bytes([b]) for b in range(256)),
    None,
    b"None",
    b"True",
    b"'a",
    b"a=",
    b"\\x61",
    b'<|"|>',
]
COMPILER = Compiler(Vocabulary.from_tokens(TOKENS, stop=[256]), limits=QUICK, cache_entries=0)
NAMES = ["a", "b", "ab", "c"]


def matcher_of(schema: Any, style: str, **options: Any) -> Matcher:
    format_ = {"type": "json_schema", "json_schema": schema, "style": style}
    tag = {"type": "structural_tag", "format": format_}
    options = {"key_order": "any", "additional": "anywhere", **options}
    grammar = Grammar.from_structural_tag(tag, limits=QUICK, **options)
    return COMPILER.compile(grammar).matcher()


def accepts(matcher: Matcher, text: str) -> bool:
    reader = matcher.fork()
    return reader.accept_bytes(text.encode()) and reader.may_stop()


def as_python(value: Any) -> str:
    """The arguments of a call, as `repr` writes them."""
    return ", ".join(f"{name}={part!r}" for name, part in value.items())


def as_gemma(value: Any) -> str:
    """As the chat template of Gemma 4 does it, with `null` for nothing."""
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{as_gemma(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_gemma, value)) + "]"
    return json.dumps(value)


def from_python(text: str) -> Any:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    assert not call.args
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


BARE = re.compile(r"([{,]\s*)([^\s:{}\[\],][^:{}\[\],]*?)\s*:")


def from_gemma(text: str) -> Any:
    parts = text.split('<|"|>')
    for at, part in enumerate(parts):
        is_string = at % 2 == 1
        parts[at] = json.dumps(part) if is_string else BARE.sub(r'\1"\2":', part)
    return json.loads("".join(parts))


STYLES: dict[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    "pythonic": (as_python, from_python),
    "gemma": (as_gemma, from_gemma),
}


def walk(matcher: Matcher, random: Random) -> str | None:
    """A whole text; `None` if it becomes long."""
    matcher, text = matcher.fork(), b""
    mask = allocate_mask(1, len(TOKENS))
    for step in range(160):
        matcher.fill_mask(mask)
        allowed = allowed_ids(mask[0]).tolist()
        assert allowed, f"a dead end after {text!r}"
        if 256 in allowed and (step > 12 or random.random() < 0.4):
            return text.decode()
        liked = [t for t in allowed if (TOKENS[t] or b"!")[-1:] in b"ab)]}'\"<|>=:x0"]
        chosen = liked if liked and random.random() < 0.9 else allowed
        token = random.choice([t for t in chosen if t != 256] or [256])
        if token == 256:
            return text.decode()
        assert matcher.accept(token), (text, token)
        text += TOKENS[token] or b""
    return None


@pytest.mark.parametrize("style", STYLES)
def test_random_schemas_in_another_notation(style: str) -> None:
    write, read = STYLES[style]
    tally: Counter[str] = Counter()
    for number in range(SCHEMAS):
        random = Random(SEED * 1_000_003 + number)
        schema = Generator(random).document()
        schema["type"] = "object"
        try:
            matcher = matcher_of(schema, style)
        except UnsupportedError:
            tally["refused"] += 1
            continue
        except UnsatisfiableError:
            tally["no value"] += 1
            continue
        except GrammarSyntaxError:
            tally["no schema"] += 1
            continue
        verdicts_of = judges_of(schema)

        def judge(value: Any, verdicts_of: Callable[[Any], set[bool]] = verdicts_of) -> set[bool]:
            try:
                return verdicts_of(value)
            except RecursionError:  # A schema without end is one to all judges.
                return set()

        pool = [value for value in values(random, schema, 30) if isinstance(value, dict)]
        for _ in range(3):
            try:
                text = walk(matcher, random)
            except UnsupportedError:  # A condition that only arises when a value is under way.
                tally["refused late"] += 1
                continue
            if text is None:
                tally["long walks"] += 1
                continue
            value = read(text)
            tally["walks"] += 1
            if len(re.findall(r"\d", text)) < 12:
                assert judge(loads(dumps(value))) != {False}, (schema, text)
            for _ in range(6):
                value = mutated(random, value)
                pool += [value] if isinstance(value, dict) else []
        for value in pool:
            try:
                exact = loads(dumps(value))
            except (NotForJudges, OverflowError):
                continue
            text = write(value)
            verdicts = judge(exact)
            if len(verdicts) != 1 or "e+" in text or "e-" in text:
                continue
            is_valid = verdicts.pop()
            tally["valid" if is_valid else "invalid"] += 1
            try:
                assert accepts(matcher, text) == is_valid, (schema, text)
            except UnsupportedError:
                tally["refused late"] += 1
    assert tally["refused late"] <= SCHEMAS / 100
    print(style, dict(tally))
    assert tally["walks"] > SCHEMAS / 2
    assert tally["valid"] > SCHEMAS
    assert tally["invalid"] > SCHEMAS


TEXTS = [
    *("", "'", '"', "'\"", "\\", "\n\t\r", "\0\x01\x1f\x7f", "é\xa0\xad", "\u200b\u2028\ud7ff"),
    *("\ue000\ufeff\uffff", "😀\U000e0001\U0010ffff", "a'b\\'c", "{}[]()=,:", "#", '<|"|>'),
]


@pytest.mark.parametrize("text", TEXTS)
def test_whatever_repr_writes_is_read(text: str) -> None:
    for schema in [{"type": "string"}, {"const": text}, {"type": "string", "maxLength": 40}, {}]:
        matcher = matcher_of({"properties": {"v": schema}, "required": ["v"]}, "pythonic")
        for spelled in [repr(text), ascii(text), json.dumps(text, ensure_ascii=False)]:
            assert accepts(matcher, f"v={spelled}"), spelled
            assert accepts(matcher, f"v={spelled}, w=[{{{spelled}: {spelled}}}]"), spelled
    for schema in [{"const": "other"}, {"type": "string", "maxLength": max(len(text) - 1, 0)}]:
        matcher = matcher_of({"properties": {"v": schema}, "required": ["v"]}, "pythonic")
        assert accepts(matcher, f"v={text!r}") == (text == "" and "maxLength" in schema)


def test_every_short_text_is_python_or_refused() -> None:
    """All strings of a few signs: where we accept one, Python reads the same value."""
    signs = ["'", '"', "\\", "x", "u", "0", "4", "1", "n", "\n", "a"]
    matcher = matcher_of({"properties": {"v": {"type": "string"}}, "required": ["v"]}, "pythonic")
    counts: Counter[bool] = Counter()
    todo = [""]
    while todo:
        inside = todo.pop()
        text = f"v={inside}"
        reader = matcher.fork()
        is_live = reader.accept_bytes(text.encode())
        is_whole = accepts(matcher, text)
        try:
            value = from_python(text)["v"]
        except (SyntaxError, ValueError):
            value = None
        counts[is_whole] += 1
        assert not is_whole or isinstance(value, str), text
        # What Python reads and we do not: backslashes that begin no escape, octal ones, several
        # strings side by side, and a name behind a string's mark.
        if isinstance(value, str) and not is_whole:
            assert re.search(r"\\[^\\'\"nxu]|\\$|''|\"\"|'\"|\"'|^[u]", inside), text
        if is_live and len(inside) < 6:
            todo += [inside + sign for sign in signs]
    assert counts[True] > 500


def test_a_text_that_is_whole_is_valid_python_in_every_white_space() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": ["null", "boolean"]}}},
        "required": ["a"],
    }
    for space in ["\n a\t=\r[ None ,\nTrue ]\n", "a=[None,True]", "a = [None, True]"]:
        assert accepts(matcher_of(schema, "pythonic"), space)
        assert from_python(space) == {"a": [None, True]}
    compact = matcher_of(schema, "pythonic", whitespace="compact")
    assert accepts(compact, "a=[None,True]")
    assert not accepts(compact, "a = [None,True]")
    as_repr = matcher_of(schema, "pythonic", separators=(", ", ": "))
    assert accepts(as_repr, "a=[None, True]")
    assert not accepts(as_repr, "a=[None,True]")
    lines = matcher_of(schema, "pythonic", indent=2)
    assert accepts(lines, "\n  a=[\n    None,\n    True\n  ]\n")
    assert not accepts(lines, "a=[None,True]")


NS = "]<]minimax[>["


def typed(random: Random, depth: int) -> dict[str, Any]:
    """A schema whose values can be told apart by the texts of elements."""
    kinds = ["string", "integer", "boolean", "null", "enum"]
    kind = random.choice(kinds if depth == 0 else [*kinds, *["array", "object"] * 3])
    if kind == "enum":
        return {"type": "string", "enum": random.sample(["a", "1", "true", "null", "", "a b"], 3)}
    if kind == "array":
        least = random.choice([0, 0, 1])
        items = typed(random, depth - 1)
        return {"type": kind, "items": items, "minItems": least, "maxItems": least + 2}
    if kind == "object":
        return typed_object(random, depth - 1)
    return {"type": kind}


def typed_object(random: Random, depth: int) -> dict[str, Any]:
    names = random.sample(["a", "b c", "item", "é", "x-y"], random.choice([1, 2, 3]))
    return {
        "type": "object",
        "properties": {name: typed(random, depth) for name in names},
        "required": random.sample(names, random.choice([0, 1])),
        "additionalProperties": False,
    }


def value_for(random: Random, schema: dict[str, Any]) -> Any:
    kind = schema["type"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    if kind == "array":
        count = random.randint(schema["minItems"], schema["maxItems"])
        return [value_for(random, schema["items"]) for _ in range(count)]
    if kind == "object":
        return {
            name: value_for(random, inner)
            for name, inner in schema["properties"].items()
            if name in schema["required"] or random.random() < 0.7
        }
    some: dict[str, list[Any]] = {
        "string": ["", "x", "12", "null", "]<]", "<a>"],
        "integer": [0, -7, 123],
        "boolean": [True, False],
        "null": [None],
    }
    return random.choice(some[kind])


def as_elements(value: Any) -> str:
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = [("item", part) for part in value]  # type: ignore[assignment]
    else:
        return value if isinstance(value, str) else json.dumps(value)
    return "".join(f"{NS}<{name}>{as_elements(part)}{NS}</{name}>" for name, part in pairs)


def test_elements_are_those_of_the_schema() -> None:
    from jsonschema import Draft202012Validator

    tally: Counter[str] = Counter()
    for number in range(SCHEMAS):
        random = Random(SEED * 7_000_003 + number)
        schema = typed_object(random, 3)
        matcher = matcher_of(schema, "minimax_m3_xml")
        validator = Draft202012Validator(schema)
        tools = [{"name": "f", "parameters": schema}]

        def read(text: str, tools: Any = tools) -> Any:
            call = f'{NS}<tool_call>\n{NS}<invoke name="f">{text}{NS}</invoke>\n{NS}</tool_call>'
            return parse_tool_calls(call, "minimax_m3", tools=tools).calls[0].arguments

        for _ in range(8):
            value = value_for(random, schema)
            assert accepts(matcher, as_elements(value)), (schema, value)
            assert read(as_elements(value)) == value, (schema, value)
            other = mutated(random, value)
            if isinstance(other, dict) and accepts(matcher, as_elements(other)):
                tally["accepted"] += 1
                assert validator.is_valid(read(as_elements(other))), (schema, other)
            else:
                assert not (isinstance(other, dict) and validator.is_valid(other)), (schema, other)
                tally["refused"] += 1
        text = walk(matcher, random)
        if text is not None:
            tally["walks"] += 1
            assert validator.is_valid(read(text)), (schema, text)
    assert min(tally["accepted"], tally["refused"], tally["walks"]) > SCHEMAS / 2, tally


@pytest.mark.parametrize("style", STYLES)
def test_names_and_constants_of_any_characters(style: str) -> None:
    write, _ = STYLES[style]
    tally: Counter[str] = Counter()
    for number in range(SCHEMAS):
        random = Random(SEED * 9_000_003 + number)
        odd = [*TEXTS, "from", "a b", "a:b", "ä", "9x", "x-y"]
        names = [random.choice([*odd, *["a", "_x"] * 20]), random.choice([*odd, *["b"] * 20])]
        schema = {
            "type": "object",
            "properties": {
                names[0]: {"enum": random.sample(TEXTS, 2)},
                "o": {"properties": {names[1]: {"const": random.choice(TEXTS)}}},
            },
            "additionalProperties": False,
        }
        try:
            matcher = matcher_of(schema, style)
        except UnsupportedError:
            tally["refused"] += 1
            continue
        for _ in range(6):
            first, second = schema["properties"].values()  # type: ignore[attr-defined]
            constant = second["properties"][names[1]]["const"]
            inner = {names[1]: random.choice([constant, constant, *TEXTS])}
            inner = {names[1]: constant} if random.random() < 0.7 else inner
            value = {names[0]: random.choice([*first["enum"] * 5, *TEXTS]), "o": inner}
            is_valid = value[names[0]] in first["enum"]
            is_valid &= inner[names[1]] == constant
            has_quote = style == "gemma" and '<|"|>' in f"{value[names[0]]}{inner[names[1]]}"
            tally["valid" if is_valid else "invalid"] += 1
            assert accepts(matcher, write(value)) == (is_valid and not has_quote), (schema, value)
    assert min(tally["refused"], tally["valid"], tally["invalid"]) > 20, tally


DEEPEST = 2


def unique_array(random: Random, depth: int) -> dict[str, Any]:
    """A schema of an array whose items must differ, or of which two must be equal."""
    kinds = ["string", "integer", "boolean", "null", "enum", "pattern"]
    kind = random.choice(kinds if depth == 0 else [*kinds, *["array", "object", "any"] * 2])
    if kind == "enum":
        items: dict[str, Any] = {"enum": random.sample(["a", "1", 1, 1.0, True, None, "", "a,"], 4)}
    elif kind == "pattern":
        items = {"type": "string", "pattern": "^[ab]?$"}
    elif kind == "array":
        items = unique_array(random, depth - 1)
    elif kind == "object":
        inner = {"a": unique_array(random, depth - 1), "b c": {"enum": ["x", 1, True]}}
        items = {"type": "object", "properties": inner, "additionalProperties": False}
    elif kind == "any":
        items = {"type": ["string", "integer", "boolean", "null"]}
    else:
        items = {"type": kind}
    schema = {"type": "array", "items": items, "maxItems": random.choice([2, 3, 4])}
    # What is compared with others must not be an array that has to have equal items.
    is_negative = depth == DEEPEST and random.random() < 0.25
    kept = {"not": {"uniqueItems": True}} if is_negative else {"uniqueItems": True}
    return {**schema, **kept, "minItems": random.choice([0, 0, 1])}


def some_item(random: Random, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return random.choice(schema["enum"])
    kind = random.choice(schema["type"]) if isinstance(schema["type"], list) else schema["type"]
    if kind == "array":
        return [some_item(random, schema["items"]) for _ in range(random.randint(0, 3))]
    if kind == "object":
        inner = schema["properties"]
        return {name: some_item(random, inner[name]) for name in inner if random.random() < 0.7}
    if kind == "boolean":
        return random.random() < 0.5
    some = {"string": ["", "a", "b", "1", "a'b"], "integer": [0, 1, -1], "null": [None]}
    return random.choice(some[kind])


FAMILIES = {
    "pythonic": ("pythonic", "[f({})]"),
    "gemma": ("gemma_4", "<|tool_call>call:f{}<tool_call|>"),
}


@pytest.mark.parametrize("style", STYLES)
def test_items_differ_in_another_notation(style: str) -> None:
    from jsonschema import Draft202012Validator

    write, _ = STYLES[style]
    family, call = FAMILIES[style]
    tally: Counter[str] = Counter()
    for number in range(SCHEMAS):
        random = Random(SEED * 9_000_011 + number)
        schema = {
            "type": "object",
            "properties": {"v": unique_array(random, DEEPEST)},
            "required": ["v"],
            "additionalProperties": False,
        }
        validator = Draft202012Validator(schema)
        try:
            matcher = matcher_of(schema, style)
        except UnsatisfiableError:
            tally["no value"] += 1
            continue
        for _ in range(3):
            text = walk(matcher, random)
            if text is None:
                tally["long walks"] += 1
                continue
            tools = [{"name": "f", "parameters": schema}]
            calls = parse_tool_calls(call.format(text), family, tools=tools).calls
            assert [it.name for it in calls] == ["f"], text
            tally["walks"] += 1
            if len(re.findall(r"\d", text)) < 12:
                assert validator.is_valid(calls[0].arguments), (schema, text)
        for _ in range(30):
            value = {"v": some_item(random, schema["properties"]["v"])}
            is_valid = validator.is_valid(value)
            tally["valid" if is_valid else "invalid"] += 1
            assert accepts(matcher, write(value)) == is_valid, (schema, value)
    print(style, dict(tally))
    assert min(tally["walks"], tally["valid"], tally["invalid"]) > SCHEMAS


def test_items_differ_where_marks_are_tokens() -> None:
    """`"1"` and 1 are the same bytes then."""
    mark = '<|"|>'
    tokens = [*(bytes([b]) for b in range(256)), None, mark.encode()]
    vocabulary = Vocabulary.from_tokens(tokens, stop=[256], special={mark: 257})
    items = {"type": "array", "uniqueItems": True, "items": {"type": ["string", "integer"]}}
    schema = {"type": "object", "properties": {"v": items}, "additionalProperties": False}
    format_ = {"type": "json_schema", "json_schema": schema, "style": "gemma", "tokens": [mark]}
    grammar = Grammar.from_structural_tag({"format": format_})
    compiled = Compiler(vocabulary).compile(grammar)
    for value, is_valid in [
        ([1, "1"], True),
        (["1", 1], True),
        (["1", "1"], False),
        ([1, 1], False),
        (["", "1", ",", ""], False),
        (["a", "b", "ab", 1], True),
    ]:
        matcher = compiled.matcher()
        parts = as_gemma({"v": value}).split(mark)
        ids = [*parts[0].encode(), *(id_ for part in parts[1:] for id_ in (257, *part.encode()))]
        assert (all(map(matcher.accept, ids)) and matcher.may_stop()) == is_valid, value


def test_items_that_cannot_be_compared_are_refused() -> None:
    for items in [
        {"type": "object"},
        {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
        {"enum": ["a", '<|"|>']},
    ]:
        array = {"type": "array", "items": items, "uniqueItems": True}
        with pytest.raises(UnsupportedError, match="different") as caught:
            matcher_of({"properties": {"v": array}, "additionalProperties": False}, "gemma")
        assert caught.value.location == "/format/json_schema/properties/v/uniqueItems"

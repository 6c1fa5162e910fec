"""Grammars: their sources, options, reports and other looks."""

from __future__ import annotations

import json
import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar, GrammarError, Report, UnsatisfiableError, UnsupportedError

if TYPE_CHECKING:
    from conftest import Kit

ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "zip": {"type": "integer"}},
    "required": ["street"],
    "additionalProperties": False,
}


def takes(kit: Kit, grammar: Grammar, text: str) -> bool:
    matcher = kit.matcher(grammar)
    return matcher.accept_bytes(text.encode()) and matcher.may_stop()


@pytest.mark.parametrize(
    ("pattern", "text", "is_in"),
    [
        ("ab?", "a", True),
        ("ab?", "abb", False),
        ("ab?", "xa", False),
        (r"\u{1f600}+", "😀😀", True),
        (r"[^\n]", "日", True),
        (".", "\n", False),
        (r"\p{Lu}\p{Ll}+", "Éa", True),
        (r"(?<year>\d{4})", "2024", True),
        ("(?=.*b)[ab]{2}", "aa", False),
        (r"a\b b", "a b", True),
        ("(?<!x)y", "y", True),
        ("a|", "", True),
        ("^a$", "a", True),
    ],
)
def test_regular_expressions(byte_kit: Kit, pattern: str, text: str, is_in: bool) -> None:
    assert takes(byte_kit, Grammar.from_regex(pattern), text) == is_in


@pytest.mark.parametrize(
    ("source", "text", "is_in"),
    [
        ('root ::= "a" root | "b"', "aab", True),
        ('root ::= "a" root | "b"', "aa", False),
        ('root ::= root "+" root | [0-9]+', "1+22+3", True),
        ('root ::= "(" root ")" | ""', "(())", True),
        ('root ::= "(" root ")" | ""', "(()", False),
        ("root ::= [a-c]{2,3} # a comment", "abc", True),
        ("root ::= 'it' | \"is\"", "it", True),
    ],
)
def test_ebnf(byte_kit: Kit, source: str, text: str, is_in: bool) -> None:
    assert takes(byte_kit, Grammar.from_ebnf(source), text) == is_in


def test_ebnf_starts_where_it_is_told(byte_kit: Kit) -> None:
    grammar = Grammar.from_ebnf('root ::= "a"\nother ::= "b"', start="other")
    assert takes(byte_kit, grammar, "b")
    assert not takes(byte_kit, grammar, "a")


def test_unused_rules_are_remarks() -> None:
    grammar = Grammar.from_ebnf('root ::= a\na ::= "x"\nb ::= a c\nc ::= "y"', start="root")
    assert grammar.report.annotations == [
        ("b", "no text needs this rule"),
        ("c", "no text needs this rule"),
    ]
    assert Grammar.from_ebnf("A ::= 'x'", start="A", notation="w3c").report.annotations == []


def test_choices_are_literal(byte_kit: Kit) -> None:
    grammar = Grammar.choice(["a.b", "a", "日本", '"'])
    for text in ("a.b", "a", "日本", '"'):
        assert takes(byte_kit, grammar, text)
    for text in ("axb", "", "日", "a.ba"):
        assert not takes(byte_kit, grammar, text)


def test_choices_may_be_any_sequence_and_come_twice(byte_kit: Kit) -> None:
    assert takes(byte_kit, Grammar.choice(("a", "a", "")), "")
    many = Grammar.choice([f"option {n}" for n in range(5_000)])
    assert takes(byte_kit, many, "option 4321")
    assert not takes(byte_kit, many, "option 5000")


@pytest.mark.parametrize(
    "schema", [ADDRESS, json.dumps(ADDRESS), json.dumps(ADDRESS, indent=2).replace("\n", "\r\n")]
)
def test_schemas_are_text_or_values(byte_kit: Kit, schema: Any) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert takes(byte_kit, grammar, '{"street": "x", "zip": 7}')
    assert not takes(byte_kit, grammar, '{"zip": 7}')


def test_true_allows_any_json(byte_kit: Kit) -> None:
    for grammar in (Grammar.from_json_schema(True), Grammar.from_json_schema({}), Grammar.json()):
        for text in ("null", "[1, {}]", '{"a": "\\u00e9"}', "-1.5e7"):
            assert takes(byte_kit, grammar, text)
        for text in ("nul", "[1,]", "01", "'a'", '"\n"'):
            assert not takes(byte_kit, grammar, text)


def test_a_name_that_is_listed_comes_once(byte_kit: Kit) -> None:
    grammar = Grammar.from_json_schema({"type": "object", "properties": {"a": True}})
    assert takes(byte_kit, grammar, '{"a": 1, "b": 2}')
    assert not takes(byte_kit, grammar, '{"a": 1, "a": 2}')


def test_no_other_name_comes_twice(byte_kit: Kit) -> None:
    assert takes(byte_kit, Grammar.json(), '{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}')
    assert not takes(byte_kit, Grammar.json(), '{"a": 1, "a": 2}')
    assert not takes(byte_kit, Grammar.json(), '{"b": [{"a": 1, "": 2, "a": 3}]}')


def test_names_may_have_escapes_like_other_strings_if_asked(byte_kit: Kit) -> None:
    assert takes(byte_kit, Grammar.json(), '"\\u00e9\\/"')
    assert not takes(byte_kit, Grammar.json(), '{"\\u00e9\\/": 1}')
    assert takes(byte_kit, Grammar.json(escapes="any"), '{"\\u00e9\\/": 1}')
    assert takes(byte_kit, Grammar.json(escapes="ascii"), '{"\\u00e9/": "\\u00E9"}')
    assert not takes(byte_kit, Grammar.json(escapes="ascii"), '"é"')


def test_models_of_other_libraries_are_known_by_their_methods(byte_kit: Kit) -> None:
    class Model:
        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return ADDRESS

    class Adapter:
        def json_schema(self) -> dict[str, Any]:
            return {"type": "array", "items": {"type": "null"}}

    assert takes(byte_kit, Grammar.from_json_schema(Model), '{"street": ""}')
    assert takes(byte_kit, Grammar.from_json_schema(Adapter()), "[null]")
    assert Grammar.from_json_schema(Model).key == Grammar.from_json_schema(ADDRESS).key


def test_models_of_pydantic(byte_kit: Kit) -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    model = pydantic.create_model("Point", x=(int, ...), y=(int, 0))
    grammar = Grammar.from_json_schema(model)
    assert takes(byte_kit, grammar, '{"x": 1, "y": 2}')
    assert not takes(byte_kit, grammar, '{"y": 2}')
    adapter = pydantic.TypeAdapter(list[model])
    assert takes(byte_kit, Grammar.from_json_schema(adapter), '[{"x": 1}]')


# Options.

VALUE = {"street": "a, b: c", "zip": 3}


@pytest.mark.parametrize(
    ("options", "dumps"),
    [
        ({"whitespace": "compact"}, {"separators": (",", ":")}),
        ({"separators": (", ", ": ")}, {}),
        ({"separators": (" ,", " : ")}, {"separators": (" ,", " : ")}),
        ({"indent": 2}, {"indent": 2}),
        ({"indent": 0}, {"indent": 0}),
        ({"indent": 7}, {"indent": 7}),
        (
            {"indent": 1, "separators": (", ", ":")},
            {"indent": 1, "separators": (", ", ":")},
        ),
    ],
)
def test_white_space_is_exactly_that_of_json_dumps(
    byte_kit: Kit, options: dict[str, Any], dumps: dict[str, Any]
) -> None:
    for schema in (ADDRESS, {"type": "array", "items": ADDRESS}):
        value: Any = VALUE if schema is ADDRESS else [VALUE, VALUE]
        grammar = Grammar.from_json_schema(schema, **options)
        right = json.dumps(value, **dumps)
        assert takes(byte_kit, grammar, right)
        others = [json.dumps(value, indent=3), json.dumps(value, separators=("  ,", ":"))]
        for other in [*others, f" {right}", f"{right} "]:
            assert not takes(byte_kit, grammar, other)
    for empty in ("[]", "{}"):
        assert takes(byte_kit, Grammar.json(**options), empty)


def test_integers_may_be_digits_alone(byte_kit: Kit) -> None:
    for numbers, texts in [
        ("plain", {"1", "1.0"}),
        ("digits", {"1"}),
        ("any", {"1", "1.0", "1e0"}),
    ]:
        grammar = Grammar.from_json_schema({"type": "integer"}, numbers=numbers)  # type: ignore[arg-type]
        assert {text for text in ("1", "1.0", "1e0") if takes(byte_kit, grammar, text)} == texts


def test_what_is_described_may_be_all(byte_kit: Kit) -> None:
    schema = {"properties": {"a": {"prefixItems": [{}]}, "b": {"type": "object"}}}
    for closed in (False, True):
        grammar = Grammar.from_json_schema(schema, closed=closed)
        assert takes(byte_kit, grammar, '{"a": [1], "b": {"x": 2}}')
        for other in ('{"x": 1}', '{"a": [1, 2]}'):
            assert takes(byte_kit, grammar, other) is not closed
    assert Grammar.from_json_schema(schema).key != grammar.key


def test_any_white_space_has_a_cap(byte_kit: Kit) -> None:
    grammar = Grammar.from_json_schema({"type": "array"})
    assert takes(byte_kit, grammar, f"[{' ' * 64}]")
    assert not takes(byte_kit, grammar, f"[{' ' * 65}]")
    assert takes(byte_kit, Grammar.from_json_schema({"type": "array"}, whitespace_cap=0), "[]")
    assert not takes(byte_kit, Grammar.from_json_schema({"type": "array"}, whitespace_cap=0), "[ ]")


@pytest.mark.parametrize(
    ("additional", "order", "is_in"),
    [
        ("anywhere", ["x", "a", "b"], True),
        ("anywhere", ["a", "x", "b"], True),
        ("after_required", ["x", "a", "b"], False),
        ("after_required", ["a", "x", "b"], True),
        ("last", ["a", "x", "b"], False),
        ("last", ["a", "b", "x"], True),
    ],
)
def test_where_other_names_may_come(
    byte_kit: Kit, additional: Any, order: list[str], is_in: bool
) -> None:
    schema = {"type": "object", "properties": {"a": True, "b": True}, "required": ["a"]}
    grammar = Grammar.from_json_schema(schema, additional=additional)
    assert takes(byte_kit, grammar, json.dumps(dict.fromkeys(order, 0))) == is_in


def test_formats_may_be_ignored(byte_kit: Kit) -> None:
    schema = {"type": "string", "format": "date"}
    assert not takes(byte_kit, Grammar.from_json_schema(schema), '"x"')
    assert takes(byte_kit, Grammar.from_json_schema(schema), '"2024-02-29"')
    assert takes(byte_kit, Grammar.from_json_schema(schema, formats=False), '"x"')


def test_nullable_is_asked_for(byte_kit: Kit) -> None:
    schema = {"type": "integer", "nullable": True}
    assert not takes(byte_kit, Grammar.from_json_schema(schema), "null")
    assert takes(byte_kit, Grammar.from_json_schema(schema, nullable=True), "null")


def test_dialects(byte_kit: Kit) -> None:
    schema = {"type": "array", "items": [{"type": "null"}], "additionalItems": False}
    assert takes(byte_kit, Grammar.from_json_schema(schema, dialect="draft7"), "[null]")
    assert not takes(byte_kit, Grammar.from_json_schema(schema, dialect="draft7"), "[null, 1]")


def test_resources_are_what_a_reference_may_name(byte_kit: Kit) -> None:
    schema = {"$ref": "https://example.org/a.json#/$defs/x"}
    with pytest.raises(GrammarError):
        Grammar.from_json_schema(schema)
    resources = {"https://example.org/a.json": {"$defs": {"x": {"type": "null"}}}}
    assert takes(byte_kit, Grammar.from_json_schema(schema, resources=resources), "null")
    texts = {uri: json.dumps(resource) for uri, resource in resources.items()}
    assert takes(byte_kit, Grammar.from_json_schema(schema, resources=texts), "null")


def test_what_cannot_be_enforced_is_refused_or_widened_and_listed(byte_kit: Kit) -> None:
    schema = {"type": "array", "contains": {"const": 7}, "not": {"uniqueItems": True}}
    with pytest.raises(UnsupportedError) as caught:
        Grammar.from_json_schema(schema)
    assert caught.value.location == "/not"
    grammar = Grammar.from_json_schema(schema, unsupported="widen")
    assert takes(byte_kit, grammar, "[7, 8]")
    assert not takes(byte_kit, grammar, "true")
    assert [pointer for pointer, _ in grammar.report.widened] == ["/not"]


BACK = {"type": "string", "pattern": r"^(a)\1$"}
NAMES = {"properties": {"p": {"type": "null"}}, "patternProperties": {r"^(a)\1$": False}}


@pytest.mark.parametrize(
    ("schema", "good", "bad", "pointers"),
    [
        (BACK, ['"aa"', '"b"'], ["1"], ["/pattern"]),
        ({"not": BACK}, ['"aa"', '"b"', "1"], [], ["/not"]),
        ({"anyOf": [BACK, {"type": "null"}]}, ['"b"', "null"], ["1"], ["/anyOf/0/pattern"]),
        ({"enum": ["aa", "b"], **BACK}, ['"aa"', '"b"'], ['"c"'], ["/pattern"]),
        (
            {"oneOf": [BACK, {"type": "string", "maxLength": 1}]},
            ['"aa"', '"b"', '"bb"'],
            ["1"],
            ["/oneOf/0/pattern"],
        ),
        ({"items": BACK}, ['["b"]'], ["[1]"], ["/items/pattern"]),
        (
            {**NAMES, "additionalProperties": False},
            ['{"p":null}', '{"aa":1}', '{"b":1}'],
            ['{"p":1}'],
            ["/patternProperties"],
        ),
        (
            {**NAMES, "unevaluatedProperties": False},
            ['{"p":null}', '{"aa":1}', '{"b":1}'],
            ['{"p":1}'],
            ["/patternProperties", "/unevaluatedProperties"],
        ),
        ({"not": NAMES}, ['{"p":null}', '{"p":1}', '{"aa":1}'], [], ["/not/patternProperties"]),
        (
            {"oneOf": [NAMES, {"required": ["p"]}]},
            ['{"p":null}', '{"p":1}', "{}"],
            [],
            ["/oneOf/0/patternProperties"],
        ),
        ({"propertyNames": BACK}, ['{"aa":1}', '{"b":1}', "1"], [], ["/propertyNames"]),
    ],
)
def test_patterns_that_cannot_be_enforced_can_be_widened(
    byte_kit: Kit, schema: Any, good: list[str], bad: list[str], pointers: list[str]
) -> None:
    with pytest.raises(UnsupportedError):
        Grammar.from_json_schema(schema)
    grammar = Grammar.from_json_schema(schema, unsupported="widen")
    for text in good:
        assert takes(byte_kit, grammar, text), text
    for text in bad:
        assert not takes(byte_kit, grammar, text), text
    widened = {pointer for pointer, _ in grammar.report.widened}
    assert set(pointers) <= widened, grammar.report
    assert not widened & {pointer for pointer, _ in grammar.report.enforced}


def test_many_patterns_are_widened_at_once(byte_kit: Kit) -> None:
    schema = {"properties": {f"p{n}": {"pattern": rf"(a)\1{{{n}}}"} for n in range(1_000)}}
    grammar = Grammar.from_json_schema(schema, unsupported="widen")
    assert takes(byte_kit, grammar, '{"p7":"x"}')
    assert len(grammar.report.widened) == 1_000


@pytest.mark.parametrize(
    "options",
    [
        {"whitespace": "some"},
        {"additional": "first"},
        {"unsupported": "ignore"},
        {"escapes": "none"},
        {"dialect": "draft5"},
        {"separators": ("x", ":")},
        {"separators": (",", ": ;")},
    ],
)
def test_options_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        Grammar.json(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"whitespace": "compact", "indent": 2},
        {"whitespace": "compact", "separators": (",", ":")},
        {"whitespace": "compact", "whitespace_cap": 3},
        {"indent": 0, "separators": (",", ":"), "whitespace_cap": 1},
        {"indent": 2, "whitespace_cap": 3},
        {"separators": (",", ":"), "whitespace_cap": 0},
    ],
)
def test_options_that_exclude_each_other(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="exclude each other") as caught:
        Grammar.json(**options)
    assert all(name in str(caught.value) for name in options)


@pytest.mark.parametrize("options", [{"indent": "x"}, {"separators": 3}, {"colour": 1}])
def test_options_of_other_types(options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Grammar.json(**options)


# Reports and other looks.


def test_the_report_of_a_schema() -> None:
    schema = {
        "title": "Person",
        "type": "object",
        "properties": {"age": {"type": "integer", "minimum": 3, "description": "in years"}},
        "required": ["age"],
        "x-color": "red",
    }
    report = Grammar.from_json_schema(schema).report
    enforced = {pointer for pointer, _ in [*report.enforced, *report.narrower]}
    assert {"/properties/age/minimum", "/properties/age/type", "/type"} <= enforced
    ignored = {pointer for pointer, _ in report.annotations}
    assert {"/title", "/properties/age/description"} <= ignored
    assert not enforced & ignored
    assert report.widened == []
    assert "enforced: /type: " in str(report)


def test_the_report_of_other_grammars() -> None:
    for grammar in (
        Grammar.from_regex("a"),
        Grammar.from_ebnf('root ::= "a"'),
        Grammar.choice("a"),
    ):
        assert grammar.report == Report(
            enforced=[("", grammar.kind)], narrower=[], annotations=[], widened=[]
        )
    assert str(Grammar.from_regex("a").report) == "enforced: (root): regex"


@pytest.mark.parametrize(
    "source",
    [
        'root ::= "a" root | "b"',
        'root ::= root "+" root | "(" root ")" | [0-9]+',
        'root ::= x{2,3} y?\nx ::= [^a-c\\n]\ny ::= "日" | "\\\\\\""',
    ],
)
def test_a_grammar_that_is_shown_can_be_read_again(kit: Kit, source: str) -> None:
    grammar = Grammar.from_ebnf(source)
    shown = grammar.show()
    start = re.match(r"\S+", shown)
    assert start
    again = Grammar.from_ebnf(shown, start=start[0])
    for text in ("b", "ab", "(1)+2+3", "11", "dd日", 'ddd"', "a", "", "dd\n"):
        assert takes(kit, grammar, text) == takes(kit, again, text)


def test_a_part_of_a_grammar_can_be_shown() -> None:
    source = (
        "\n".join(f'r{n} ::= "a" r{n + 1} "b" | "c" r{n + 1}' for n in range(50)) + '\nr50 ::= "d"'
    )
    grammar = Grammar.from_ebnf(source, start="r0")
    assert len(grammar.show(3).splitlines()) < len(grammar.show().splitlines())
    assert Grammar.json().show()


def test_a_grammar_is_short_in_print() -> None:
    grammar = Grammar.from_regex("a" * 1_000)
    assert len(repr(grammar)) < 100
    assert repr(Grammar.from_regex("ab")) == "<Grammar regex 'ab'>"
    assert (grammar.kind, len(grammar.source)) == ("regex", 1_000)


def test_keys_are_equal_for_equal_sources() -> None:
    assert Grammar.from_regex("a").key == Grammar.from_regex("a").key
    assert Grammar.json().key == Grammar.from_json_schema("true").key
    assert len({Grammar.json(indent=n).key for n in range(4)}) == 4


def test_widening_only_lets_more_in(byte_kit: Kit) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    random = Random(5)
    values: list[Any] = [None, 1, "aa", "b", "bb", [], ["aa"], ["b", "aa"], {}, {"p": "b"}]
    values += [{"aa": "aa"}, {"b": 1}, {"p": "aa", "b": None}, {"aa": 1, "p": ["b"]}]
    for _ in range(300):
        schema = random_schema(random, 3)
        try:
            grammar = Grammar.from_json_schema(schema, unsupported="widen", key_order="any")
        except UnsatisfiableError:
            takes_none = jsonschema.Draft202012Validator(schema)
            assert not any(map(takes_none.is_valid, values)), schema
            continue
        compiled = byte_kit.compiler.compile(grammar)
        judge = jsonschema.Draft202012Validator(schema)
        for value in values:
            if judge.is_valid(value):
                matcher = compiled.matcher()
                text = json.dumps(value).encode()
                assert matcher.accept_bytes(text), (schema, value)
                assert matcher.may_stop(), (schema, value)


def random_schema(random: Random, depth: int) -> Any:
    """One with patterns that cannot be enforced."""
    kind = random.randrange(4 if depth == 0 else 12)

    def inner() -> Any:
        return random_schema(random, depth - 1)

    match kind:
        case 0:
            return {"pattern": r"^(a)\1$"}
        case 1:
            return {"type": random.choice(["string", "object", "array", "null"])}
        case 2:
            return {"enum": ["aa", "b", 1]}
        case 3:
            return {"required": [random.choice(["aa", "p"])]}
        case 4:
            return {"not": inner()}
        case 5:
            return {"oneOf": [inner(), inner()]}
        case 6:
            return {"anyOf": [inner(), inner()]}
        case 7:
            return {"if": inner(), "then": inner(), "else": inner()}
        case 8:
            names = {r"^(a)\1$": inner()}
            return {"patternProperties": names, "additionalProperties": inner()}
        case 9:
            return {"propertyNames": inner()}
        case 10:
            return {"properties": {"p": inner()}, "unevaluatedProperties": inner(), **inner()}
        case _:
            return {"contains": inner(), "maxContains": 1, "items": inner()}

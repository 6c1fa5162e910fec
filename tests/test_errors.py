"""Mistakes of the caller: what is raised, where it points, and which limit it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import stencilm
from stencilm import (
    Cancel,
    Cancelled,
    Compiler,
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    InternalError,
    LimitError,
    Limits,
    StencilmError,
    UnsatisfiableError,
    UnsupportedError,
    VocabularyError,
    _exceptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit

# The tree.


def test_the_tree_in_the_docstring_is_true() -> None:
    stack: list[type] = []
    count = 0
    for line in (_exceptions.__doc__ or "").splitlines():
        name = line.strip().split(" ")[0]
        if not line.startswith("    ") or not name:
            continue
        depth = (len(line) - len(line.lstrip())) // 4 - 1
        exception = getattr(stencilm, name)
        del stack[depth:]
        assert exception.__bases__[0] is (stack[-1] if stack else Exception)
        assert issubclass(exception, ValueError) == (
            "also a ValueError" in line or GrammarError in exception.__mro__
        )
        stack.append(exception)
        count += 1
    assert count == len(_exceptions.__all__)


@pytest.mark.parametrize(
    ("make", "kind", "location"),
    [
        (lambda: Grammar.from_regex("ab(c"), GrammarSyntaxError, 2),
        (lambda: Grammar.from_regex("é+*"), GrammarSyntaxError, 3),
        (lambda: Grammar.from_regex(r"(a)b\1"), UnsupportedError, 4),
        (lambda: Grammar.from_ebnf('root ::= "a'), GrammarSyntaxError, None),
        (lambda: Grammar.from_ebnf("root ::= nothing"), GrammarSyntaxError, 9),
        (lambda: Grammar.from_ebnf('a ::= "a"'), GrammarSyntaxError, None),
        (lambda: Grammar.from_ebnf('root ::= "a"', start="b"), GrammarSyntaxError, None),
        (lambda: Grammar.from_ebnf("root ::= root"), UnsatisfiableError, None),
        (lambda: Grammar.from_ebnf('root ::= "a" root'), UnsatisfiableError, None),
        (lambda: Grammar.from_regex("(?!)"), UnsatisfiableError, None),
        (lambda: Grammar.from_regex("a(?=b)c"), UnsatisfiableError, None),
        (lambda: Grammar.choice([]), UnsatisfiableError, ""),
        (lambda: Grammar.from_json_schema('{"a": tru}'), GrammarSyntaxError, 6),
        (lambda: Grammar.from_json_schema(""), GrammarSyntaxError, 0),
        (lambda: Grammar.from_json_schema(False), UnsatisfiableError, ""),
        (
            lambda: Grammar.from_json_schema({"properties": {"a/b": {"type": "text"}}}),
            GrammarSyntaxError,
            "/properties/a~1b/type",
        ),
        (
            lambda: Grammar.from_json_schema({"items": {"$ref": "#/$defs/x"}}),
            GrammarSyntaxError,
            "/items",
        ),
        (
            lambda: Grammar.from_json_schema({"allOf": [{}, {"pattern": "("}]}),
            GrammarSyntaxError,
            "/allOf/1/pattern",
        ),
        (
            lambda: Grammar.from_json_schema({"items": {"pattern": r"(a)\1"}}),
            UnsupportedError,
            "/items/pattern",
        ),
        (
            lambda: Grammar.from_json_schema({"type": "integer", "minimum": 5, "maximum": 4}),
            UnsatisfiableError,
            "",
        ),
    ],
)
def test_errors_say_where(
    make: Callable[[], Grammar], kind: type[GrammarError], location: int | str | None
) -> None:
    with pytest.raises(GrammarError) as caught:
        make()
    assert type(caught.value) is kind
    if location is not None:
        assert caught.value.location == location
    place = caught.value.location
    message = str(caught.value)
    if isinstance(place, int):
        assert message.startswith(f"at byte {place}: ")
    elif place:
        assert message.startswith(f"at `{place}`: ")
    assert len(message) < 400
    assert "\n" not in message


@pytest.mark.parametrize(
    "make",
    [
        Grammar.from_regex,
        Grammar.from_ebnf,
        Grammar.from_json_schema,
        lambda text: Grammar.choice(["ab", text]),
    ],
)
def test_half_a_surrogate_pair_is_no_text(make: Callable[[str], Grammar]) -> None:
    with pytest.raises(GrammarSyntaxError, match="at byte 3: half a surrogate pair") as caught:
        make("aé\ud83d")
    assert caught.value.location == 3


@pytest.mark.parametrize("thing", [None, 3, b"a", ["a"]])
def test_sources_are_text(thing: Any) -> None:
    with pytest.raises(TypeError):
        Grammar.from_regex(thing)
    with pytest.raises(TypeError):
        Grammar.from_ebnf(thing)


def test_schemas_are_json() -> None:
    with pytest.raises(TypeError):
        Grammar.from_json_schema({"const": object()})
    with pytest.raises(GrammarSyntaxError):
        Grammar.from_json_schema({"const": float("nan")})


# Limits.


def use(grammar: Grammar, kit: Kit, limits: Limits) -> None:
    """Compiles, and walks a little."""
    matcher = Compiler(kit.vocabulary, limits=limits).compile(grammar).matcher()
    for _ in range(40):
        kit.mask(matcher)
        matcher.forced_text(100)
        following = matcher.next_bytes()
        if not following:
            break
        matcher.accept_bytes(following[-1:])


AMBIGUOUS = "root ::= a | b | c | d\n" + "\n".join(
    f'{name} ::= "x" {name} "{name}" | "x"' for name in "abcd"
)
MANY = {
    "type": "object",
    "properties": {name: {"type": "array", "items": {"const": name}} for name in "abcdefgh"},
    "required": list("abcdefgh"),
}
WORDS = "[a-m]+([n-z][a-m]+)*"
TRIPS: list[tuple[str, Callable[..., Grammar], Any, float]] = [
    ("nesting", Grammar.from_regex, "(" * 40 + "a" + ")" * 40, 20),
    ("nesting", Grammar.from_json_schema, {"pattern": "(" * 40 + ")" * 40}, 20),
    ("source_bytes", Grammar.from_regex, "a" * 50, 49),
    ("source_bytes", Grammar.from_ebnf, 'root ::= "abc"', 13),
    ("source_bytes", Grammar.from_json_schema, '{"enum": [1, 2]}', 15),
    ("rules", Grammar.from_ebnf, 'root ::= a b\na ::= "a"\nb ::= "b"', 2),
    ("rules", Grammar.from_json_schema, MANY, 5),
    ("expressions", Grammar.from_regex, "(a|bc|[d-f]{2})+", 3),
    ("expressions", Grammar.from_ebnf, 'root ::= ("a" | "bc" | [d-f]{2})+', 3),
    ("expressions", Grammar.from_json_schema, {"pattern": "^(a|bc|[d-f]{2})+$"}, 3),
    ("repeat", Grammar.from_regex, "a{3,101}", 100),
    ("repeat", Grammar.from_regex, "a{101}", 100),
    ("repeat", Grammar.from_ebnf, 'root ::= "a"{3,101}', 100),
    ("repeat", Grammar.from_json_schema, {"pattern": "a{3,101}"}, 100),
    ("items", Grammar.from_ebnf, AMBIGUOUS, 3),
    (
        "alternatives",
        Grammar.from_json_schema,
        {
            "allOf": [
                {"anyOf": [{"required": [a]}, {"required": [b]}]} for a, b in ("ab", "cd", "ef")
            ]
        },
        4,
    ),
    ("number_digits", Grammar.from_json_schema, {"multipleOf": 10**60 + 7}, 50),
    ("search", Grammar.from_regex, "(?=.*a.*b)(?!.*bb)[abc]{4,9}", 2),
    (
        "search",
        Grammar.from_json_schema,
        {"type": "string", "allOf": [{"pattern": "a.{3}b"}, {"pattern": "b.{4}a"}]},
        2,
    ),
    ("captures", Grammar.from_ebnf, "root ::= l\nl[capture] ::= [a-z] l | [a-z] l? l?", 5),
    ("mask_work", Grammar.from_regex, WORDS, 5),
    ("mask_work", Grammar.from_ebnf, "root ::= [a-m] ([n-z] root)?", 5),
    ("mask_work", Grammar.from_json_schema, {"type": "string", "pattern": f"^{WORDS}$"}, 5),
    ("compile_time", Grammar.from_regex, "|".join("ab" * n for n in range(300)), 0),
    ("compile_time", Grammar.from_ebnf, "root ::= " + " | ".join(['"a"'] * 900), 0),
    ("compile_time", Grammar.from_json_schema, {"enum": list(range(3_000))}, 0),
]


@pytest.mark.parametrize(
    ("field", "make", "source", "value"),
    TRIPS,
    ids=[f"{field}-{make.__name__}" for field, make, _, _ in TRIPS],
)
def test_each_limit_is_an_error_with_its_name(
    many_kit: Kit, field: str, make: Callable[..., Grammar], source: Any, value: float
) -> None:
    many_kit.vocabulary.renew_store()
    named = "compile_time" if field == "compile_time" else field
    limits = Limits(**{field: value})
    with pytest.raises(LimitError, match=rf"\b{named} = {value}\b"):
        use(make(source, limits=limits), many_kit, limits)


@pytest.mark.parametrize("field", [field for field, *_ in TRIPS])
def test_limits_have_room_by_default(field: str) -> None:
    default = getattr(Limits(), field)
    assert default > max(value for name, *_, value in TRIPS if name == field)


def test_every_limit_is_tripped() -> None:
    elsewhere = {"grammar_bytes", "rollback"}  # A new generation and a window, not errors.
    fields = set(Limits.__dataclass_fields__)
    assert fields == {field for field, *_ in TRIPS} | elsewhere


def test_the_limit_on_time_has_the_name_of_its_field() -> None:
    with pytest.raises(LimitError, match="compile_time"):
        Grammar.from_json_schema({"enum": list(range(3_000))}, limits=Limits(compile_time=0))


def test_the_limit_on_source_bytes_holds_for_choices() -> None:
    with pytest.raises(LimitError, match="source_bytes"):
        Grammar.choice(["a" * 100, "b"], limits=Limits(source_bytes=50))


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string", "maxLength": 2**53 - 1}, '"' + "a" * 101),
        ({"type": "string", "minLength": 10**12}, '"' + "a" * 101),
        ({"type": "array", "minItems": 10**6}, "[" + "1," * 101),
        ({"type": "array", "maxItems": 101}, "[" + "1," * 100),
    ],
)
def test_the_limit_on_repeat_is_not_about_keywords(many_kit: Kit, schema: Any, text: str) -> None:
    # Real schemas have a `maxLength` of 2**53 - 1: a counter costs what it is, not what it says.
    limits = Limits(repeat=100)
    grammar = Grammar.from_json_schema(schema, limits=limits)
    matcher = Compiler(many_kit.vocabulary, limits=limits).compile(grammar).matcher()
    assert matcher.accept_bytes(text.encode())
    assert many_kit.allowed(matcher)


def test_after_a_limit_the_process_goes_on(many_kit: Kit) -> None:
    compiled = Compiler(many_kit.vocabulary, limits=Limits(items=3)).compile(
        Grammar.from_ebnf(AMBIGUOUS)
    )
    for _ in range(3):
        matcher = compiled.matcher()
        for call, argument in (
            (matcher.accept, ord("x")),
            (matcher.accept_bytes, b"xx"),
            (matcher.validate, [ord("x")]),
        ):
            with pytest.raises(LimitError, match="items = 3"):
                call(argument)  # type: ignore[operator]
        assert matcher.rollback_window == 0
    usual = many_kit.matcher(Grammar.from_ebnf(AMBIGUOUS))
    assert usual.accept_bytes(b"xxb")
    assert many_kit.allowed(usual) == [256]


def test_a_mask_that_was_given_up_is_not_remembered(many_kit: Kit) -> None:
    pattern = WORDS + "[.!?]"
    expected = many_kit.mask(many_kit.matcher(pattern))
    many_kit.vocabulary.renew_store()
    for work in (1, 10, 100, 1_000, 10_000, 10_000_000):
        compiler = Compiler(many_kit.vocabulary, limits=Limits(mask_work=work))
        matcher = compiler.compile(Grammar.from_regex(pattern)).matcher()
        try:
            mask = many_kit.mask(matcher)
        except LimitError:
            continue
        assert (mask == expected).all()
    assert (mask == expected).all()


@pytest.mark.parametrize("field", list(Limits.__dataclass_fields__))
@pytest.mark.parametrize("value", [-1, -(2**70), 2**70])
def test_limits_are_within_reason(field: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{field} cannot be {value}"):
        Limits(**{field: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e19])
def test_seconds_are_within_reason(value: float) -> None:
    with pytest.raises(ValueError, match="compile_time cannot be"):
        Limits(compile_time=value)


def test_the_largest_limits_work(kit: Kit) -> None:
    most = dict.fromkeys(Limits.__dataclass_fields__, 2**62)
    limits = Limits(**{**most, "compile_time": 1_000_000_000})
    use(Grammar.from_regex(WORDS, limits=limits), kit, limits)
    use(Grammar.from_json_schema(MANY, limits=limits), kit, limits)


def test_the_smallest_limits_raise_no_other_errors(kit: Kit) -> None:
    for field in Limits.__dataclass_fields__:
        limits = Limits(**{field: 0})
        for make, source in (
            (Grammar.from_regex, WORDS),
            (Grammar.from_ebnf, AMBIGUOUS),
            (Grammar.from_json_schema, MANY),
        ):
            try:
                use(make(source, limits=limits), kit, limits)  # type: ignore[operator]
            except LimitError:
                continue


# Cancelling.


def test_work_that_was_cancelled_before_it_began() -> None:
    cancel = Cancel()
    assert not cancel.is_cancelled
    cancel.cancel()
    cancel.cancel()
    assert cancel.is_cancelled
    for make, source in (
        (Grammar.from_regex, "|".join("ab" * n for n in range(300))),
        (Grammar.from_ebnf, "root ::= " + " | ".join('"a"' for _ in range(2_000))),
        (Grammar.from_json_schema, {"enum": list(range(3_000))}),
    ):
        with pytest.raises(Cancelled, match="cancelled by the caller"):
            make(source, cancel=cancel)  # type: ignore[operator]


# Vocabularies.


def test_every_error_is_of_our_tree() -> None:
    for kind in (GrammarError, LimitError, VocabularyError, InternalError, Cancelled):
        assert issubclass(kind, StencilmError)
    with pytest.raises(StencilmError):
        Grammar.from_regex("(")

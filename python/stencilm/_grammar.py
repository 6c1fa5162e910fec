"""Grammars: what a text may be, before any vocabulary."""

from __future__ import annotations

import json
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from stencilm import _core
from stencilm._exceptions import GrammarSyntaxError
from stencilm._inputs import schema_text
from stencilm._report import Report
from stencilm.tags import tag_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from stencilm._inputs import Schema
    from stencilm._limits import Limits
    from stencilm.tags import Format, StructuralTag

__all__ = ["Grammar"]

_ANY_JSON = "true"


class Grammar:
    """What a text may be. Immutable; make one, then compile it for any number of vocabularies.

    >>> Grammar.from_regex("[a-z]+").source
    '[a-z]+'
    """

    __slots__ = ("_core", "_options", "kind", "source")

    kind: str
    """What it was made from: `json_schema`, `regex`, `ebnf`, `lark`, `choice`, `structural_tag`,
    `substring_of`, or other grammars: `sequence`, `any_of`, `repeat`."""
    source: str
    """The text that it was made from; of other grammars, a list of their fingerprints."""

    def __init__(
        self, core: _core.Grammar, kind: str, source: str, options: dict[str, Any] | None = None
    ) -> None:
        self._core = core
        self.kind = kind
        self.source = source
        self._options = options

    @classmethod
    def from_json_schema(
        cls,
        schema: Schema,
        *,
        whitespace: Literal["any", "compact"] = "any",
        whitespace_cap: int | None = None,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        key_order: Literal["declared", "any"] = "declared",
        additional: Literal["after_required", "anywhere", "last"] | None = None,
        numbers: Literal["plain", "digits", "any"] = "plain",
        escapes: Literal["plain", "any", "ascii"] = "plain",
        formats: bool = True,
        nullable: bool = False,
        closed: bool = False,
        unsupported: Literal["refuse", "widen"] = "refuse",
        dialect: str | None = None,
        resources: Mapping[str, Schema] | None = None,
        limits: Limits | None = None,
        cancel: _core.Cancel | None = None,
    ) -> Grammar:
        r"""The JSON texts that a schema allows.

        Args:
            schema: JSON text, a dict or bool, a pydantic v2 model or `TypeAdapter`. Through
                pydantic also any other type (a dataclass, a `TypedDict`, an `Enum`, `Literal[…]`,
                `list[int] | None`) and a function, for its arguments (see `function_schema`).
            whitespace: `"any"` between tokens, up to `whitespace_cap` characters in a row, or
                `"compact"` for none.
            whitespace_cap: Most white-space characters in a row; 64 if not given.
            indent: Exactly the lines of `json.dumps(…, indent=indent)`.
            separators: Exactly these, as in `json.dumps(…, separators=…)`; `(", ", ": ")` is its
                default, and `(",", ": ")` beside `indent`.
            key_order: The order of member names: as the schema first mentions them, or any.
            additional: Where names may come that the schema does not list, in the declared order.
            numbers: `"plain"` as models write them, without an exponent where a schema asks
                something of the value; `"digits"` for the same where integers never end in `.0`;
                `"any"` for every legal spelling.
            escapes: `"plain"` for names and listed strings in their shortest spelling; `"any"` for
                every legal spelling of them (`"\u0061"` is the name `a`); `"ascii"` for nothing
                but ASCII, as `json.dumps` writes it. Other strings may always have escapes.
            formats: Whether `format` is enforced.
            nullable: Whether OpenAPI's `nullable: true` means "or null".
            closed: Whether members and items that no schema describes are refused where others are
                described, as if `unevaluatedProperties` and `unevaluatedItems` were false.
            unsupported: `"widen"` serves what cannot be enforced wider, and lists it in `report`.
            dialect: What a schema without `$schema` is written in: `"draft4"` … `"draft2020-12"`.
            resources: Other documents that a `$ref` may name. Nothing is ever fetched.
            limits: What it may cost.
            cancel: Stops the work from another thread.

        Raises:
            GrammarSyntaxError: Not a schema; `location` is a JSON Pointer.
            UnsupportedError: Something that cannot be enforced exactly.
            UnsatisfiableError: No JSON text can match.
            LimitError: A field of `limits` was reached.
            ModuleNotFoundError: The schema is a type, and pydantic is not installed.
            ValueError: Options of white space that exclude each other.

        >>> grammar = Grammar.from_json_schema({"type": "integer", "minimum": 3})
        >>> grammar.report.enforced[0]
        ('/type', 'type')
        """
        text = schema_text(schema)
        _check_spaces(whitespace, whitespace_cap, indent, separators)
        options: dict[str, Any] = {}
        if whitespace != "any":
            options["whitespace"] = whitespace
        if whitespace_cap is not None:
            options["whitespace_cap"] = whitespace_cap
        if indent is not None:
            options["indent"] = indent
        if separators is not None:
            options["separators"] = separators
        if key_order != "declared":
            options["key_order"] = key_order
        if additional is not None:
            options["additional"] = additional
        if dialect is not None:
            options["dialect"] = dialect
        if numbers != "plain":
            options["numbers"] = numbers
        if escapes != "plain":
            options["escapes"] = escapes
        if not formats:
            options["formats"] = False
        if nullable:
            options["nullable"] = True
        if closed:
            options["closed"] = True
        if unsupported != "refuse":
            options["unsupported"] = unsupported
        if resources:
            options["resources"] = [(uri, schema_text(s)) for uri, s in resources.items()]
        core_limits = None if limits is None else limits._core
        try:
            core = _core.Grammar.json_schema(text, options or None, core_limits, cancel)
        except UnicodeEncodeError as error:
            raise _half_a_pair(error, text) from None
        return cls(core, "json_schema", text, options)

    @classmethod
    def from_regex(
        cls,
        pattern: str,
        *,
        dialect: Literal["ecma", "python"] = "ecma",
        mode: Literal["full", "search"] = "full",
        flags: str = "",
        limits: Limits | None = None,
        cancel: _core.Cancel | None = None,
    ) -> Grammar:
        r"""The texts that match a regular expression.

        Args:
            pattern: The expression.
            dialect: `"ecma"` for ECMA-262 with the `u` flag, `"python"` for the module `re`.
            mode: `"full"` matches the whole text, `"search"` a part of it.
            flags: Letters: `i`, `m` and `s` (and `a` and `x` in Python).
            limits: What it may cost.
            cancel: Stops the work from another thread.

        Raises:
            GrammarSyntaxError: Not a regular expression; `location` is a byte offset.
            UnsupportedError: A construct that is not regular, such as a back-reference.
            ValueError: A dialect, a mode or a flag that does not exist.

        >>> Grammar.from_regex(r"(a|b)\1")
        Traceback (most recent call last):
        stencilm._exceptions.UnsupportedError: at byte 5: ...
        >>> Grammar.from_regex(r"(?i)\A(?P<yes>ja|да)\Z", dialect="python").kind
        'regex'
        """
        core_limits = None if limits is None else limits._core
        with _whole_text(pattern):
            core = _core.Grammar.regex(pattern, dialect, mode, flags, core_limits, cancel)
        given = {"dialect": dialect, "mode": mode, "flags": "".join(sorted(set(flags)))}
        usual = {"dialect": "ecma", "mode": "full", "flags": ""}
        options = {name: value for name, value in given.items() if value != usual[name]}
        return cls(core, "regex", pattern, options or None)

    @classmethod
    def from_ebnf(
        cls,
        text: str,
        *,
        start: str = "root",
        notation: Literal["gbnf", "w3c"] = "gbnf",
        limits: Limits | None = None,
        cancel: _core.Cancel | None = None,
    ) -> Grammar:
        """The texts of a grammar in EBNF or GBNF, from the rule `start`.

        Args:
            text: The grammar.
            start: The rule that the whole text matches.
            notation: `"gbnf"` as llama.cpp and XGrammar write it, `"w3c"` as the standards of the
                W3C do.
            limits: What it may cost.
            cancel: Stops the work from another thread.

        Raises:
            GrammarSyntaxError: Not a grammar; `location` is a byte offset.
            UnsatisfiableError: No text can match.

        >>> Grammar.from_ebnf('root ::= "a" root | "b"').kind
        'ebnf'
        """
        with _whole_text(text):
            core_limits = None if limits is None else limits._core
            core = _core.Grammar.ebnf(text, start, notation, core_limits, cancel)
        options = {"start": start} if notation == "gbnf" else {"start": start, "notation": notation}
        return cls(core, "ebnf", text, options)

    @classmethod
    def from_lark(
        cls,
        text: str,
        *,
        start: str = "start",
        meaning: Literal["cfg", "xgrammar", "contextual"] = "cfg",
        limits: Limits | None = None,
        cancel: _core.Cancel | None = None,
    ) -> Grammar:
        """The texts of a grammar in Lark's language, from the rule `start`.

        Args:
            text: The grammar.
            start: The rule that a whole text matches.
            meaning: `"cfg"` for a plain context-free grammar, in which every way of cutting a text
                into terminals counts; `"xgrammar"` for the same with no ignored text before the
                first terminal unless the grammar says so; `"contextual"` for what Lark's LALR
                parser accepts with its contextual lexer, in which priorities and the longest match
                decide.
            limits: What it may cost.
            cancel: Stops the work from another thread.

        Raises:
            GrammarSyntaxError: Not a grammar; `location` is a byte offset.
            UnsupportedError: Something that cannot be enforced exactly.
            UnsatisfiableError: No text can match.

        >>> Grammar.from_lark('start: "a" start | "b"').kind
        'lark'
        """
        core_limits = None if limits is None else limits._core
        with _whole_text(text):
            core = _core.Grammar.lark(text, start, meaning, core_limits, cancel)
        return cls(core, "lark", text, {"start": start, "meaning": meaning})

    @classmethod
    def json(cls, **options: Any) -> Grammar:
        """Any JSON text; the options are those of `from_json_schema`.

        >>> Grammar.json(whitespace="compact").kind
        'json_schema'
        """
        return cls.from_json_schema(_ANY_JSON, **options)

    @classmethod
    def choice(cls, texts: Sequence[str], *, limits: Limits | None = None) -> Grammar:
        """One of these texts.

        Raises:
            UnsatisfiableError: There is none.

        >>> Grammar.choice(["yes", "no"]).kind
        'choice'
        """
        listed = list(texts)
        with _whole_text(*listed):
            core = _core.Grammar.choice(listed, None if limits is None else limits._core)
        return cls(core, "choice", json.dumps(listed))

    @classmethod
    def from_structural_tag(
        cls,
        tag: str | Mapping[str, Any] | StructuralTag | Format,
        *,
        limits: Limits | None = None,
        cancel: _core.Cancel | None = None,
        **options: Any,
    ) -> Grammar:
        r"""Free text and tags with contents of their own; see `stencilm.tags` for the formats.

        Args:
            tag: JSON text, a dict, or objects of `stencilm.tags`.
            limits: What it may cost.
            cancel: Stops the work from another thread.
            options: For the JSON Schemas inside: `whitespace`, `whitespace_cap`, `key_order`,
                `escapes` and the others that `from_json_schema` has, as they are named there.

        Raises:
            GrammarSyntaxError: Not a structural tag; `location` is a JSON Pointer.
            UnsupportedError: Something that cannot be enforced exactly.
            UnsatisfiableError: No text can match.

        >>> tag = {"type": "tag", "begin": "<n>", "content": {"type": "regex", "pattern": "1+"},
        ...        "end": "</n>"}
        >>> Grammar.from_structural_tag({"type": "structural_tag", "format": tag}).show()
        'root ::= "<n>" [1]+ "</n>"\n'
        """
        text = tag if isinstance(tag, str) else json.dumps(tag_value(tag), ensure_ascii=False)
        core_limits = None if limits is None else limits._core
        with _whole_text(text):
            core = _core.Grammar.structural_tag(text, options or None, core_limits, cancel)
        return cls(core, "structural_tag", text, options)

    @classmethod
    def literal(cls, text: str) -> Grammar:
        """This text.

        >>> (Grammar.literal("x = ") + Grammar.from_regex("[0-9]+")).kind
        'sequence'
        """
        return cls.choice([text])

    @classmethod
    def substring_of(cls, text: str, *, limits: Limits | None = None) -> Grammar:
        """Everything that stands somewhere in `text`: a quotation. The empty text included.

        >>> Grammar.substring_of("to be or not to be").kind
        'substring_of'
        """
        with _whole_text(text):
            core = _core.Grammar.substrings(text, None if limits is None else limits._core)
        return cls(core, "substring_of", text)

    @classmethod
    def sequence(cls, grammars: Sequence[Grammar], *, limits: Limits | None = None) -> Grammar:
        """Texts of all of these, one after the other; `a + b` is short for two.

        Raises:
            UnsupportedError: JSON Schemas with different `escapes`.

        >>> word = Grammar.from_regex("[a-z]+")
        >>> Grammar.sequence([word, Grammar.literal("="), Grammar.json()]).kind
        'sequence'
        """
        parts = [part._core for part in grammars]
        core = _core.Grammar.sequence(parts, None if limits is None else limits._core)
        return cls(core, "sequence", _fingerprints(grammars))

    @classmethod
    def any_of(cls, grammars: Sequence[Grammar], *, limits: Limits | None = None) -> Grammar:
        """Texts of any of these; `a | b` is short for two.

        Raises:
            UnsatisfiableError: There is none.
            UnsupportedError: JSON Schemas with different `escapes`.

        >>> (Grammar.literal("none") | Grammar.from_regex("[0-9]+")).kind
        'any_of'
        """
        parts = [part._core for part in grammars]
        core = _core.Grammar.any_of(parts, None if limits is None else limits._core)
        return cls(core, "any_of", _fingerprints(grammars))

    def repeat(self, min: int, max: int | None = None, *, limits: Limits | None = None) -> Grammar:
        """Between `min` and `max` texts, one after the other; any number without `max`.

        Raises:
            ValueError: `max` is less than `min`, or one is negative.

        >>> Grammar.literal("ab").repeat(2, 2).kind
        'repeat'
        """
        if min < 0 or (max is not None and max < min):
            raise ValueError(f"no number of texts is between {min} and {max}")
        core_limits = None if limits is None else limits._core
        core = self._core.repeat(min, max, core_limits)
        return Grammar(core, "repeat", _fingerprints([self]), {"min": min, "max": max})

    def rule(
        self,
        *,
        capture: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        limits: Limits | None = None,
    ) -> Grammar:
        """The same texts, as a rule that asks for something beside them.

        Args:
            capture: The name under which `Matcher.captures` gives what it took: letters, digits,
                `_`, `-` and `.`.
            max_tokens: It ends at the first boundary between two tokens, from this many of its own
                on, at which it can. At least 1.
            temperature: What its tokens are sampled at; see `Matcher.temperature`.
            limits: Those of this step.

        Raises:
            GrammarSyntaxError: A name or a temperature that is none, or `max_tokens` is 0.
            OverflowError: `max_tokens` is negative, or 2**32 at least.

        >>> from stencilm import Compiler, Vocabulary
        >>> value = Grammar.from_regex("[0-9]+").rule(capture="value")
        >>> grammar = Grammar.literal("x = ") + value
        >>> tokens = [bytes([b]) for b in range(256)] + [None]
        >>> vocabulary = Vocabulary.from_tokens(tokens, stop=[256])
        >>> matcher = Compiler(vocabulary).compile(grammar).matcher()
        >>> matcher.accept_bytes(b"x = 12")
        True
        >>> matcher.captures()
        [Capture(name='value', start=4, text=b'12')]
        """
        core_limits = None if limits is None else limits._core
        core = self._core.rule(capture, max_tokens, temperature, core_limits)
        options = {"capture": capture, "max_tokens": max_tokens, "temperature": temperature}
        return Grammar(core, "rule", _fingerprints([self]), options)

    def optional(self) -> Grammar:
        """A text or nothing.

        >>> (Grammar.literal("-").optional() + Grammar.from_regex("[0-9]+")).kind
        'sequence'
        """
        return self.repeat(0, 1)

    def __add__(self, other: Grammar) -> Grammar:
        if not isinstance(other, Grammar):
            return NotImplemented
        return Grammar.sequence([self, other])

    def __or__(self, other: Grammar) -> Grammar:
        if not isinstance(other, Grammar):
            return NotImplemented
        return Grammar.any_of([self, other])

    @property
    def report(self) -> Report:
        """What is enforced, and what is not."""
        if self.kind == "ebnf":
            unused = _core.Grammar.ebnf_unused(self.source, **(self._options or {}))
            remarks = [(name, "no text needs this rule") for name in unused]
            return Report(enforced=[("", "ebnf")], narrower=[], annotations=remarks, widened=[])
        if self.kind == "structural_tag":
            lists = _core.Grammar.structural_tag_report(self.source, self._options or None)
            lists["enforced"].insert(0, ("", self.kind))
            return Report(**lists)
        if self.kind != "json_schema":
            return Report(enforced=[("", self.kind)], narrower=[], annotations=[], widened=[])
        return Report(**_core.Grammar.json_schema_report(self.source, self._options or None))

    @property
    def tokens(self) -> list[str]:
        """The tokens that it names: special ones, and some by their numbers.

        >>> sorted(Grammar.from_ebnf('root ::= <think> "a" <[3]>').tokens)
        ['<[3]>', '<think>']
        """
        return self._core.tokens

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for grammars made from the same source with the same options."""
        return (self.kind, self.source, repr(self._options))

    def show(self, most: int = 200) -> str:
        """The rules as EBNF, at most `most` of them."""
        return self._core.show(most)

    def __repr__(self) -> str:
        shown = self.source if len(self.source) <= 60 else self.source[:57] + "..."
        return f"<Grammar {self.kind} {shown!r}>"


def _fingerprints(grammars: Sequence[Grammar]) -> str:
    """Equal for equal grammars. Sources themselves would grow with each step: `g + g + …`."""
    return json.dumps([sha256(repr(part.key).encode()).hexdigest() for part in grammars])


def _check_spaces(
    whitespace: str, cap: int | None, indent: int | None, separators: tuple[str, str] | None
) -> None:
    """Each of these says all about white space: no two of them can be meant."""
    given = {
        f"whitespace={whitespace!r}": whitespace != "any",
        f"whitespace_cap={cap}": cap is not None,
        f"indent={indent}": indent is not None,
        f"separators={separators!r}": separators is not None,
    }
    named = [option for option, is_given in given.items() if is_given]
    if len(named) > 1 and (indent is None or separators is None or len(named) > 2):
        raise ValueError(f"{' and '.join(named)} exclude each other: give one")


@contextmanager
def _whole_text(*texts: str) -> Iterator[None]:
    """Half a surrogate pair, which no UTF-8 can hold, is the caller's mistake like any other."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise _half_a_pair(error, *texts) from None


def _half_a_pair(error: UnicodeEncodeError, *texts: str) -> GrammarSyntaxError:
    """The caller's mistake, with its place if it is in one of these texts."""
    at = len(error.object[: error.start].encode()) if error.object in texts else ""
    message = "half a surrogate pair is no text"
    if at != "":
        message = f"at byte {at}: {message}"
    return GrammarSyntaxError(message, at)

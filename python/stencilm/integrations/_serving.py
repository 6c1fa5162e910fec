"""What a server's requests ask for, as grammars for the server's model.

Servers name the same kinds of constraints, and send the same texts for them.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stencilm import (
    Compiler,
    Grammar,
    GrammarError,
    GrammarSyntaxError,
    Limits,
    UnsupportedError,
    Vocabulary,
)
from stencilm.vocabularies import load

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from stencilm import CompiledGrammar

__all__ = [
    "OPTIONS_VARIABLE",
    "Kind",
    "ServedModel",
    "Settings",
    "refusal",
    "request_grammar",
    "signature_differences",
]

Kind: TypeAlias = Literal["json", "json_object", "regex", "choice", "grammar", "structural_tag"]
"""What a request may constrain its answer by."""

OPTIONS_VARIABLE = "STENCILM_OPTIONS"
"""The environment variable with the operator's settings: servers pass no options of ours on."""

_LIMITS: dict[str, Any] = {"source_bytes": 1 << 20, "compile_time": 5.0}
"""Strangers wait for one another: less than a program of one's own may ask for."""
_KEPT_ENTRIES = 256
_KEPT_CHARACTERS = 8 << 20
_KEPT_TABLES = 256 << 20
_STOP_SETS = 4
_FIRST_FORM = {"type", "structures", "triggers", "at_least_one"}
_RULE = re.compile(r"^[ \t]*[\w.-]+[ \t]*::=", re.MULTILINE)


@dataclass(frozen=True)
class Settings:
    """What the operator chose, for all requests.

    >>> Settings.read('{"key_order": "any", "compile_time": 2}').options
    {'key_order': 'any'}
    """

    limits: Limits = field(default_factory=lambda: Limits(**_LIMITS))
    options: dict[str, Any] = field(default_factory=dict)
    """For JSON Schemas, as `Grammar.from_json_schema` has them."""

    @classmethod
    def read(cls, text: str) -> Settings:
        """From a JSON object of fields of `Limits` and options of `from_json_schema`.

        Raises:
            ValueError: It is not that.
        """
        try:
            given = json.loads(text) if text.strip() else {}
            if not isinstance(given, dict):
                raise ValueError("it is no object")
            names = {field.name for field in fields(Limits)}
            limits = {name: value for name, value in given.items() if name in names}
            options = {name: value for name, value in given.items() if name not in names}
            Grammar.from_json_schema(True, **options)
            return cls(Limits(**_LIMITS | limits), options)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{OPTIONS_VARIABLE}: {error}") from error

    @classmethod
    def of_environment(cls) -> Settings:
        """From the environment variable `STENCILM_OPTIONS`.

        Raises:
            ValueError: It does not hold settings.
        """
        return cls.read(os.environ.get(OPTIONS_VARIABLE, ""))


def request_grammar(
    kind: Kind, spec: str, settings: Settings | None = None, *, is_compact: bool = False
) -> Grammar:
    """The grammar that a request asks for.

    Args:
        kind: What `spec` is.
        spec: A schema as JSON text; a pattern; a list of texts as JSON; a grammar in EBNF, GBNF or
            Lark; a structural tag as JSON text. Nothing for `json_object`.
        settings: The operator's.
        is_compact: Whether JSON has no white space between its tokens.

    Raises:
        GrammarError: It cannot be used; the message has the place.
        LimitError: It is too large.

    >>> request_grammar("choice", '["yes", "no"]').kind
    'choice'
    """
    settings = settings or Settings()
    limits, options = settings.limits, dict(settings.options)
    if is_compact:
        for name in ("whitespace_cap", "indent", "separators"):
            options.pop(name, None)
        options["whitespace"] = "compact"
    match kind:
        case "json":
            return Grammar.from_json_schema(spec, limits=limits, **options)
        case "json_object":
            return Grammar.from_json_schema('{"type": "object"}', limits=limits, **options)
        case "regex":
            return _pattern(spec, limits)
        case "choice":
            return Grammar.choice(_texts(spec), limits=limits)
        case "grammar":
            # Each rule of EBNF has this mark; no rule of Lark can.
            if _RULE.search(spec):
                return Grammar.from_ebnf(spec, limits=limits)
            return Grammar.from_lark(spec, limits=limits)
        case "structural_tag":
            tag = _current_tag(spec, limits)
            return Grammar.from_structural_tag(tag, limits=limits, **options)


def _pattern(pattern: str, limits: Limits) -> Grammar:
    """Of ECMA-262; what is no pattern there may be one of Python's: `(?i)`, `(?P<name>…)`."""
    try:
        return Grammar.from_regex(pattern, limits=limits)
    except (GrammarSyntaxError, UnsupportedError):
        with suppress(GrammarError):
            return Grammar.from_regex(pattern, dialect="python", limits=limits)
        raise


def _texts(spec: str) -> list[str]:
    texts = json.loads(spec)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise GrammarSyntaxError("a choice is a list of texts", "")
    return texts


def _current_tag(spec: str, limits: Limits) -> str:
    """The first form of structural tags (`structures`, `triggers`), which servers still take."""
    if '"structures"' not in spec or len(spec) > limits.source_bytes:
        return spec
    try:
        tag = json.loads(spec)
    except (ValueError, RecursionError):
        return spec
    if not isinstance(tag, dict) or "structures" not in tag:
        return spec
    _check_members(tag, _FIRST_FORM, "")
    structures = tag["structures"]
    if not isinstance(structures, list) or not all(isinstance(s, dict) for s in structures):
        raise GrammarSyntaxError("at `/structures`: a list of objects is expected", "/structures")
    tags = []
    for place, structure in enumerate(structures):
        _check_members(structure, {"begin", "schema", "end"}, f"/structures/{place}")
        schema = structure.get("schema")
        content = {"type": "json_schema", "json_schema": {} if schema is None else schema}
        begin, end = structure.get("begin"), structure.get("end")
        tags.append({"type": "tag", "begin": begin, "content": content, "end": end})
    triggered = {"type": "triggered_tags", "triggers": tag.get("triggers"), "tags": tags}
    if tag.get("at_least_one"):
        triggered["at_least_one"] = tag["at_least_one"]
    return json.dumps({"type": "structural_tag", "format": triggered}, ensure_ascii=False)


def _check_members(value: dict[str, Any], known: set[str], place: str) -> None:
    for name in value:
        if name not in known:
            raise GrammarSyntaxError(f"at `{place}`: there is no member `{name}`", place)


class ServedModel:
    """The tokens of a server's model, and what is compiled for them. Safe to use from many threads.

    Args:
        tokenizer: What `stencilm.vocabularies.load` takes.
        width: How many logits the model has.
        settings: The operator's.
        is_caching: Whether compiled grammars are kept for the next request.

    Raises:
        VocabularyError: The tokenizer does not say what its tokens spell.
    """

    def __init__(
        self, tokenizer: Any, width: int, settings: Settings, *, is_caching: bool = True
    ) -> None:
        self.settings = settings
        self.width = width
        self._table = load(tokenizer, vocab_size=width)
        self._is_caching = is_caching
        self._kept = _Kept()
        self._compilers: OrderedDict[tuple[int, ...], Compiler] = OrderedDict()
        self._lock = threading.Lock()

    def compile(
        self, kind: Kind, spec: str, stop: Collection[int] = (), *, is_compact: bool = False
    ) -> CompiledGrammar:
        """What a request asks for, compiled.

        Args:
            kind: As for `request_grammar`.
            spec: As for `request_grammar`.
            stop: The tokens that end this request's text; those of the tokenizer if there are none.
            is_compact: As for `request_grammar`.

        Raises:
            GrammarError: It cannot be used.
            LimitError: It is too large.
            VocabularyError: It names a token that the model does not have.
        """
        compiler = self.compiler(stop)
        key = (id(compiler), kind, spec, is_compact)
        found = self._kept.get(key)
        if found is None:
            grammar = request_grammar(kind, spec, self.settings, is_compact=is_compact)
            found = compiler.compile(grammar)
            if self._is_caching:
                self._kept.put(key, found)
        return found

    def compiler(self, stop: Collection[int] = ()) -> Compiler:
        """The compiler for texts that end with any of these tokens, and with no others."""
        key = tuple(sorted(set(stop))) or self._table.stop
        # Vocabularies take a second to make: two threads that want the same one make one.
        with self._lock:
            found = self._compilers.get(key)
            if found is None:
                found = self._compilers[key] = self._make(key)
                if len(self._compilers) > _STOP_SETS:
                    self._compilers.popitem(last=False)
                    self._kept.clear()
            self._compilers.move_to_end(key)
            return found

    def _make(self, stop: tuple[int, ...]) -> Compiler:
        tokens = list(self._table.tokens)
        for token in stop:
            # One that spells a text would end it wherever it came.
            if 0 <= token < len(tokens):
                tokens[token] = None
        known = [token for token in stop if 0 <= token < len(tokens)]
        vocabulary = Vocabulary.from_tokens(tokens, special=self._table.special, stop=known)
        return Compiler(vocabulary, limits=self.settings.limits, cache_entries=0)


class _Kept:
    """Compiled grammars for the next request: found by their source, before it is read again.

    Bounded in entries, in sources (what is made of one takes some twelve times its length) and in
    tables, which grow while grammars are used.
    """

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[int, str, str, bool], CompiledGrammar] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[int, str, str, bool]) -> CompiledGrammar | None:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
            return found

    def put(self, key: tuple[int, str, str, bool], compiled: CompiledGrammar) -> None:
        with self._lock:
            if key in self._entries:
                return
            self._entries[key] = compiled
            self._characters += len(key[2])
            tables = sum(kept.memory for kept in self._entries.values())
            while self._entries and (
                len(self._entries) > _KEPT_ENTRIES
                or self._characters > _KEPT_CHARACTERS
                or tables > _KEPT_TABLES
            ):
                (_, _, spec, _), dropped = self._entries.popitem(last=False)
                self._characters -= len(spec)
                tables -= dropped.memory

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._characters = 0


def refusal(error: Exception) -> str:
    """What to tell who sent a request that cannot be used."""
    place = f" (at {error.location})" if isinstance(error, GrammarError) and error.location else ""
    message = str(error)
    return message if place.strip(" ()").removeprefix("at ") in message else message + place


def signature_differences(signatures: Iterable[tuple[Any, str, list[str]]]) -> list[str]:
    """Which functions of a server are not there, or take other parameters than those listed.

    >>> signature_differences([(Settings, "read", ["text"]), (Settings, "write", ["self"])])
    ['there is no Settings.write']
    """
    found: list[str] = []
    for owner, name, expected in signatures:
        place = f"{owner.__name__}.{name}"
        function = getattr(owner, name, None)
        if function is None:
            found.append(f"there is no {place}")
            continue
        actual = list(inspect.signature(function).parameters)
        if actual != expected:
            found.append(f"{place} takes ({', '.join(actual)}), not ({', '.join(expected)})")
    return found

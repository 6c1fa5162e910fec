"""Read the grammar that a command is given."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm import Grammar, GrammarError, grammars

from .console import Failure
from .place import Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from stencilm import Compiler, Matcher

__all__ = ["Source", "read_source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A grammar, and where it was written."""

    grammar: Grammar
    kind: str
    """The option's name."""
    text: str | None
    """What was written, where it is a text."""

    def matcher(self, compiler: Compiler) -> Matcher:
        """A matcher of the grammar.

        Raises:
            Failure: The grammar cannot be used.
        """
        try:
            return compiler.compile(self.grammar).matcher()
        except GrammarError as error:
            raise _failure(self.kind, self.text, error) from error


def read_source(
    *,
    schema: str | None,
    regex: str | None,
    dialect: str | None,
    ebnf: str | None,
    notation: str | None,
    ready: str | None,
    lark: str | None,
    json_: bool,
    choice: str | None,
    pydantic: str | None,
    structural_tag: str | None,
    whitespace: str | None,
    escapes: str | None,
) -> Source | None:
    """The grammar that the options give; None if they give none.

    Raises:
        Failure: They give several, or one that cannot be read or used.
    """
    given = {
        "--schema": schema,
        "--regex": regex,
        "--ebnf": ebnf,
        "--grammar": ready,
        "--lark": lark,
        "--json": json_ or None,
        "--choice": choice,
        "--pydantic": pydantic,
        "--structural-tag": structural_tag,
    }
    kinds = [kind for kind, value in given.items() if value is not None]
    if len(kinds) > 1:
        raise Failure(f"{' and '.join(kinds)} are both grammars: give one")
    for option, value in (("--whitespace", whitespace), ("--escapes", escapes)):
        if value is not None and not {"--schema", "--json", "--pydantic"} & set(kinds):
            raise Failure(f"{option} is for --schema, --json and --pydantic")
    if dialect is not None and regex is None:
        raise Failure("--dialect is for --regex")
    if notation is not None and ebnf is None:
        raise Failure("--notation is for --ebnf")
    from_schema = _schema_reader(whitespace, escapes)
    if schema is not None:
        text = _read_file(schema, "schema")
        return _source("--schema", text, lambda: from_schema(text))
    if regex is not None:
        return _source("--regex", regex, lambda: _regex(regex, dialect))
    if ebnf is not None:
        # Every rule has a ::=, hardly any file name.
        text = ebnf if "::=" in ebnf else _read_file(ebnf, "grammar")
        return _source("--ebnf", text, lambda: _ebnf(text, notation))
    if ready is not None:
        if ready not in grammars.names():
            raise Failure(f"--grammar is one of {', '.join(grammars.names())}, not {ready}")
        return _source("--grammar", None, lambda: grammars.by_name(ready))
    if lark is not None:
        # Every grammar has a rule, hardly any file name a colon.
        text = lark if ":" in lark and not Path(lark).exists() else _read_file(lark, "grammar")
        return _source("--lark", text, lambda: Grammar.from_lark(text))
    if structural_tag is not None:
        text = _read_file(structural_tag, "structural tag")
        return _source("--structural-tag", text, lambda: Grammar.from_structural_tag(text))
    if json_:
        return _source("--json", None, lambda: from_schema(True))
    if choice is not None:
        return _source("--choice", None, lambda: Grammar.choice(choice.split(",")))
    if pydantic is not None:
        model = _import_model(pydantic)
        return _source("--pydantic", None, lambda: from_schema(model))
    return None


def _regex(pattern: str, dialect: str | None) -> Grammar:
    match dialect or "ecma":
        case "ecma" | "python" as known:
            return Grammar.from_regex(pattern, dialect=known)
        case other:
            raise Failure(f"--dialect is ecma or python, not {other}")


def _ebnf(text: str, notation: str | None) -> Grammar:
    match notation or "gbnf":
        case "gbnf" | "w3c" as known:
            return Grammar.from_ebnf(text, notation=known)
        case other:
            raise Failure(f"--notation is gbnf or w3c, not {other}")


def _source(kind: str, text: str | None, make: Callable[[], Grammar]) -> Source:
    try:
        return Source(make(), kind, text)
    except ModuleNotFoundError as error:
        raise Failure(f"{kind}: {error}") from error
    except GrammarError as error:
        raise _failure(kind, text, error) from error


def _failure(kind: str, text: str | None, error: GrammarError) -> Failure:
    location = error.location
    message = str(error).removeprefix(f"at byte {location}: ").removeprefix(f"at `{location}`: ")
    fields: dict[str, object] = {"type": type(error).__name__, "location": location}
    if isinstance(location, str):
        where = f"{kind}, at {location}" if location else kind
        return Failure(f"{where}: {message}", fields=fields)
    if text is None:
        return Failure(f"{kind}: {message}", fields=fields)
    place = Place.at(text.encode(), location)
    where = f"{kind}, line {place.line}, column {place.column}"
    fields |= {"line": place.line, "column": place.column}
    return Failure(f"{where}: {message}", detail=place.caret(), fields=fields)


def _schema_reader(whitespace: str | None, escapes: str | None) -> Callable[[object], Grammar]:
    options: dict[str, Any] = {}
    if escapes is not None:
        if escapes not in ("plain", "any", "ascii"):
            raise Failure(f"--escapes is plain, any or ascii, not {escapes}")
        options["escapes"] = escapes
    if whitespace == "compact":
        options["whitespace"] = whitespace
    elif whitespace not in (None, "any"):
        if not whitespace.isdecimal():
            raise Failure(f"--whitespace is any, compact or a number, not {whitespace}")
        options["indent"] = int(whitespace)
    return lambda schema: Grammar.from_json_schema(schema, **options)


def _read_file(name: str, what: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise Failure(f"cannot read the {what} {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failure(f"the {what} {name} is not UTF-8, at byte {error.start}") from error


def _import_model(name: str) -> object:
    module, colon, path = name.partition(":")
    if not colon or not module or not path:
        raise Failure(f"--pydantic is MODULE:MODEL, not {name}")
    sys.path.insert(0, "")
    try:
        found: object = importlib.import_module(module)
    except ImportError as error:
        raise Failure(f"--pydantic: cannot import {module}: {error}") from error
    finally:
        sys.path.remove("")
    for part in path.split("."):
        if not hasattr(found, part):
            raise Failure(f"--pydantic: {module} has no {path}")
        found = getattr(found, part)
    return found

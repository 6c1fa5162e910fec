"""`stencilm check`: is a text valid, and if not, where and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from stencilm import Compiler

from .blame import schema_rules
from .console import Code, Failure, command, out, print_json, progress
from .models import byte_vocabulary
from .options import GrammarOptions, JsonOutput, takes_grammar
from .place import Place, show_bytes, show_token

if TYPE_CHECKING:
    from stencilm import Matcher

__all__ = ["check"]

_PIECE = 4096


@command
@takes_grammar
def check(
    grammar: GrammarOptions,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The text; - reads stdin.")] = "-",
    exact: Annotated[
        bool, typer.Option("--exact", help="Judge the file's last line end too.")
    ] = False,
    json_output: JsonOutput = False,
) -> None:
    """Say whether a text is valid; if not, where it stops being so, and why.

    Exits with 0 if it is, with 1 if not. The line end that editors put at a file's end is
    not judged, unless --exact.
    """
    if file == "-" and "-" in (grammar.schema, grammar.ebnf):
        raise Failure("the grammar and the text cannot both come from stdin")
    source = grammar.read()
    text = _read(file)
    compiler = Compiler(byte_vocabulary())
    matcher = source.matcher(compiler)
    if not exact:
        text = text.removesuffix(b"\n").removesuffix(b"\r")
    with progress("checking"):
        offset = _accept(matcher, text)
    if offset == len(text) and matcher.may_stop():
        if json_output:
            print_json({"is_valid": True})
        else:
            out.print(Text("valid", style="bold green"))
        return
    with progress("looking for the rule"):
        rules = schema_rules(compiler, source, text, offset)
    _report(matcher, text, offset, rules, json_output=json_output)
    raise typer.Exit(Code.NO)


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}") from error


def _accept(matcher: Matcher, text: bytes) -> int:
    """Accept as much as may be; how many bytes that are."""
    for begin in range(0, len(text), _PIECE):
        if not matcher.accept_bytes(text[begin : begin + _PIECE]):
            for offset in range(begin, len(text)):
                if not matcher.accept_bytes(text[offset : offset + 1]):
                    return offset
    return len(text)


def _report(
    matcher: Matcher, text: bytes, offset: int, rules: list[str], *, json_output: bool
) -> None:
    place = Place.at(text, offset)
    allowed = matcher.next_bytes()
    forced = matcher.forced_text()
    may_stop = matcher.may_stop()
    if json_output:
        report = {
            "is_valid": False,
            "offset": offset,
            "line": place.line,
            "column": place.column,
            "at_end": offset == len(text),
            "expected_bytes": list(allowed),
            "expected_text": forced.decode("utf-8", "replace"),
            "may_stop": may_stop,
            "rules": rules,
        }
        print_json(report)
        return
    found = "the text ends too early" if offset == len(text) else _found(text, offset)
    where = f"line {place.line}, column {place.column}"
    out.print(Text.assemble(("not valid", "bold red"), f", {where}: {found}"))
    out.print(place.caret())
    out.print(Text.assemble(("could have come: ", "bold"), _expected(allowed, forced, may_stop)))
    for rule in rules:
        out.print(Text.assemble(("forbidden by:    ", "bold"), rule))


def _found(text: bytes, offset: int) -> str:
    character = text[offset : offset + 4].decode("utf-8", "ignore")[:1]
    if not character:
        return f"the byte 0x{text[offset]:02x} may not come here"
    return f"{show_token(character.encode())} may not come here"


def _expected(allowed: bytes, forced: bytes, may_stop: bool) -> str:
    parts = [show_token(forced) if forced else show_bytes(allowed)] if allowed else []
    return " or ".join([*parts, "the end"] if may_stop else parts) or "nothing"

"""`stencilm check`: is a text valid, and if not, where and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from stencilm import Compiler

from .console import Code, Failure, command, out, print_json, progress
from .models import byte_vocabulary
from .options import GrammarOptions, JsonOutput, takes_grammar
from .place import Place, show_bytes, show_token

if TYPE_CHECKING:
    from stencilm import Capture, Explanation

__all__ = ["check"]


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
    if file == "-" and "-" in (grammar.schema, grammar.ebnf, grammar.lark):
        raise Failure("the grammar and the text cannot both come from stdin")
    source = grammar.read()
    text = _read(file)
    compiler = Compiler(byte_vocabulary())
    matcher = source.matcher(compiler)
    if not exact:
        text = text.removesuffix(b"\n").removesuffix(b"\r")
    # Without a token, what may not come is the end.
    with progress("checking"):
        explanation = matcher.explain(text)
        if explanation is None and matcher.accept_bytes(text):
            explanation = matcher.explain(None, before=text)
    if explanation is None:
        _approve(matcher.captures(), text, json_output=json_output)
        return
    offset = explanation.offset if explanation.found else len(text)
    _report(explanation, text, offset, json_output=json_output)
    raise typer.Exit(Code.NO)


def _approve(captures: list[Capture], text: bytes, *, json_output: bool) -> None:
    if json_output:
        found = [
            {"name": it.name, "start": it.start, "text": it.text.decode("utf-8", "replace")}
            for it in captures
        ]
        print_json({"is_valid": True, "captures": found})
        return
    out.print(Text("valid", style="bold green"))
    for it in captures:
        place = Place.at(text, it.start)
        where = f"line {place.line}, column {place.column}"
        out.print(Text.assemble((it.name, "bold"), f" ({where}): ", show_token(it.text)))


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Failure(f"cannot read {file}: {error.strerror}") from error


def _report(explanation: Explanation, text: bytes, offset: int, *, json_output: bool) -> None:
    place = Place.at(text, offset)
    if json_output:
        report = {
            "is_valid": False,
            "offset": offset,
            "line": place.line,
            "column": place.column,
            "at_end": offset == len(text),
            "place": explanation.place,
            "expected_bytes": list(explanation.expected),
            "expected_text": explanation.expected_text.decode("utf-8", "replace"),
            "may_stop": explanation.may_stop,
            "is_joint": explanation.is_joint,
            "reasons": [
                {"pointer": reason.pointer, "message": reason.message}
                for reason in explanation.reasons
            ],
        }
        print_json(report)
        return
    found = "the text ends too early" if offset == len(text) else _found(text, offset)
    where = f"line {place.line}, column {place.column}"
    out.print(Text.assemble(("not valid", "bold red"), f", {where}: {found}"))
    out.print(place.caret())
    expected = _expected(explanation)
    out.print(Text.assemble(("could have come: ", "bold"), expected))
    for reason in explanation.reasons:
        out.print(Text.assemble(("forbidden by:    ", "bold"), str(reason)))


def _found(text: bytes, offset: int) -> str:
    character = text[offset : offset + 4].decode("utf-8", "ignore")[:1]
    if not character:
        return f"the byte 0x{text[offset]:02x} may not come here"
    return f"{show_token(character.encode())} may not come here"


def _expected(explanation: Explanation) -> str:
    forced, allowed = explanation.expected_text, explanation.expected
    parts = [show_token(forced) if forced else show_bytes(allowed)] if allowed else []
    return " or ".join([*parts, "the end"] if explanation.may_stop else parts) or "nothing"

"""`stencilm explain`: what of a grammar is enforced."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from stencilm import Report

from .console import command, out, print_json
from .options import GrammarOptions, JsonOutput, takes_grammar

__all__ = ["explain"]


@command
@takes_grammar
def explain(
    grammar: GrammarOptions,
    json_output: JsonOutput = False,
) -> None:
    """List what a schema asks for, and whether it is enforced.

    What cannot be enforced is an error, with its place; nothing is dropped in silence.
    """
    source = grammar.read()
    parts = _parts(source.grammar.report)
    if json_output:
        print_json(
            {
                kind: [{"pointer": pointer, "text": text} for pointer, text in entries]
                for kind, (_, entries) in parts.items()
            }
        )
        return
    if not any(entries for _, entries in parts.values()):
        out.print("everything is enforced exactly")
        return
    table = Table("where", "what", "", box=None)
    for style, entries in parts.values():
        for pointer, text in entries:
            table.add_row(Text(pointer or "(root)"), Text(text), style)
    out.print(table)


def _parts(report: Report) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    return {
        "enforced": ("[green]enforced[/]", list(report.enforced)),
        "narrower": ("[yellow]narrower than asked[/]", list(report.narrower)),
        "widened": ("[yellow]wider, as you allowed[/]", list(report.widened)),
        "annotations": ("[dim]a remark only[/]", list(report.annotations)),
    }

"""The options that commands share."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec, get_type_hints

import typer

from .console import Failure
from .grammars import Source, read_source

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GrammarOptions", "JsonOutput", "TextOption", "takes_grammar"]

_PANEL = "Grammar (one of)"

P = ParamSpec("P")

JsonOutput = Annotated[
    bool, typer.Option("--json-output", help="Print one JSON object, for machines.")
]
TextOption = Annotated[str, typer.Option("--text", help="What has been written.")]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GrammarOptions:
    """Where the grammar comes from: every command has these, by `takes_grammar`."""

    schema: Annotated[
        str | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="A JSON Schema; - reads stdin.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    regex: Annotated[
        str | None,
        typer.Option(
            "--regex",
            metavar="PATTERN",
            help="A regular expression for the whole text.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="ecma|python",
            help="The dialect of --regex: ECMA-262 (usual), or Python's re.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    ebnf: Annotated[
        str | None,
        typer.Option(
            "--ebnf",
            metavar="FILE|TEXT",
            help="An EBNF or GBNF grammar; it starts at the rule root.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    lark: Annotated[
        str | None,
        typer.Option(
            "--lark",
            metavar="FILE|TEXT",
            help="A grammar in Lark's language; it starts at the rule start.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    notation: Annotated[
        str | None,
        typer.Option(
            "--notation",
            metavar="gbnf|w3c",
            help="How --ebnf is written: as llama.cpp writes it (usual), or as the W3C does.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    ready: Annotated[
        str | None,
        typer.Option(
            "--grammar",
            metavar="NAME",
            help="A ready grammar: sql, email, cron, … (? lists them).",
            rich_help_panel=_PANEL,
        ),
    ] = None
    json_: Annotated[
        bool, typer.Option("--json", help="Any JSON value.", rich_help_panel=_PANEL)
    ] = False
    choice: Annotated[
        str | None,
        typer.Option(
            "--choice", metavar="A,B,C", help="One of these texts.", rich_help_panel=_PANEL
        ),
    ] = None
    pydantic: Annotated[
        str | None,
        typer.Option(
            "--pydantic",
            metavar="MODULE:MODEL",
            help="A Pydantic model or TypeAdapter; its module is imported.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    structural_tag: Annotated[
        str | None,
        typer.Option(
            "--structural-tag",
            metavar="FILE",
            help="A structural tag, as JSON; - reads stdin.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    whitespace: Annotated[
        str | None,
        typer.Option(
            "--whitespace",
            metavar="any|compact|N",
            help="White space in JSON: N indents by so many spaces.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    escapes: Annotated[
        str | None,
        typer.Option(
            "--escapes",
            metavar="plain|any|ascii",
            help="Names and listed strings in JSON: shortest, in every spelling, or in ASCII.",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def read_if_given(self) -> Source | None:
        """The grammar; None if none is given."""
        return read_source(
            schema=self.schema,
            regex=self.regex,
            dialect=self.dialect,
            ebnf=self.ebnf,
            notation=self.notation,
            ready=self.ready,
            lark=self.lark,
            json_=self.json_,
            choice=self.choice,
            pydantic=self.pydantic,
            structural_tag=self.structural_tag,
            whitespace=self.whitespace,
            escapes=self.escapes,
        )

    def read(self) -> Source:
        """The grammar.

        Raises:
            Failure: None is given, or one that cannot be used.
        """
        source = self.read_if_given()
        if source is None:
            raise Failure(
                "give a grammar: --schema, --regex, --ebnf, --lark, --structural-tag, --grammar, "
                "--json, --choice or --pydantic"
            )
        return source


def takes_grammar(
    function: Callable[Concatenate[GrammarOptions, P], None],
) -> Callable[..., None]:
    """Give a command the options of `GrammarOptions`; it gets them as its first argument."""
    names = [field.name for field in dataclasses.fields(GrammarOptions)]
    hints = get_type_hints(GrammarOptions, include_extras=True)
    added = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(GrammarOptions)
    ]
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]

    call: Callable[..., None] = function

    def run(**values: Any) -> None:
        call(GrammarOptions(**{name: values.pop(name) for name in names}), **values)

    # Typer reads a command's options from its signature.
    signature = inspect.Signature([*own, *added])
    run.__dict__["__signature__"] = signature
    run.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run

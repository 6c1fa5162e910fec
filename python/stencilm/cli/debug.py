"""`stencilm debug`: print what the engine holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from stencilm import Compiler, allocate_mask, allowed_ids

from .console import Code, Failure, command, out
from .models import TokenizerOption, byte_vocabulary, load_vocabulary, tokenizer_path
from .options import GrammarOptions, TextOption, takes_grammar
from .place import show_token

if TYPE_CHECKING:
    from pathlib import Path

    from stencilm import Matcher, Vocabulary

    from .grammars import Source

__all__ = ["debug"]

debug = typer.Typer(help="Print what the engine holds.", no_args_is_help=True)


@debug.command("grammar")
@command
@takes_grammar
def grammar_(
    grammar: GrammarOptions,
    most: Annotated[int, typer.Option("--most", min=1, help="How many rules to print.")] = 200,
) -> None:
    """Print the grammar as EBNF."""
    source = grammar.read()
    out.print(Text(source.grammar.show(most)))


@debug.command("state")
@command
@takes_grammar
def state(
    grammar: GrammarOptions,
    text: TextOption = "",
) -> None:
    """Print what remains to be matched after a text: the residuals and the stack's frames."""
    source = grammar.read()
    out.print(Text(_matcher(source, byte_vocabulary(), text).describe()))


@debug.command("mask")
@command
@takes_grammar
def mask_(
    grammar: GrammarOptions,
    text: TextOption = "",
    tokenizer: TokenizerOption = None,
) -> None:
    """Print every token of the mask after a text; of a mask's and its rest, the shorter list."""
    source = grammar.read()
    vocabulary = _vocabulary(tokenizer)
    mask = allocate_mask(1, vocabulary.size)
    _matcher(source, vocabulary, text).fill_mask(mask)
    allowed = set(allowed_ids(mask[0]).tolist())
    out.print(f"{len(allowed)} of {vocabulary.size} tokens are allowed")
    is_dense = 2 * len(allowed) > vocabulary.size
    if is_dense:
        out.print("all but:")
    for token_id in range(vocabulary.size):
        if (token_id in allowed) != is_dense:
            token = vocabulary.token_bytes(token_id)
            name = "(no text)" if token is None else show_token(token)
            out.print(Text(f"{token_id:>7} {name}"))


def _matcher(source: Source, vocabulary: Vocabulary, text: str) -> Matcher:
    matcher = source.matcher(Compiler(vocabulary))
    if not matcher.accept_bytes(text.encode()):
        raise Failure("the text is not allowed: stencilm check says where", Code.NO)
    return matcher


def _vocabulary(tokenizer: Path | None) -> Vocabulary:
    path = tokenizer_path(tokenizer)
    return byte_vocabulary() if path is None else load_vocabulary(path)

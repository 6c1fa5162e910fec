"""`stencilm next`: what may come after a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from stencilm import Compiler, Vocabulary, allocate_mask, allowed_ids

from .console import Code, Failure, command, err, out, print_json
from .models import (
    EngineOption,
    ModelOption,
    TokenizerOption,
    byte_vocabulary,
    load_model,
    load_vocabulary,
    model_path,
    tokenizer_path,
)
from .options import GrammarOptions, JsonOutput, TextOption, takes_grammar
from .place import show_bytes, show_token

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from stencilm import Matcher

__all__ = ["next_"]


@command
@takes_grammar
def next_(
    grammar: GrammarOptions,
    text: TextOption = "",
    tokenizer: TokenizerOption = None,
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", help="Ask the model which tokens are likeliest after this."),
    ] = None,
    model: ModelOption = None,
    engine: EngineOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many tokens to show.")] = 16,
    json_output: JsonOutput = False,
) -> None:
    """Show what may come next: bytes, tokens, and how many of the vocabulary.

    Exits with 1 if the text itself is not allowed.
    """
    source = grammar.read()
    if prompt is not None and tokenizer is not None:
        raise Failure("--prompt uses the model's own tokenizer: leave --tokenizer out")
    path = tokenizer_path(tokenizer or model) if prompt is None else model_path(model)
    runner = None if prompt is None or path is None else load_model(path, engine)
    width = None if runner is None else runner.vocab_size
    vocabulary = byte_vocabulary() if path is None else load_vocabulary(path, width)
    matcher = source.matcher(Compiler(vocabulary))
    if not matcher.accept_bytes(text.encode()):
        raise Failure("the text is not allowed: stencilm check says where", Code.NO)
    mask = allocate_mask(1, vocabulary.size)
    matcher.fill_mask(mask)
    ids = allowed_ids(mask[0])
    if runner is None or prompt is None:
        tokens = _shortest(vocabulary, ids, limit)
    else:
        logits = runner.step([*runner.chat_prompt(prompt), *runner.encode(text)])
        tokens = _likeliest(vocabulary, ids, limit, logits)
    if json_output:
        _print_machine(matcher, vocabulary, ids, tokens)
    else:
        _print_people(matcher, vocabulary, ids, tokens)
        if path is None:
            err.print("no tokenizer: the tokens are bytes (--tokenizer names one)", style="dim")


@dataclass(frozen=True, slots=True)
class _Token:
    token_id: int
    name: str
    probability: float | None


def _shortest(vocabulary: Vocabulary, ids: NDArray[np.int64], limit: int) -> list[_Token]:
    def length(token_id: int) -> tuple[int, int]:
        return len(vocabulary.token_bytes(token_id) or b""), token_id

    first = sorted(ids.tolist(), key=length)[:limit]
    return [_Token(token_id, _name(vocabulary, token_id), None) for token_id in first]


def _likeliest(
    vocabulary: Vocabulary,
    ids: NDArray[np.int64],
    limit: int,
    logits: NDArray[np.float32],
) -> list[_Token]:
    ids = ids[ids < len(logits)]
    weights = np.exp(logits.astype(np.float64) - logits.max())
    weights /= weights.sum()
    first = ids[np.argsort(-weights[ids], kind="stable")[:limit]]
    return [_Token(int(i), _name(vocabulary, int(i)), float(weights[i])) for i in first]


def _name(vocabulary: Vocabulary, token_id: int) -> str:
    text = vocabulary.token_bytes(token_id)
    if text is not None:
        return show_token(text)
    special = {number: name for name, number in vocabulary.special.items()}
    return special.get(token_id, "(stop)" if token_id in vocabulary.stop_ids else "(special)")


def _print_people(
    matcher: Matcher, vocabulary: Vocabulary, ids: NDArray[np.int64], tokens: list[_Token]
) -> None:
    forced = matcher.forced_text()
    if forced:
        out.print(Text.assemble(("certain: ", "bold"), show_token(forced)))
    out.print(Text.assemble(("bytes:   ", "bold"), show_bytes(matcher.next_bytes()) or "none"))
    out.print(Text.assemble(("end:     ", "bold"), "yes" if matcher.may_stop() else "no"))
    share = 100 * len(ids) / vocabulary.size
    count = f"{len(ids)} of {vocabulary.size} ({share:.1f} %)"
    out.print(Text.assemble(("tokens:  ", "bold"), count))
    by_model = any(token.probability is not None for token in tokens)
    table = Table("id", "token", *(["the model's"] if by_model else []), box=None)
    for token in tokens:
        row: list[RenderableType] = [str(token.token_id), Text(token.name)]
        if token.probability is not None:
            row.append(f"{token.probability * 100:.2f} %")
        table.add_row(*row)
    out.print(table)


def _print_machine(
    matcher: Matcher, vocabulary: Vocabulary, ids: NDArray[np.int64], tokens: list[_Token]
) -> None:
    print_json(
        {
            "forced_text": matcher.forced_text().decode("utf-8", "replace"),
            "bytes": list(matcher.next_bytes()),
            "may_stop": matcher.may_stop(),
            "allowed": len(ids),
            "vocabulary": vocabulary.size,
            "tokens": [
                {"id": t.token_id, "token": t.name, "probability": t.probability} for t in tokens
            ],
        }
    )

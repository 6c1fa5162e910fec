"""`stencilm generate`: a model writes, held to a grammar."""

from __future__ import annotations

import codecs
import sys
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from stencilm import Compiler
from stencilm.sampling import Figures, Finish
from stencilm.sampling import generate as write

from .console import Code, Failure, command, err, out, print_json
from .models import EngineOption, ModelOption, load_model, load_vocabulary, model_path
from .options import GrammarOptions, JsonOutput, takes_grammar

if TYPE_CHECKING:
    from stencilm import Matcher, Vocabulary
    from stencilm.sampling import Step

__all__ = ["generate"]


@command
@takes_grammar
def generate(
    grammar: GrammarOptions,
    prompt: Annotated[str, typer.Argument(help="What to ask the model.")],
    free: Annotated[
        bool, typer.Option("--free", help="The same without the stencil, to compare.")
    ] = False,
    model: ModelOption = None,
    engine: EngineOption = None,
    system: Annotated[
        str | None, typer.Option("--system", help="The system message; else the model's own.")
    ] = None,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0, help="0 takes the likeliest token.")
    ] = 0.0,
    top_p: Annotated[
        float,
        typer.Option("--top-p", min=0, max=1, help="Draw among the likeliest up to this sum."),
    ] = 1.0,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed, the same text.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="The most tokens to write.")
    ] = 512,
    json_output: JsonOutput = False,
) -> None:
    """Write an answer that is valid for a schema, a grammar or a regular expression.

    The text goes to stdout as it is made, a line of figures to stderr.
    Exits with 3 if --max-tokens ended the text before it was whole.
    """
    if top_p == 0:
        raise Failure("--top-p must be above 0")
    source = grammar.read_if_given()
    if source is None and not free:
        raise Failure(
            "give a grammar: --schema, --regex, --ebnf, --lark, --grammar, --json, --choice "
            "or --pydantic (or --free for none)"
        )
    path = model_path(model)
    runner = load_model(path, engine)
    vocabulary = load_vocabulary(path, runner.vocab_size)
    judge: Matcher | None = None
    figures = Figures()
    if source is not None:
        begin = perf_counter()
        judge = source.matcher(Compiler(vocabulary))
        figures.compile_seconds = 0.0 if free else perf_counter() - begin
    steps = write(
        runner,
        None if free else judge,
        vocabulary,
        runner.chat_prompt(prompt, system),
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
    )
    writer = _Writer(vocabulary, is_shown=not json_output)
    for step in steps:
        figures.add(step)
        writer.write(step)
    text = writer.end()
    is_valid = None
    if judge is not None:
        is_valid = _is_valid(judge, text) if free else figures.finish is Finish.STOP
    if json_output:
        print_json({"text": text, "is_valid": is_valid, **figures.as_dict()})
    else:
        err.print(Text(figures.line(), style="dim"))
        if free and is_valid is not None:
            err.print(f"valid for {source.kind if source else ''}: {'yes' if is_valid else 'no'}")
    if not free and figures.finish is not Finish.STOP:
        message = f"the text is not whole: --max-tokens {max_tokens} ended it"
        if not json_output:
            err.print(Text.assemble(("error: ", "bold red"), message))
        raise typer.Exit(Code.LIMIT)


class _Writer:
    """Puts tokens together to text, and shows it as soon as its characters are whole."""

    def __init__(self, vocabulary: Vocabulary, *, is_shown: bool) -> None:
        self._vocabulary = vocabulary
        self._is_shown = is_shown
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []

    def write(self, step: Step) -> None:
        """Add one token."""
        token = self._vocabulary.token_bytes(step.token_id)
        if token is not None:
            self._add(self._decoder.decode(token), is_forced=step.is_forced)

    def end(self) -> str:
        """The whole text."""
        self._add(self._decoder.decode(b"", final=True), is_forced=False)
        if self._is_shown:
            out.print()
        return "".join(self._parts)

    def _add(self, text: str, *, is_forced: bool) -> None:
        self._parts.append(text)
        if not self._is_shown or not text:
            return
        if out.is_terminal:  # What was certain is dimmed; no escape sequence gets through.
            shown = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)
            out.print(Text(shown, style="dim" if is_forced else ""), end="")
        else:
            sys.stdout.write(text)
            sys.stdout.flush()


def _is_valid(judge: Matcher, text: str) -> bool:
    return judge.accept_bytes(text.strip().encode()) and judge.may_stop()

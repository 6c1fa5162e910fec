"""One call that writes with a model under a grammar."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from stencilm._compiler import Capture, Compiler
from stencilm._vocabulary import Vocabulary

if TYPE_CHECKING:
    from stencilm._grammar import Grammar
    from stencilm.sampling import Figures, Model

__all__ = ["Generation", "generate"]

_COMPILERS: weakref.WeakKeyDictionary[Any, dict[Any, Compiler]] = weakref.WeakKeyDictionary()
"""By tokenizer, then by what else a vocabulary is made from."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model wrote."""

    text: str
    token_ids: list[int]
    """A stop token at the end included, where the model was asked for one."""
    is_whole: bool
    """Whether the text is a whole one of the grammar; False if `max_tokens` ended it."""
    captures: list[Capture]
    """What the rules with `capture` took, by their beginnings."""
    figures: Figures
    """What it took: `figures.line()` says it."""

    @property
    def passes(self) -> int:
        """How often the model was asked; the other tokens were forced, and read along."""
        return self.figures.tokens - self.figures.forced

    def __str__(self) -> str:
        return self.text


def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int] | Sequence[Mapping[str, Any]],
    grammar: Grammar | None,
    *,
    max_tokens: int = 512,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int | None = None,
    skip_forced: bool = True,
) -> Generation:
    """Write after `prompt`, held to a grammar.

    A run of tokens that are certain costs one forward pass, not one for each. The vocabulary, and
    what is learnt of grammars, is kept as long as the tokenizer lives.

    Args:
        model: A causal model of `transformers`, or anything with the members of `sampling.Model`.
        tokenizer: That of `transformers`; for other models, a `Vocabulary` will do.
        prompt: Text as it is, token ids, or messages for the tokenizer's chat template.
        grammar: What may be written; None for anything.
        max_tokens: The most tokens to write.
        temperature: 0 takes the likeliest token. Rules of the grammar that have their own go first.
        top_p: Draw among the fewest likeliest tokens whose probabilities reach this sum.
        seed: The same seed, the same text.
        skip_forced: Whether certain tokens skip the model's turn.

    Raises:
        VocabularyError: The tokenizer's tokens cannot be known for sure.
        LimitError: A limit was reached while the text was written.

    >>> from stencilm import Grammar
    >>> class Parrot:  # A model that likes "a", then "b", and so on.
    ...     vocab_size = 257
    ...     def encode(self, text):
    ...         return list(text.encode())
    ...     def reset(self):
    ...         pass
    ...     def step(self, ids):
    ...         import numpy as np
    ...         return -np.arange(257, dtype=np.float32)
    >>> vocabulary = Vocabulary.from_tokens([bytes([b]) for b in range(256)] + [None], stop=[256])
    >>> grammar = Grammar.from_regex('{"answer":"(yes|no)"}')
    >>> made = generate(Parrot(), vocabulary, "Is water wet?", grammar)
    >>> print(made)
    {"answer":"no"}
    >>> made.is_whole, made.figures.tokens, made.passes
    (True, 15, 1)
    """
    from stencilm.sampling import Figures, Finish
    from stencilm.sampling import generate as write

    runner = _runner(model, tokenizer)
    compiler = _compiler(model, tokenizer, runner.vocab_size)
    vocabulary = compiler.vocabulary
    begin = perf_counter()
    matcher = None if grammar is None else compiler.compile(grammar).matcher()
    figures = Figures(compile_seconds=perf_counter() - begin)
    token_ids = []
    for step in write(
        runner,
        matcher,
        vocabulary,
        _prompt_ids(runner, tokenizer, prompt),
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        skip_forced=skip_forced,
    ):
        figures.add(step)
        token_ids.append(step.token_id)
    text = b"".join(vocabulary.token_bytes(token) or b"" for token in token_ids)
    is_whole = figures.finish is Finish.STOP or (matcher is not None and matcher.may_stop())
    captures = [] if matcher is None else matcher.captures()
    return Generation(text.decode("utf-8", "replace"), token_ids, is_whole, captures, figures)


def _runner(model: Any, tokenizer: Any) -> Model:
    if hasattr(model, "step") and hasattr(model, "reset"):
        runner: Model = model
        return runner
    from stencilm.integrations.transformers import TransformersModel

    return TransformersModel.wrap(model, tokenizer)


def _compiler(model: Any, tokenizer: Any, width: int) -> Compiler:
    if isinstance(tokenizer, Vocabulary):
        kept = _COMPILERS.setdefault(tokenizer, {})
        return kept.setdefault(None, Compiler(tokenizer))
    # A model may end its turns with more tokens than its tokenizer says.
    config = getattr(model, "generation_config", None)
    ends = getattr(config, "eos_token_id", None)
    stop = () if ends is None else (ends,) if isinstance(ends, int) else tuple(ends)
    kept = _COMPILERS.setdefault(tokenizer, {})
    found = kept.get((width, stop))
    if found is None:
        found = Compiler(Vocabulary.load(tokenizer, vocab_size=width, stop=stop))
        kept[width, stop] = found
    return found


def _prompt_ids(runner: Model, tokenizer: Any, prompt: Any) -> list[int]:
    if isinstance(prompt, str):
        if isinstance(tokenizer, Vocabulary):
            return runner.encode(prompt)
        return list(tokenizer(prompt)["input_ids"])
    items = list(prompt)
    if items and isinstance(items[0], Mapping):
        text = tokenizer.apply_chat_template(items, tokenize=False, add_generation_prompt=True)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    return [int(token) for token in items]

"""Tokens that need no model: the encoding of a text that must come next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stencilm._compiler import Matcher
    from stencilm._vocabulary import Vocabulary

__all__ = ["forced_tokens"]


def forced_tokens(
    matcher: Matcher,
    vocabulary: Vocabulary,
    encode: Callable[[str], Sequence[int]],
    most: int = 4096,
) -> list[int]:
    """The tokens of the text that must come next, as the tokenizer would write it.

    A heuristic, and said to be one: the forced text alone is encoded, and every trailing token
    that a longer token could span is dropped, since the model might write that one. Tokens are
    given only if they spell the forced text byte by byte (a tokenizer that normalises gives none).

    Args:
        matcher: Not changed.
        vocabulary: That of the matcher.
        encode: A text to token ids, without special tokens.
        most: Most bytes of text looked ahead.

    >>> from stencilm import Compiler, Grammar, Vocabulary
    >>> vocabulary = Vocabulary.from_tokens([bytes([b]) for b in range(256)])
    >>> matcher = Compiler(vocabulary).compile(Grammar.from_regex("abc[de]")).matcher()
    >>> forced_tokens(matcher, vocabulary, lambda text: list(text.encode()))
    [97, 98, 99]
    """
    forced = matcher.forced_text(most)
    try:
        text = forced.decode()
    except UnicodeDecodeError as error:
        forced = forced[: error.start]
        text = forced.decode()
    if not text:
        return []
    taken: list[int] = []
    at = 0
    for token in encode(text):
        spelled = vocabulary.token_bytes(token)
        if not spelled or not forced.startswith(spelled, at):
            return []
        if vocabulary.has_longer(forced[at:]):
            break
        taken.append(token)
        at += len(spelled)
    return taken

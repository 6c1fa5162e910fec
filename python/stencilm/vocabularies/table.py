"""What every tokenizer becomes: the bytes that each token id spells."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from stencilm._exceptions import VocabularyError

__all__ = ["LeadingSpace", "TokenTable"]

LeadingSpace = Literal["keep", "strip", "optional"]
"""What becomes of the space that a text's first token begins with. See `TokenTable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTable:
    r"""The bytes of every token, and which ids are not text.

    Several ids may spell the same bytes, and a token may end inside a character.

    >>> table = TokenTable(tokens=[b"a", b"\xc3", None], special={"</s>": 2}, stop=(2,))
    >>> table.size
    3

    Raises:
        VocabularyError: An id is outside the table, or is both text and special.
    """

    tokens: list[bytes | None]
    """`tokens[id]`: what the id spells; None for special tokens, unused ids and padding."""
    special: dict[str, int] = field(default_factory=dict)
    """The names of the special tokens. They never spell text, whatever their name looks like."""
    stop: tuple[int, ...] = ()
    """The ids that end a sequence. They never spell text either."""
    leading_space: LeadingSpace = "keep"
    """How a space at the very start of the generated text is read.

    SentencePiece vocabularies write `▁Hello` for a word that begins a text, and their decoders
    drop that space if the token is the first one that they are given.

    - `"keep"`: it is part of the text. Right where generation follows a prompt and the decoder has
      seen the prompt, as in servers that stream: the decoder emits the space.
    - `"strip"`: it is not part of the text. Right where the generated ids are decoded alone by a
      decoder that drops it.
    - `"optional"`: both readings are allowed.
    """
    notes: tuple[str, ...] = ()
    """What a caller of this tokenizer's `decode` must know to get exactly these bytes."""

    def __post_init__(self) -> None:
        if not self.tokens:
            raise VocabularyError("the vocabulary has no tokens")
        for token_id, token in enumerate(self.tokens):
            if token is not None and type(token) is not bytes:
                kind = type(token).__name__
                raise VocabularyError(f"token {token_id} is of type {kind}, not bytes or None")
            if token == b"":
                raise VocabularyError(f"token {token_id} spells nothing: give None for it")
        for name, token_id in self.special.items():
            self._require_textless(token_id, f"special token {name!r}")
        for token_id in self.stop:
            self._require_textless(token_id, "stop token")
        if len(set(self.stop)) != len(self.stop):
            raise VocabularyError(f"stop ids come twice: {self.stop}")
        if self.leading_space not in get_args(LeadingSpace):
            choices = ", ".join(map(repr, get_args(LeadingSpace)))
            raise VocabularyError(f"leading_space is {self.leading_space!r}, not one of {choices}")

    @property
    def size(self) -> int:
        """The number of ids, text or not."""
        return len(self.tokens)

    def padded(self, size: int) -> TokenTable:
        """The same tokens for logits that are `size` wide.

        Models pad their logits beyond the tokenizer's ids; a few have fewer logits than their
        tokenizer has ids, which is fine while the ids that are cut off are special tokens.

        >>> TokenTable(tokens=[b"a"]).padded(2).tokens
        [b'a', None]

        Raises:
            VocabularyError: The cut would lose an id that spells text or ends a sequence.
        """
        for token_id in range(size, self.size):
            if self.tokens[token_id] is not None or token_id in self.stop:
                what = "ends a sequence" if token_id in self.stop else "spells text"
                raise VocabularyError(
                    f"{size} logits are too few for {self.size} tokens: id {token_id} {what}"
                )
        padding: list[bytes | None] = [None] * (size - self.size)
        special = {name: token_id for name, token_id in self.special.items() if token_id < size}
        return replace(self, tokens=self.tokens[:size] + padding, special=special)

    def _require_textless(self, token_id: int, what: str) -> None:
        if not 0 <= token_id < len(self.tokens):
            raise VocabularyError(f"{what} has id {token_id}, outside 0..{len(self.tokens) - 1}")
        if self.tokens[token_id] is not None:
            text = self.tokens[token_id]
            raise VocabularyError(f"{what} has id {token_id}, which spells {text!r}")

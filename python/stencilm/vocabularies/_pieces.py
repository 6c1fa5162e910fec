"""The pieces of a Hugging Face vocabulary: its model's tokens and the added ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies._decoders import PieceDecoder
from stencilm.vocabularies._options import SpellPiece, require_dense

__all__ = ["Pieces", "config_stop", "decoder_notes"]


_ROLES = {f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")}


class Pieces:
    """Tokens by id as the vocabulary writes them.

    >>> pieces = Pieces({"a": 0, "b": 1})
    >>> pieces.add("</s>", special=True)
    >>> pieces.of_id, pieces.special
    ({0: 'a', 1: 'b', 2: '</s>'}, {'</s>': 2})
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._ids = dict(vocabulary)
        for piece, token_id in self._ids.items():
            if type(piece) is not str or type(token_id) is not int or token_id < 0:
                raise VocabularyError(f"token {piece!r} has the id {token_id!r}")
        self._next_id = len(vocabulary)
        self.special: dict[str, int] = {}

    @property
    def of_id(self) -> dict[int, str]:
        """The piece of each id."""
        return {token_id: piece for piece, token_id in self._ids.items()}

    def add(self, piece: str, *, special: bool) -> None:
        """Add one token, with the id that the `tokenizers` library gives it.

        That is the id of an equal piece, else the next free one, whatever a file says.
        """
        if not piece:
            return
        token_id = self._ids.setdefault(piece, self._next_id)
        self._next_id = max(self._next_id, token_id + 1)
        if special:
            self.special[piece] = token_id

    def add_configured(self, config: Mapping[str, Any]) -> None:
        """Add what a `tokenizer_config.json` adds to its `tokenizer.json`.

        >>> pieces = Pieces({"a": 0})
        >>> pieces.add_configured({"pad_token": "[PAD]"})
        >>> pieces.special
        {'[PAD]': 1}
        """
        listed = config.get("added_tokens_decoder") or {}
        for _, token in sorted(listed.items(), key=lambda item: int(item[0])):
            self.add(token["content"], special=token.get("special", False))
        for key, value in config.items():
            name = _content(value) if key.endswith("_token") else None
            # Other names than these may be signs for the tokenizer's own use, as `<FILL_ME>` is.
            if name and (key in _ROLES or name in self._ids):
                self.add(name, special=True)
        for key in ("additional_special_tokens", "extra_special_tokens"):
            values = config.get(key) or []
            for value in values.values() if isinstance(values, Mapping) else values:
                if name := _content(value):
                    self.add(name, special=True)

    def spell(self, spell: SpellPiece) -> list[bytes | None]:
        """The bytes of each id, None for special tokens and ids that no token has."""
        size = max(self._ids.values(), default=-1) + 1
        require_dense(size, len(self._ids))
        tokens: list[bytes | None] = [None] * size
        special = set(self.special.values())
        for piece, token_id in self._ids.items():
            try:
                tokens[token_id] = None if token_id in special else spell(piece)
            except UnicodeEncodeError:
                raise VocabularyError(f"token {piece!r} is not text") from None
        return tokens


def config_stop(config: Mapping[str, Any]) -> list[int | str]:
    """The token that ends a sequence, according to a `tokenizer_config.json`.

    >>> config_stop({"eos_token": {"content": "</s>"}})
    ['</s>']
    """
    name = _content(config.get("eos_token"))
    return [name] if name else []


def decoder_notes(decoder: PieceDecoder, *, cleans_up: bool) -> Iterable[str]:
    """The notes for a table."""
    if decoder.strips_first_space:
        yield "decode drops a space at the very start of a text"
    if cleans_up:
        yield (
            "clean_up_tokenization_spaces is on in this tokenizer's configuration: decode with "
            "clean_up_tokenization_spaces=False, or the text differs from what was constrained"
        )


def _content(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else None

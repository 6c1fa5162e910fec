"""The tokens of a model."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from stencilm import _core
from stencilm._exceptions import StencilmError, VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stencilm.vocabularies.table import TokenTable

__all__ = ["Vocabulary"]

_STORE_BYTES = 256 << 20

_USUAL_TEXTS = [
    *(b"", b'"', b'"a', b'"a\\', b'"a\\u00', b"-", b"0", b"12", b"1.", b"1.5", b"1e", b"1e5"),
    *(b"{", b'{"', b'{"a', b'{"a"', b'{"a":', b'{"a": ', b'{"a": 1', b'{"a": 1,', b'{"a": "b'),
    *(b"[", b"[ ", b"[1", b"[1,", b'["a', b"[[", b"[{", b"t", b"n"),
]


class Vocabulary(_core.Vocabulary):
    """What each token of a model spells. Immutable and shared by all grammars.

    >>> vocabulary = Vocabulary.from_tokens([b"a", b"b", None], stop=[2])
    >>> vocabulary.size, vocabulary.token_bytes(1)
    (3, b'b')
    """

    store: _core.Store
    """What all grammars compiled with this vocabulary share."""

    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[bytes | None],
        *,
        special: Mapping[str, int] | None = None,
        stop: Iterable[int] = (),
        store_bytes: int = _STORE_BYTES,
    ) -> Vocabulary:
        """A vocabulary from the bytes of each token.

        Args:
            tokens: Token *i* spells `tokens[i]`; None for one that stands for no text.
            special: Special tokens by name; they may be named in grammars.
            stop: Ids that end a text.
            store_bytes: Most bytes of what grammars share.

        Raises:
            VocabularyError: No token has a text, or an id is not in it.
        """
        special, stop = dict(special or {}), list(stop)
        for token in (*special.values(), *stop):
            if not 0 <= token < len(tokens):
                raise VocabularyError(f"token {token} is not in the vocabulary of {len(tokens)}")
        made = cls(list(tokens), special=special, stop=stop)
        return made._ready(store_bytes)

    @classmethod
    def load(cls, source: Any, **options: Any) -> Vocabulary:
        """A vocabulary from a tokenizer: a file, a folder, or an object of a library.

        See `stencilm.vocabularies.load` for what `source` and `options` may be.
        """
        from stencilm.vocabularies import load

        return cls.from_table(load(source, **options))

    @classmethod
    def from_table(cls, table: TokenTable) -> Vocabulary:
        """A vocabulary from a table of tokens."""
        return cls.from_tokens(table.tokens, special=table.special, stop=table.stop)

    @classmethod
    def restore(cls, data: bytes, *, store_bytes: int = _STORE_BYTES) -> Vocabulary:
        """A vocabulary from what `to_bytes` gave.

        Raises:
            VocabularyError: The bytes are not that.

        >>> saved = Vocabulary.from_tokens([b"a", b"b"]).to_bytes()
        >>> Vocabulary.restore(saved).size
        2
        """
        return cls(saved=data)._ready(store_bytes)

    def renew_store(self) -> None:
        """Drops what grammars share; those compiled before keep what they have."""
        self.store = _core.Store(self._store_bytes)

    def _ready(self, store_bytes: int) -> Vocabulary:
        self._store_bytes = store_bytes
        self.renew_store()
        self._warm()
        return self

    def _warm(self) -> None:
        """Makes what nearly every schema needs: states of strings, numbers and white space."""
        try:
            grammar = _core.Grammar.json_schema("true")
            compiled = _core.CompiledGrammar(grammar, self, self.store)
            mask = array("i", bytes(4 * self.words))
            for text in _USUAL_TEXTS:
                matcher = compiled.matcher()
                if not text or matcher.accept_bytes(text):
                    matcher.fill_mask(mask)
        except StencilmError:
            # A vocabulary that cannot spell JSON has no use for it.
            pass

"""The tokens of a model as XGrammar describes them."""

from __future__ import annotations

import json
import re
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stencilm import Vocabulary
from stencilm.compat.xgrammar.exceptions import DeserializeFormatError, runtime_errors
from stencilm.compat.xgrammar.saved import read_saved, write_saved
from stencilm.vocabularies import byte_level

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TokenizerInfo", "VocabType"]

_STOP_TEXTS = frozenset(
    {
        *("</s>", "<eos>", "<|eos|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>"),
        *("<|im_end|>", "<|end|>", "<|eom_id|>", "<end_of_turn>", "<turn|>"),
        *("<｜end▁of▁sentence｜>", "<|return|>", "<|eom|>", "<|eot|>", "[EOS]"),
    }
)
"""Tokens that end a text in the models that people use."""

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE_MARK = "▁"
_NAMED = re.compile(rb"<[^<>\s]+>")


class VocabType(Enum):
    """How the texts of tokens are written."""

    RAW = 0
    """As they are."""
    BYTE_FALLBACK = 1
    """`▁` for a space, `<0x1B>` for a byte: SentencePiece."""
    BYTE_LEVEL = 2
    """A printable character for each byte: GPT-2."""


class TokenizerInfo:
    """The tokens of a model.

    Args:
        encoded_vocab: Token *i* is `encoded_vocab[i]`.
        vocab_type: How these texts are written.
        vocab_size: Of the model, where its logits are wider than the vocabulary.
        stop_token_ids: Tokens that end a text; if not given, those that are known by their text.
        add_prefix_space: Whether the tokenizer puts a space before a text. Only kept.

    >>> info = TokenizerInfo(["a", "</s>"], vocab_size=32)
    >>> info.stop_token_ids, info.special_token_ids[:2], info.vocab_size
    ([1], [2, 3], 32)
    """

    def __init__(
        self,
        encoded_vocab: Sequence[bytes] | Sequence[str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Sequence[int] | int | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        decoded = _decoded(encoded_vocab, vocab_type)
        self._vocab_type = vocab_type
        self._vocab_size = len(decoded) if vocab_size is None else vocab_size
        self._add_prefix_space = add_prefix_space
        if self._vocab_size < len(decoded):
            raise RuntimeError(
                f"vocab_size is {self._vocab_size}, but there are {len(decoded)} tokens"
            )
        if stop_token_ids is None:
            stops = [at for at, text in enumerate(decoded) if _is_stop(text)]
        elif isinstance(stop_token_ids, int):
            stops = [stop_token_ids]
        else:
            stops = list(stop_token_ids)
        self._decoded = decoded
        self._stop = [token for token in stops if 0 <= token < self._vocab_size]
        self._vocabularies: dict[tuple[frozenset[int], frozenset[int]], Vocabulary] = {}

    @staticmethod
    def from_huggingface(
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: Sequence[int] | int | None = None,
    ) -> TokenizerInfo:
        """The tokens of a tokenizer of transformers.

        The bytes of each token come from the tokenizer's own tables and decoder.

        Args:
            tokenizer: A fast tokenizer, or one over tiktoken or SentencePiece.
            vocab_size: Of the model, if its logits are wider.
            stop_token_ids: Tokens that end a text; the tokenizer's own if not given.

        Raises:
            ValueError: Tables that cannot be read.
        """
        from stencilm.compat.xgrammar.huggingface import read_tokenizer

        return read_tokenizer(TokenizerInfo, tokenizer, vocab_size, stop_token_ids)

    @property
    def vocab_type(self) -> VocabType:
        """How the texts of tokens are written."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """Tokens of the model."""
        return self._vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before a text."""
        return self._add_prefix_space

    @property
    def prepend_space_in_tokenization(self) -> bool:
        """The old name of `add_prefix_space`."""
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """What each token spells."""
        return self._decoded

    @property
    def stop_token_ids(self) -> list[int]:
        """Tokens that end a text."""
        return self._stop

    @cached_property
    def special_token_ids(self) -> list[int]:
        """Tokens without a text."""
        empty = [at for at, text in enumerate(self._decoded) if not text]
        return empty + list(range(len(self._decoded), self._vocab_size))

    def dump_metadata(self) -> str:
        """All but the vocabulary, as JSON.

        >>> TokenizerInfo(["a"]).dump_metadata()
        '{"vocab_type":0,"vocab_size":1,"add_prefix_space":false,"stop_token_ids":[]}'
        """
        return json.dumps(self._metadata(), separators=(",", ":"))

    @staticmethod
    def from_vocab_and_metadata(
        encoded_vocab: Sequence[bytes | str], metadata: str
    ) -> TokenizerInfo:
        """The tokens, with what `dump_metadata` gave.

        Raises:
            RuntimeError: That is not it.
        """
        given: Any = encoded_vocab
        try:
            read = json.loads(metadata)
            kind = VocabType(read["vocab_type"])
            size, stops = read["vocab_size"], list(read["stop_token_ids"])
            prefix = bool(read.get("add_prefix_space", False))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RuntimeError(f"this is no metadata of a tokenizer: {error}") from error
        return TokenizerInfo(
            given, kind, vocab_size=size, stop_token_ids=stops, add_prefix_space=prefix
        )

    @staticmethod
    def _detect_metadata_from_hf(backend_str: str) -> dict[str, Any]:
        """What a `tokenizer.json` says of its vocabulary. TensorRT-LLM asks this."""
        from stencilm.compat.xgrammar.huggingface import read_backend

        kind, prefix = read_backend(backend_str)
        return {"vocab_type": kind, "add_prefix_space": prefix}

    def serialize_json(self) -> str:
        r"""All of it as JSON.

        >>> info = TokenizerInfo([b"a", bytes([0xFF])])
        >>> TokenizerInfo.deserialize_json(info.serialize_json()).decoded_vocab[1]
        b'\xff'
        """
        vocab = [text.decode("latin-1") for text in self._decoded]
        return write_saved("TokenizerInfo", {**self._metadata(), "decoded_vocab": vocab})

    @staticmethod
    def deserialize_json(json_string: str) -> TokenizerInfo:
        """What `serialize_json` wrote.

        Raises:
            InvalidJSONError: This is no JSON.
            DeserializeVersionError: It is of another version.
            DeserializeFormatError: It is something else.
        """
        read = read_saved("TokenizerInfo", json_string)
        try:
            vocab = [text.encode("latin-1") for text in read["decoded_vocab"]]
            made = TokenizerInfo(
                vocab,
                vocab_size=read["vocab_size"],
                stop_token_ids=read["stop_token_ids"],
                add_prefix_space=read["add_prefix_space"],
            )
            made._vocab_type = VocabType(read["vocab_type"])
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise DeserializeFormatError(f"this is no TokenizerInfo: {error}") from error
        return made

    def _written_as(self, kind: int) -> TokenizerInfo:
        """The same, said to be written in this way."""
        self._vocab_type = VocabType(kind)
        return self

    def _metadata(self) -> dict[str, Any]:
        return {
            "vocab_type": self._vocab_type.value,
            "vocab_size": self._vocab_size,
            "add_prefix_space": self._add_prefix_space,
            "stop_token_ids": self._stop,
        }

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The first token of each text."""
        return {text: at for at, text in reversed(list(enumerate(self._decoded)))}

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest token."""
        return max(map(len, self._decoded), default=0)

    def vocabulary(self, stops: Sequence[int]) -> Vocabulary:
        """The vocabulary with these tokens ending a text; made once for each.

        A stop token spells nothing: inside a text it would end it.

        Raises:
            RuntimeError: It cannot be used.
        """
        key = (frozenset(stops), frozenset(self._stop))
        known = self._vocabularies.get(key)
        if known is None:
            known = self._vocabularies[key] = self._make(stops)
        return known

    def _make(self, stops: Sequence[int]) -> Vocabulary:
        size = self._vocab_size
        if not any(self._decoded):
            # Nothing to mask: grammars are only asked for texts.
            return Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
        texts: list[bytes | None] = [text or None for text in self._decoded]
        texts += [None] * (size - len(texts))
        for token in {*stops, *self._stop}:
            texts[token] = None
        named = {
            text.decode(): at
            for text, at in self.ids.items()
            if _NAMED.fullmatch(text) and _is_utf8(text)
        }
        with runtime_errors():
            return Vocabulary.from_tokens(texts, special=named, stop=stops)


def _decoded(vocab: Sequence[bytes] | Sequence[str], kind: VocabType) -> list[bytes]:
    texts: list[bytes | str] = list(vocab)
    if kind is VocabType.RAW:
        return [text if isinstance(text, bytes) else text.encode() for text in texts]
    if kind is VocabType.BYTE_FALLBACK:
        return [_fallback(_as_text(text)) for text in texts]
    return [_level(_as_text(text)) for text in texts]


def _as_text(text: bytes | str) -> str:
    return text.decode() if isinstance(text, bytes) else text


def _fallback(text: str) -> bytes:
    if byte := _BYTE.fullmatch(text):
        return bytes([int(byte[1], 16)])
    return text.replace(_SPACE_MARK, " ").encode()


def _level(text: str) -> bytes:
    # Added tokens are not written in the alphabet.
    found = byte_level(text)
    return text.encode() if found is None else found


def _is_stop(text: bytes) -> bool:
    return _is_utf8(text) and text.decode() in _STOP_TEXTS


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True

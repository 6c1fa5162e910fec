"""Tokenizers of transformers as `TokenizerInfo`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from stencilm import VocabularyError
from stencilm.vocabularies import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo

__all__ = ["read_backend", "read_tokenizer"]

_RAW, _BYTE_FALLBACK, _BYTE_LEVEL = range(3)


def read_tokenizer(
    make: type[TokenizerInfo],
    tokenizer: Any,
    vocab_size: int | None,
    stop_token_ids: Sequence[int] | int | None,
) -> TokenizerInfo:
    """The tokens with the bytes that the tokenizer's own tables and decoder give them.

    A special token has its name for a text, as in XGrammar; where a grammar may have that text,
    that is what it is.

    Raises:
        ValueError: Tables that cannot be read.
    """
    try:
        table = load(tokenizer)
    except VocabularyError as error:
        raise ValueError(f"the tokenizer cannot be read: {error}") from error
    texts = [token or b"" for token in table.tokens]
    for name, token_id in table.special.items():
        texts[token_id] = name.encode()
    if vocab_size is not None:
        texts = texts[:vocab_size]
    stops: Any = list(table.stop) if stop_token_ids is None else stop_token_ids
    backend = getattr(tokenizer, "backend_tokenizer", None)
    kind, prefix = (_RAW, False) if backend is None else read_backend(backend.to_str())
    info = make(texts, vocab_size=vocab_size, stop_token_ids=stops, add_prefix_space=prefix)
    return info._written_as(kind)


def read_backend(text: str) -> tuple[int, bool]:
    """How a `tokenizer.json` writes tokens, and whether it puts a space before a text."""
    read = json.loads(text)
    steps = _steps(read.get("decoder")) + _steps(read.get("pre_tokenizer"))
    kinds = {step.get("type") for step in steps}
    kind = _RAW
    if "ByteLevel" in kinds:
        kind = _BYTE_LEVEL
    elif "ByteFallback" in kinds:
        kind = _BYTE_FALLBACK
    normal = _steps(read.get("normalizer")) + _steps(read.get("pre_tokenizer"))
    prefix = any(
        step.get("type") == "Prepend"
        or step.get("prepend_scheme") in ("always", "first")
        or step.get("add_prefix_space") is True
        for step in normal
    )
    return kind, prefix


def _steps(step: Any) -> list[dict[str, Any]]:
    if not isinstance(step, dict):
        return []
    inner = step.get("decoders") or step.get("pretokenizers") or step.get("normalizers")
    if not isinstance(inner, list):
        return [step]
    return [deep for part in inner for deep in _steps(part)]

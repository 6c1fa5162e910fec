"""Parsing vocabularies in JSON without their merges."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stencilm._exceptions import VocabularyError

__all__ = ["parse"]

_MERGES = re.compile(rb'(?<!\\)"merges"\s*:\s*\[')
_NEEDED = {"added_tokens", "decoder", "model"}


def parse(content: bytes) -> Mapping[str, Any]:
    """The content of a `tokenizer.json` or Tekken file; the merges of a BPE model may be missing.

    They are most of the time that a file takes to parse, and say nothing of how tokens are spelled.

    >>> parse(b'{"added_tokens": [], "decoder": null, "model": {"vocab": {}, "merges": ["a b"]}}')
    {'added_tokens': [], 'decoder': None, 'model': {'vocab': {}, 'merges': []}}

    Raises:
        VocabularyError: It is not JSON, or no object.
    """
    document = _without_merges(content)
    if document is None:
        try:
            document = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise VocabularyError(f"the vocabulary is not JSON: {error}") from None
    if not isinstance(document, Mapping):
        raise VocabularyError("the vocabulary is JSON, but not an object")
    return document


def _without_merges(content: bytes) -> Any | None:
    """The document, if its last array is the merges and what is needed comes before it."""
    match = _MERGES.search(content)
    if match is None:
        return None
    end = content.rfind(b"]")
    if content[end + 1 :].strip(b" \t\r\n}"):
        return None
    try:
        document = json.loads(content[: match.end()] + content[end:])
    except (ValueError, RecursionError):
        return None
    # Whatever stands between the merges and the last array was dropped: it must not be needed.
    if isinstance(document, dict) and document.keys() >= _NEEDED:
        model = document["model"]
        if isinstance(model, dict) and "vocab" in model and ("type" in model or "merges" in model):
            return document
    return None

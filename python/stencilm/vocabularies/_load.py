"""Find out what a tokenizer is, and load it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies import (
    gguf,
    huggingface,
    mistral,
    plain,
    sentencepiece,
    tiktoken,
    tokenizer_json,
)
from stencilm.vocabularies._json_text import parse
from stencilm.vocabularies._options import finish, stop_list
from stencilm.vocabularies.table import TokenTable

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options, SpellPiece, Stop

__all__ = ["load"]

_FOLDER = ("tokenizer.json", "tekken*.json", "*.tiktoken", "*.model", "*.model.v*", "*.gguf")
"""What a folder's vocabulary is read from: the first of these that it has."""


def load(
    source: object,
    *,
    special: Mapping[str, int] | None = None,
    decode: SpellPiece | None = None,
    **options: Unpack[Options],
) -> TokenTable:
    """The bytes of every token of a tokenizer, whatever it comes as.

    >>> load([b"a", b"b", None], special={"</s>": 2}, stop="</s>").stop
    (2,)

    Args:
        source: A folder as models are published in; a `tokenizer.json`, Tekken, GGUF, SentencePiece
            or tiktoken file, by path, content or parsed content; a tokenizer object of
            `transformers`, `tokenizers`, `tiktoken`, `sentencepiece`, `mistral_common` or `gguf`;
            or a list with the bytes of each token.
        special: The names and ids of special tokens, for tiktoken files and plain lists.
        decode: What one token spells, for vocabularies of Hugging Face whose own decoder does not
            give each token bytes of its own: from a token as the vocabulary writes it to bytes.
        **options: `stop`: further ids or names of tokens that end a sequence; `vocab_size`: the
            width of the model's logits; `leading_space`: see `TokenTable`.

    Raises:
        VocabularyError: It is not a vocabulary, or one whose tokens have no bytes of their own.
    """
    match source:
        case TokenTable():
            names = source.special if special is None else special
            options.setdefault("leading_space", source.leading_space)
            return finish(source.tokens, names, source.stop, source.notes, **options)
        case Mapping() | bytes():
            return _content(source, special, decode, **options)
        case str() if source.lstrip().startswith("{"):
            return _content(source.encode(), special, decode, **options)
        case str() | PathLike():
            return _path(Path(source), special, decode, **options)
        case list() | tuple():
            return plain.load(source, special=special, **options)
        case _:
            return _object(source, special, decode, **options)


def _path(
    path: Path,
    special: Mapping[str, int] | None,
    decode: SpellPiece | None,
    **options: Unpack[Options],
) -> TokenTable:
    if path.is_dir():
        return _folder(path, special, decode, **options)
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
    except OSError as error:
        raise VocabularyError(f"the vocabulary cannot be read: {error}") from None
    if is_gguf:
        _refuse("GGUF", special=special, decode=decode)
        return gguf.load(path, **options)
    return _content(path.read_bytes(), special, decode, **options)


def _folder(
    folder: Path,
    special: Mapping[str, int] | None,
    decode: SpellPiece | None,
    **options: Unpack[Options],
) -> TokenTable:
    for pattern in _FOLDER:
        if found := sorted(folder.glob(pattern)):
            break
    else:
        names = ", ".join(_FOLDER)
        raise VocabularyError(f"the folder {folder} has no vocabulary: none of {names}")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise VocabularyError(f"the folder {folder} has several vocabularies, choose one: {names}")
    generation_stop: Stop = _json(folder / "generation_config.json").get("eos_token_id") or ()
    options["stop"] = stop_list(generation_stop, options.get("stop", ()))
    if found[0].name != "tokenizer.json":
        return _path(found[0], special, decode, **options)
    _refuse("tokenizer.json", special=special)
    config = {
        **_json(folder / "special_tokens_map.json"),
        **_json(folder / "tokenizer_config.json"),
    }
    return tokenizer_json.load(found[0], config=config, decode=decode, **options)


def _content(
    content: bytes | Mapping[str, Any],
    special: Mapping[str, int] | None,
    decode: SpellPiece | None,
    **options: Unpack[Options],
) -> TokenTable:
    if isinstance(content, bytes):
        if not content.lstrip().startswith(b"{"):
            return _ranks_or_model(content, special, decode, **options)
        content = parse(content)
    if "config" in content and "vocab" in content:
        _refuse("Tekken", special=special, decode=decode)
        return mistral.load_tekken(content, **options)
    _refuse("tokenizer.json", special=special)
    return tokenizer_json.load(content, decode=decode, **options)


def _ranks_or_model(
    content: bytes,
    special: Mapping[str, int] | None,
    decode: SpellPiece | None,
    **options: Unpack[Options],
) -> TokenTable:
    first_line = content[:4096].partition(b"\n")[0].split()
    if len(first_line) == 2 and first_line[1].isdigit():
        _refuse("tiktoken", decode=decode)
        return tiktoken.load(content, special=special, **options)
    _refuse("SentencePiece", special=special, decode=decode)
    return sentencepiece.load(content, **options)


def _object(
    source: object,
    special: Mapping[str, int] | None,
    decode: SpellPiece | None,
    **options: Unpack[Options],
) -> TokenTable:
    for base in type(source).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("transformers", "tokenizers"):
            _refuse(library, special=special)
            return huggingface.load(source, decode=decode, **options)
        loaders = {
            "tiktoken": tiktoken.from_encoding,
            "sentencepiece": sentencepiece.load,
            "mistral_common": mistral.load,
            "gguf": gguf.load,
        }
        if library in loaders:
            _refuse(library, special=special, decode=decode)
            return loaders[library](source, **options)
    kind = f"{type(source).__module__}.{type(source).__qualname__}"
    raise VocabularyError(f"a vocabulary cannot be read from an object of type {kind}")


def _refuse(source: str, **unusable: object) -> None:
    for name, value in unusable.items():
        if value is not None:
            raise VocabularyError(f"{name}= has no meaning for {source} vocabularies")


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise VocabularyError(f"{path.name} is not JSON: {error}") from None
    if not isinstance(content, Mapping):
        raise VocabularyError(f"{path.name} is not an object")
    return content

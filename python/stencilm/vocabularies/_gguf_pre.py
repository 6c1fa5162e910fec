"""The ways in which byte-level GGUF vocabularies cut text before they merge.

Files name the way, they do not describe it. A wrong one still encodes and decodes, but into tokens
that the model has never seen: SmolLM2 without the cut at digits reads `  12` differently. So only
names that are known are used. Each pattern is the one of the tokenizer that the model was trained
with.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WAYS", "Way"]

_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_HEAD = r"[^\r\n\p{L}\p{N}]?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How text is cut into words."""

    patterns: tuple[str, ...]
    """Each cuts the words of the one before; what does not match is a word too."""
    whole_words_first: bool = False
    """Whether a word that is a token stays whole, whatever the merges make of it."""


def _letters_and_digits(digits: str) -> str:
    punctuation = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
    return rf"{_CONTRACTIONS}|{_HEAD}\p{{L}}+|{digits}|{punctuation}|{_SPACES}"


def _by_case(contractions: str, digits: str) -> str:
    lower = rf"{_HEAD}{_UPPER}*{_LOWER}+{contractions}"
    upper = rf"{_HEAD}{_UPPER}+{_LOWER}*{contractions}"
    return rf"{lower}|{upper}|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"


_DEEPSEEK = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ\u30a0-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|" + _SPACES,
)

_BY_WAY = {
    "gpt-2 mpt olmo jais exaone4": Way(patterns=(_GPT2,)),
    "smollm starcoder refact command-r codeshell": Way(patterns=(r"\p{N}", _GPT2)),
    "llama-bpe llama3 llama-v3": Way(
        patterns=(_letters_and_digits(r"\p{N}{1,3}"),), whole_words_first=True
    ),
    "qwen2 deepseek-r1-qwen": Way(patterns=(_letters_and_digits(r"\p{N}"),)),
    "deepseek-v3": Way(patterns=_DEEPSEEK),
    "gpt-4o llama4": Way(
        patterns=(_by_case(rf"{_CONTRACTIONS}?", r"\p{N}{1,3}"),), whole_words_first=True
    ),
    "tekken": Way(patterns=(_by_case("", r"\p{N}"),), whole_words_first=True),
}

WAYS = {name: way for names, way in _BY_WAY.items() for name in names.split()}
"""By the value of `tokenizer.ggml.pre`."""

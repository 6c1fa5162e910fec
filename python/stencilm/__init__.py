"""The exact set of tokens that may come next, for any grammar.

>>> from stencilm import Compiler, Grammar, Vocabulary, allocate_mask, allowed_ids
>>> vocabulary = Vocabulary.from_tokens([bytes([b]) for b in range(256)] + [None], stop=[256])
>>> matcher = Compiler(vocabulary).compile(Grammar.from_regex("ab?")).matcher()
>>> mask = allocate_mask(1, vocabulary.size)
>>> matcher.accept(ord("a"))
True
>>> matcher.fill_mask(mask)
>>> allowed_ids(mask[0]).tolist()
[98, 256]
"""

from stencilm._cache import CacheUse
from stencilm._compiler import Capture, CompiledGrammar, Compiler, Matcher
from stencilm._core import Cancel, accept_tokens, fill_masks
from stencilm._exceptions import (
    Cancelled,
    GrammarError,
    GrammarSyntaxError,
    InternalError,
    LimitError,
    StencilmError,
    UnsatisfiableError,
    UnsupportedError,
    VocabularyError,
)
from stencilm._explanation import Explanation, Reason
from stencilm._forced import forced_tokens
from stencilm._generate import Generation, generate
from stencilm._grammar import Grammar
from stencilm._inputs import function_schema
from stencilm._limits import Limits
from stencilm._masks import allocate_mask, allowed_ids, apply_mask
from stencilm._report import Report
from stencilm._vocabulary import Vocabulary

__version__ = "0.1.0"

__all__ = [
    "CacheUse",
    "Cancel",
    "Cancelled",
    "Capture",
    "CompiledGrammar",
    "Compiler",
    "Explanation",
    "Generation",
    "Grammar",
    "GrammarError",
    "GrammarSyntaxError",
    "InternalError",
    "LimitError",
    "Limits",
    "Matcher",
    "Reason",
    "Report",
    "StencilmError",
    "UnsatisfiableError",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "accept_tokens",
    "allocate_mask",
    "allowed_ids",
    "apply_mask",
    "fill_masks",
    "forced_tokens",
    "function_schema",
    "generate",
]

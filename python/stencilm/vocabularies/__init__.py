"""From tokenizers to the bytes of their tokens: one file for each kind of tokenizer.

The bytes come from a tokenizer's own tables and decoder steps, never from `decode([id])`, which
cannot show a token that ends inside a character. No library is imported until one of its objects
is given.
"""

from ._byte_level import byte_level
from ._load import load
from .probe import probe
from .table import LeadingSpace, TokenTable

__all__ = ["LeadingSpace", "TokenTable", "byte_level", "load", "probe"]

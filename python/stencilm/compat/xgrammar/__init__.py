"""XGrammar's interface over this engine: change the import, and nothing else.

    import stencilm.compat.xgrammar as xgr

Names, arguments and defaults are those of XGrammar 0.2.9. `docs/from-xgrammar.md` lists what is
different. Masks are tensors of torch, which is imported when the first one is made.

>>> import stencilm.compat.xgrammar as xgr
>>> info = xgr.TokenizerInfo(["a", "b", "</s>"])
>>> matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_regex("ab*"))
>>> bitmask = xgr.allocate_token_bitmask(1, info.vocab_size)
>>> matcher.accept_token(0), matcher.fill_next_token_bitmask(bitmask), int(bitmask[0, 0])
(True, True, 6)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stencilm.compat.xgrammar import exceptions as exception
from stencilm.compat.xgrammar import structural_tag, testing
from stencilm.compat.xgrammar.batch import BatchGrammarMatcher
from stencilm.compat.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from stencilm.compat.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from stencilm.compat.xgrammar.config import (
    get_max_recursion_depth,
    get_serialization_version,
    max_recursion_depth,
    set_max_recursion_depth,
)
from stencilm.compat.xgrammar.exceptions import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
    InvalidStructuralTagError,
)
from stencilm.compat.xgrammar.grammar import Grammar
from stencilm.compat.xgrammar.matcher import GrammarMatcher
from stencilm.compat.xgrammar.model_tags import (
    get_builtin_structural_tag,
    get_model_structural_tag,
    normalize_tool_choice,
    register_model_structural_tag,
)
from stencilm.compat.xgrammar.structural_tag import StructuralTag, StructuralTagItem
from stencilm.compat.xgrammar.tokenizer_info import TokenizerInfo, VocabType

if TYPE_CHECKING:
    from stencilm.compat.xgrammar.bitmask import bitmask_dtype as bitmask_dtype
    from stencilm.compat.xgrammar.contrib import hf as hf

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "DeserializeFormatError",
    "DeserializeVersionError",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "exception",
    "get_bitmask_shape",
    "get_builtin_structural_tag",
    "get_max_recursion_depth",
    "get_model_structural_tag",
    "get_serialization_version",
    "hf",
    "max_recursion_depth",
    "normalize_tool_choice",
    "register_model_structural_tag",
    "reset_token_bitmask",
    "set_max_recursion_depth",
    "structural_tag",
    "testing",
]


def __getattr__(name: str) -> Any:
    """What needs a heavy library is loaded when it is asked for."""
    if name == "bitmask_dtype":
        from stencilm.compat.xgrammar import bitmask

        return bitmask.bitmask_dtype
    if name == "hf":
        from stencilm.compat.xgrammar.contrib import hf

        return hf
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

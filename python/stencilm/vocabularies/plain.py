"""A vocabulary given as its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from stencilm.vocabularies._options import finish

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies._options import Options
    from stencilm.vocabularies.table import TokenTable

__all__ = ["load"]


def load(
    tokens: Iterable[bytes | str | None],
    *,
    special: Mapping[str, int] | None = None,
    **options: Unpack[Options],
) -> TokenTable:
    """A table of the given tokens, each at the id that is its place.

    >>> load(["a", b"b", None], special={"<end>": 2}, stop="<end>").tokens
    [b'a', b'b', None]

    Args:
        tokens: What each id spells; None, or nothing at all, for an id that is not text.
        special: The names and ids of the special tokens.
        **options: See `Options`.
    """
    spelled = [token.encode() if isinstance(token, str) else token for token in tokens]
    return finish(spelled, special or {}, **options)

"""The options that every source takes, and the last step that applies them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypedDict

from stencilm._exceptions import VocabularyError
from stencilm.vocabularies.table import TokenTable

if TYPE_CHECKING:
    from typing import Unpack

    from stencilm.vocabularies.table import LeadingSpace

__all__ = ["Options", "SpellPiece", "Stop", "finish", "require_dense", "stop_list"]

Stop = int | str | Iterable[int | str]
"""One or more ids or names of tokens that end a sequence, as generation configs give them."""

SpellPiece = Callable[[str], bytes | None]
"""From a token as the vocabulary writes it (`"##ing"`) to its bytes, None if it is not text."""


class Options(TypedDict, total=False):
    """What every source takes besides the tokenizer itself."""

    stop: Stop
    """Further tokens that end a sequence, besides those that the tokenizer names."""
    vocab_size: int | None
    """The width of the model's logits, if it is not the tokenizer's own."""
    leading_space: LeadingSpace
    """See `TokenTable.leading_space`."""


def stop_list(*stops: Stop) -> list[int | str]:
    """All of them, in order.

    >>> stop_list(2, [1, "<eos>"], ())
    [2, 1, '<eos>']
    """
    listed: list[int | str] = []
    for stop in stops:
        listed.extend([stop] if isinstance(stop, int | str) else stop)
    return listed


def require_dense(size: int, count: int) -> None:
    """Refuse ids that are far apart: a table has room for each, used or not.

    >>> require_dense(10**12, 3)
    Traceback (most recent call last):
        ...
    stencilm._exceptions.VocabularyError: ids up to 999999999999 for 3 tokens: this is damaged
    """
    if size > 4 * count + 65_536:
        raise VocabularyError(f"ids up to {size - 1} for {count} tokens: this is damaged")


def finish(
    tokens: Iterable[bytes | None],
    special: Mapping[str, int],
    own_stop: Stop = (),
    notes: Iterable[str] = (),
    **options: Unpack[Options],
) -> TokenTable:
    """Make the table: resolve stop tokens, take the text from what is special, pad.

    Args:
        tokens: The bytes of each id. Empty ones become None: they spell nothing.
        special: The names of special tokens.
        own_stop: The tokens that end a sequence according to the tokenizer itself.
        notes: See `TokenTable.notes`.
        **options: The caller's options.
    """
    spelled = [token or None for token in tokens]
    vocab_size = options.get("vocab_size")
    if vocab_size is not None:
        spelled.extend([None] * (vocab_size - len(spelled)))
    ids: dict[int, None] = {}
    for stop in stop_list(own_stop, options.get("stop", ())):
        ids[_resolve(stop, spelled, special)] = None
    for token_id in [*special.values(), *ids]:
        if not 0 <= token_id < len(spelled):
            raise VocabularyError(f"token id {token_id} is outside 0..{len(spelled) - 1}")
        spelled[token_id] = None
    table = TokenTable(
        tokens=spelled,
        special=dict(special),
        stop=tuple(ids),
        leading_space=options.get("leading_space", "keep"),
        notes=tuple(notes),
    )
    return table if vocab_size is None else table.padded(vocab_size)


def _resolve(stop: int | str, tokens: list[bytes | None], special: Mapping[str, int]) -> int:
    if isinstance(stop, int):
        return stop
    if stop in special:
        return special[stop]
    try:
        return tokens.index(stop.encode())
    except ValueError:
        raise VocabularyError(f"the vocabulary has no stop token {stop!r}") from None

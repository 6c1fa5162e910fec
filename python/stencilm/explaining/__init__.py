"""Why not? Which place in a grammar forbids a token or a text.

A JSON Schema is asked by trying: each keyword that speaks about the place is left out in turn and
the text offered again, so that what is found does forbid it. That is slow, exact, and for people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stencilm._explanation import Explanation, Reason
from stencilm._limits import Limits
from stencilm.explaining.schema import Found, find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stencilm import _core
    from stencilm._grammar import Grammar

__all__ = ["explain"]

_MOST_FORCED = 200
_PIECE = 4096


def explain(
    matcher: _core.Matcher,
    refused: int | bytes | str | None,
    before: bytes | str | Sequence[int] | None,
    grammar: Grammar | None,
    limits: Limits | None,
) -> Explanation | None:
    """See `Matcher.explain`."""
    vocabulary = matcher.compiled.vocabulary
    if isinstance(refused, int) and matcher.is_allowed(refused):
        return None
    text, is_end = _text(vocabulary, refused)
    if matcher.has_stopped():
        return _plain(matcher, "the text has ended: a stop token was accepted")
    if text is None:
        return _plain(matcher, f"token {refused!r} has no text, and may not come by its name")
    start = matcher.compiled.matcher()
    given = _given(vocabulary, before)
    if given is None and matcher.describe() == start.describe():
        given = b""
    elif given is not None and not (
        start.accept_bytes(given) and start.describe() == matcher.describe()
    ):
        raise ValueError("`before` is not what this matcher accepted")
    at = matcher.fork()
    offset = _accept(at, text)
    if offset == len(text) and (not is_end or at.may_stop()):
        if not isinstance(refused, int):
            return None
        return _plain(matcher, "no tokens of the vocabulary spell what would have to follow")
    found = Found("")
    if given is not None and grammar is not None and grammar.kind == "json_schema":
        options = grammar._options or {}
        found = find(grammar.source, options, given, text, offset, limits or Limits())
    return Explanation(
        offset=offset,
        found=_character(text, offset),
        place=found.place,
        expected=at.next_bytes(),
        expected_text=at.forced_text(_MOST_FORCED),
        may_stop=at.may_stop(),
        reasons=found.reasons,
        is_joint=found.is_joint,
    )


def _text(
    vocabulary: _core.Vocabulary, refused: int | bytes | str | None
) -> tuple[bytes | None, bool]:
    """The text that is refused, None for a token that has none; and whether it is to end there."""
    if refused is None:
        return b"", True
    if isinstance(refused, int):
        text = vocabulary.token_bytes(refused)
        if not text and refused in vocabulary.stop_ids:
            return b"", True
        return text or None, False
    return (refused.encode() if isinstance(refused, str) else bytes(refused)), False


def _given(
    vocabulary: _core.Vocabulary, before: bytes | str | Sequence[int] | None
) -> bytes | None:
    if before is None or isinstance(before, bytes):
        return before
    if isinstance(before, str):
        return before.encode()
    return b"".join(vocabulary.token_bytes(token) or b"" for token in before)


def _accept(matcher: _core.Matcher, text: bytes) -> int:
    """Accepts as much as may be; how many bytes that are."""
    for begin in range(0, len(text), _PIECE):
        piece = text[begin : begin + _PIECE]
        if not matcher.accept_bytes(piece):
            low, high = 0, len(piece)  # So many bytes may come, and so many not.
            while high - low > 1:
                middle = (low + high) // 2
                if matcher.fork().accept_bytes(piece[:middle]):
                    low = middle
                else:
                    high = middle
            matcher.accept_bytes(piece[:low])
            return begin + low
    return len(text)


def _character(text: bytes, offset: int) -> bytes:
    """The character at a byte; where none begins, the byte."""
    for length in range(1, 5):
        part = text[offset : offset + length]
        try:
            part.decode()
        except UnicodeDecodeError:
            continue
        return part
    return text[offset : offset + 1]


def _plain(matcher: _core.Matcher, message: str) -> Explanation:
    """What the grammar has nothing to do with."""
    return Explanation(
        offset=0,
        found=b"",
        place="",
        expected=matcher.next_bytes(),
        expected_text=matcher.forced_text(_MOST_FORCED),
        may_stop=matcher.may_stop(),
        reasons=(Reason(place="", keyword="", message=message),),
        is_joint=False,
    )

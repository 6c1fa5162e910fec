"""The matchers of sequences that an engine lengthens, shortens, copies and reorders as it likes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stencilm import allocate_mask, fill_masks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stencilm import Matcher, Vocabulary

__all__ = ["Sequences"]

_BITS = (np.uint32(1) << np.arange(32, dtype=np.uint32)).view(np.int32)


@dataclass(slots=True)
class _Text:
    """What one matcher has accepted."""

    matcher: Matcher
    ids: NDArray[Any]
    is_refused: bool = False
    """Whether the sequence went on with a token that may not follow `ids`."""

    @property
    def is_open(self) -> bool:
        """Whether more of the grammar may follow."""
        return not self.is_refused and not self.matcher.has_stopped()


class Sequences:
    """Finds the state of every row of token ids in what the rows before them had in common.

    The first rows are the prompts: they are not judged, so their lengths and padding do not matter.
    The rows that follow may be those of any search: one more token, beams in another order, drafts
    that were taken back. A row begins with its prompt, and prompt *i* of *n* has the *i*-th of *n*
    equal parts of the rows.

    A row that goes on with a token which may not come next is *refused*: beam search keeps such
    rows, with a score of minus infinity, where nothing better is left, and drafts that nobody
    checked may be such rows. Refused rows, like finished ones, may only end.

    Args:
        matchers: One for each prompt, at the place where its text begins; they are not changed.
            None leaves its rows free.
        vocabulary: The one that the matchers' grammars were compiled for.
        pad_id: What may follow a finished text beside stop tokens.

    >>> from stencilm import Compiler, Grammar, Vocabulary, allowed_ids
    >>> vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", None], stop=[3])
    >>> matcher = Compiler(vocabulary).compile(Grammar.from_regex("a[bc]|b")).matcher()
    >>> sequences = Sequences([matcher], vocabulary)
    >>> sequences.follow(np.array([[2, 2]]))
    >>> sequences.follow(np.array([[2, 2, 1], [2, 2, 0]]))
    >>> [allowed_ids(row).tolist() for row in sequences.masks()]
    [[3], [1, 2]]
    """

    def __init__(
        self,
        matchers: Iterable[Matcher | None],
        vocabulary: Vocabulary,
        *,
        pad_id: int | None = None,
    ) -> None:
        if not vocabulary.stop_ids:
            raise ValueError("the vocabulary has no stop token, so no text could end")
        if pad_id is not None and pad_id < 0:
            raise ValueError(f"{pad_id} is no token")
        self._matchers = list(matchers)
        self._size = vocabulary.size
        self._end_ids = [*vocabulary.stop_ids, *([] if pad_id is None else [pad_id])]
        self._prompts: NDArray[Any] | None = None
        self._texts: list[list[_Text]] = []
        self._rows: list[_Text | None] = []

    def follow(self, ids: NDArray[Any]) -> None:
        """Go to where these rows are.

        Args:
            ids: `[rows, length]`.

        Raises:
            ValueError: They do not begin with the prompts.
        """
        share = self._share(len(ids))
        if self._prompts is None:
            self._prompts = ids[::share].copy()
            self._texts = [[] for _ in self._matchers]
        length = self._check(ids, share)
        self._rows = []
        for item, root in enumerate(self._matchers):
            rows = ids[item * share : (item + 1) * share, length:]
            if root is None:
                self._rows += [None] * share
            else:
                # After an error midway the next rows are followed from the beginning.
                texts, self._texts[item] = self._texts[item], []
                texts = texts or [_Text(root.fork(), rows[0, :0])]
                self._texts[item] = _followed(texts, rows, root, self._size)
                self._rows += self._texts[item]

    def masks(self, width: int = 0) -> NDArray[np.int32]:
        """What may follow each row, with room for `width` tokens at least."""
        mask = allocate_mask(len(self._rows), max(width, self._size, max(self._end_ids) + 1))
        fill_masks([t.matcher if t is not None and t.is_open else None for t in self._rows], mask)
        for row, text in enumerate(self._rows):
            if text is None:
                mask[row] = -1
            elif not text.is_open:
                # With nothing allowed at all, sampling would divide by zero.
                for token_id in self._end_ids:
                    mask[row, token_id // 32] |= _BITS[token_id % 32]
        return mask

    def are_whole(self, ids: NDArray[Any]) -> list[bool]:
        """Whether each row is its prompt and a whole text; rows without a grammar always are."""
        share = self._share(len(ids))
        length = self._check(ids, share)
        return [
            root is None or _is_whole(_accepted(root.fork(), ids[row, :0], rest, self._size))
            for row, rest in enumerate(ids[:, length:])
            for root in [self._matchers[row // share]]
        ]

    def _share(self, rows: int) -> int:
        items = len(self._matchers)
        if items == 0 or rows == 0 or rows % items:
            raise ValueError(
                f"{items} matchers, but {rows} sequences: give one for each prompt of the batch"
            )
        return rows // items

    def _check(self, ids: NDArray[Any], share: int) -> int:
        if self._prompts is None:
            raise ValueError("no prompts were followed yet")
        length: int = self._prompts.shape[1]
        begun = ids[:, :length].reshape(len(self._prompts), share, -1)
        if begun.shape[2] != length or not (begun == self._prompts[:, None]).all():
            raise ValueError(
                "the sequences do not begin with the prompts of the first step: each generation"
                " needs matchers of its own, and an assistant with another tokenizer cannot be held"
            )
        return length


def _followed(texts: list[_Text], rows: NDArray[Any], root: Matcher, size: int) -> list[_Text]:
    """The texts of `rows`, each from the one that it has most in common with."""
    sources = [_nearest(texts, row, index) for index, row in enumerate(rows)]
    uses = Counter(source for source, _ in sources)
    found = []
    for row, (source, common) in zip(rows, sources, strict=True):
        text = texts[source]
        uses[source] -= 1
        # The last to need it may move it.
        matcher = text.matcher.fork() if uses[source] else text.matcher
        back = len(text.ids) - common
        if back > matcher.rollback_window:
            matcher, common = root.fork(), 0
        elif back:
            matcher.rollback(back)
        found.append(_accepted(matcher, row[:common], row[common:], size))
    return found


def _nearest(texts: Sequence[_Text], row: NDArray[Any], index: int) -> tuple[int, int]:
    """The text that has the longest beginning in common with `row`, and its length."""
    best, longest = 0, -1
    # Nearly always the row goes on from the one that was in its place.
    for i in (min(index, len(texts) - 1), *range(len(texts))):
        common = _common(texts[i].ids, row)
        if common > longest:
            best, longest = i, common
        if common >= len(row) - 1:
            break
    return best, longest


def _common(one: NDArray[Any], other: NDArray[Any]) -> int:
    length = min(len(one), len(other))
    different = one[:length] != other[:length]
    at = int(different.argmax()) if length else 0
    return at if length and different[at] else length


def _accepted(matcher: Matcher, before: NDArray[Any], rest: NDArray[Any], size: int) -> _Text:
    """`matcher`, which accepted `before`, after as much of `rest` as may follow."""
    taken = 0
    is_refused = False
    for token_id in rest.tolist():
        if matcher.has_stopped():
            break
        if not 0 <= token_id < size or not matcher.accept(token_id):
            is_refused = True
            break
        taken += 1
    return _Text(matcher, np.concatenate([before, rest[:taken]]), is_refused)


def _is_whole(text: _Text) -> bool:
    return not text.is_refused and (text.matcher.has_stopped() or text.matcher.may_stop())

"""What calls from Python cost, in microseconds: the best of many short runs.

    python bench/calls.py TOKENIZER

Masks are known when they are asked for. With torch installed also into its tensors.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import results

import stencilm

BATCHES = (1, 16, 64, 256)


def best(call: Callable[[], object], number: int = 200, repeat: int = 400) -> float:
    """Microseconds for one call, of which most is not spent by other processes."""
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6


def figures(vocabulary: stencilm.Vocabulary) -> dict[str, float]:
    grammar = stencilm.Grammar.from_json_schema({"type": "string"})
    matcher = stencilm.Compiler(vocabulary).compile(grammar).matcher()
    if not matcher.accept_bytes(b'"a'):
        raise ValueError("the text is refused")
    mask = stencilm.allocate_mask(1, vocabulary.size)
    matcher.fill_mask(mask)
    row = mask.copy()
    found = {
        "a call that does nothing: `may_stop()`": best(matcher.may_stop),
        "`numpy.copyto`, a row": best(lambda: np.copyto(mask, row)),
        "`fill_mask`, NumPy": best(lambda: matcher.fill_mask(mask)),
        "`mask_key`": best(matcher.mask_key),
        **tensors(vocabulary, matcher),
        **steps(vocabulary),
    }
    for count in BATCHES:
        batch = [matcher.fork() for _ in range(count)]
        masks = stencilm.allocate_mask(count, vocabulary.size)
        taken = best(lambda b=batch, m=masks: stencilm.fill_masks(b, m), 20)
        found[f"`fill_masks`, {count} rows, for each"] = taken / count
    return found


def tensors(vocabulary: stencilm.Vocabulary, matcher: stencilm.Matcher) -> dict[str, float]:
    try:
        import torch
    except ImportError:
        return {}
    mask = torch.zeros((1, vocabulary.words), dtype=torch.int32)
    matcher.fill_mask(mask)
    return {
        "`fill_mask`, torch": best(lambda: matcher.fill_mask(mask)),
        "`tensor.numpy()`, for comparison": best(mask.numpy),
    }


def steps(vocabulary: stencilm.Vocabulary) -> dict[str, float]:
    """At a state that was seen by another matcher: a token and its mask, or its key."""
    grammar = stencilm.Grammar.from_json_schema({"type": "array", "items": {"type": "string"}})
    matcher = stencilm.Compiler(vocabulary).compile(grammar).matcher()
    mask = stencilm.allocate_mask(1, vocabulary.size)
    ids = {vocabulary.token_bytes(token): token for token in range(vocabulary.size)}
    tokens = [ids[text] for text in (b'["', b"a", b'","')]
    if not all(map(matcher.accept, tokens)):
        raise ValueError("the text is refused")
    a = ids[b"a"]

    def with_mask() -> None:
        matcher.accept(a)
        matcher.fill_mask(mask)

    def with_key() -> None:
        matcher.accept(a)
        matcher.mask_key()

    found = {
        "`accept`": best(lambda: matcher.accept(a)),
        "`accept` and `fill_mask`": best(with_mask),
        "`accept` and `mask_key`": best(with_key),
    }
    for count in BATCHES:
        batch = [matcher.fork() for _ in range(count)]
        wanted = [a] * count
        taken = best(lambda b=batch, w=wanted: stencilm.accept_tokens(b, w), 20)
        found[f"`accept_tokens`, {count} matchers, for each"] = taken / count
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokenizer")
    arguments = parser.parse_args()
    found = figures(stencilm.Vocabulary.load(arguments.tokenizer))
    rows: list[list[Any]] = [[name, f"{value:.3f}"] for name, value in found.items()]
    about = results.surroundings(arguments.tokenizer, ["stencilm"])
    results.save("calls", about, found, results.table(["call", "µs"], rows))


if __name__ == "__main__":
    main()

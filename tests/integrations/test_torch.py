"""Masks on tensors, against the plain way of saying the same."""

from __future__ import annotations

import math
from random import Random

import pytest

import stencilm

torch = pytest.importorskip("torch", reason="torch is not installed")

from stencilm.integrations.torch import allocate_mask, allowed, apply_mask  # noqa: E402


def random_mask(rows: int, size: int, seed: int) -> tuple[torch.Tensor, list[list[bool]]]:
    random = Random(seed)
    bits = [[random.random() < 0.5 for _ in range(size)] for _ in range(rows)]
    mask = allocate_mask(rows, size)
    words = mask.numpy().view("uint32")
    for row, chosen in enumerate(bits):
        for token, is_allowed in enumerate(chosen):
            words[row, token // 32] |= is_allowed << (token % 32)
    return mask, bits


@pytest.mark.parametrize("size", [1, 31, 32, 33, 100])
def test_a_mask_is_one_bit_a_token(size: int) -> None:
    mask, bits = random_mask(3, size, size)
    assert allowed(mask, size).tolist() == bits
    wider = [[*row, *([False] * 40)] for row in bits]
    assert allowed(mask, size + 40).tolist() == wider


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("strided", [False, True])
def test_refused_tokens_become_minus_infinity(dtype: torch.dtype, strided: bool) -> None:
    mask, bits = random_mask(4, 70, 1)
    logits = torch.randn(4, 140 if strided else 70).to(dtype)
    logits = logits[:, ::2] if strided else logits
    before = logits.clone()
    apply_mask(logits, mask)
    for row in range(4):
        for token in range(70):
            expected = before[row, token] if bits[row][token] else -math.inf
            assert logits[row, token] == expected


def test_other_rows_are_left_alone() -> None:
    mask, bits = random_mask(4, 40, 2)
    logits = torch.zeros(4, 40)
    apply_mask(logits, mask, rows=[2, 0])
    for row in range(4):
        refused = [value == -math.inf for value in logits[row].tolist()]
        assert refused == ([not bit for bit in bits[row]] if row in (0, 2) else [False] * 40)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 rows of logits, but 2"):
        apply_mask(torch.zeros(3, 32), allocate_mask(2, 32))
    with pytest.raises(ValueError, match="two axes"):
        apply_mask(torch.zeros(32), allocate_mask(1, 32))


def test_matchers_write_into_tensors() -> None:
    vocabulary = stencilm.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
    grammar = stencilm.Grammar.from_regex("[a-c]+")
    matcher = stencilm.Compiler(vocabulary).compile(grammar).matcher()
    mask = allocate_mask(2, 256)
    matcher.fill_mask(mask, 1)
    stencilm.fill_masks([matcher, None], mask)
    assert allowed(mask, 256).nonzero().tolist() == [[r, t] for r in (0, 1) for t in (97, 98, 99)]


def letters() -> stencilm.Matcher:
    vocabulary = stencilm.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
    return stencilm.Compiler(vocabulary).compile(stencilm.Grammar.from_regex("[a-c]+")).matcher()


@pytest.mark.parametrize("again", [False, True])
def test_tensors_of_every_layout(again: bool) -> None:
    """The first tensor of a process is read in another way than those after it."""
    matcher = letters()
    if again:
        matcher.fill_mask(allocate_mask(1, 256))
    expected = [97, 98, 99]
    wide = torch.full((3, 20), -1, dtype=torch.int32)
    flat = torch.full((8,), -1, dtype=torch.int32)
    parameter = torch.nn.Parameter(torch.zeros((1, 8), dtype=torch.int32), requires_grad=False)
    matcher.fill_mask(flat)
    assert allowed(flat[None], 256).flatten().nonzero().flatten().tolist() == expected
    matcher.fill_mask(parameter)
    assert allowed(parameter, 256)[0].nonzero().flatten().tolist() == expected
    for mask in (wide, wide[1:], wide[:, 4:], wide[::2], wide.clone()[:, :8]):
        mask.fill_(-1)
        matcher.fill_mask(mask, 1)
        assert allowed(mask, 640)[1].nonzero().flatten().tolist() == expected
        assert (mask[0] == -1).all()
    assert (wide[2] == -1).sum() == 0


@pytest.mark.parametrize("again", [False, True])
def test_tensors_that_are_no_masks_are_refused(again: bool) -> None:
    matcher = letters()
    if again:
        matcher.fill_mask(allocate_mask(1, 256))
    whole = torch.full((4, 8), -1, dtype=torch.int32)
    with pytest.raises(IndexError, match="row 4 of a mask with 4 rows"):
        matcher.fill_mask(whole, 4)
    with pytest.raises(ValueError, match="rows of 7 words, but the vocabulary needs 8"):
        matcher.fill_mask(torch.zeros((1, 7), dtype=torch.int32))
    with pytest.raises(ValueError, match="one or two dimensions"):
        matcher.fill_mask(torch.zeros((1, 1, 8), dtype=torch.int32))
    with pytest.raises(ValueError, match="next to each other"):
        matcher.fill_mask(whole.T)
    for dtype in (torch.int64, torch.float32, torch.int16, torch.bool):
        with pytest.raises((BufferError, TypeError, ValueError)):
            matcher.fill_mask(torch.zeros((1, 8), dtype=dtype))
    for other in (
        torch.zeros((1, 8), dtype=torch.int32, device="meta"),
        torch.zeros((1, 8), dtype=torch.int32).to_sparse(),
    ):
        with pytest.raises(TypeError, match="CPU tensor"):
            matcher.fill_mask(other)
    assert (whole == -1).all()

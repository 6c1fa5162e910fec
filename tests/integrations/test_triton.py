"""The kernel of Triton against the operations that every device has.

It runs on a GPU; without one in Triton's interpreter, on the CPU: `TRITON_INTERPRET=1 pytest …`.
"""

from __future__ import annotations

import math
import os

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="triton is not installed")

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not (torch.cuda.is_available() or IS_INTERPRETED):
    pytest.skip("there is no GPU, and TRITON_INTERPRET=1 is not set", allow_module_level=True)

from stencilm.integrations import torch as plain  # noqa: E402
from stencilm.integrations import triton as kernel  # noqa: E402

DEVICE = "cpu" if IS_INTERPRETED else "cuda"


def random_mask(rows: int, words: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    bits = torch.randint(-(2**31), 2**31, (rows, words), generator=generator)
    bits[0, : words // 2] = 0
    bits[-1, words // 2 :] = -1
    return bits.to(torch.int32).to(DEVICE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("width", "words"), [(1, 1), (33, 2), (5_000, 157), (9_000, 200)])
@pytest.mark.parametrize("layout", ["dense", "strided", "transposed"])
@pytest.mark.parametrize("rows", [None, [2, 0], []])
def test_it_writes_what_plain_operations_write(
    dtype: torch.dtype, width: int, words: int, layout: str, rows: list[int] | None
) -> None:
    made = torch.randn(4, 2 * width, generator=torch.Generator().manual_seed(width))
    logits = made.to(dtype).to(DEVICE)
    logits = logits[:, ::2] if layout == "strided" else logits[:, :width]
    if layout == "transposed":
        logits = logits.T.contiguous().T
    mask = random_mask(4, words, width)
    expected = logits.clone()
    plain._apply_elsewhere(expected, mask, rows)
    assert width == 1 or torch.isneginf(expected).any() == (rows != [])
    kernel.apply_mask(logits, mask, rows)
    assert torch.equal(logits, expected)


def test_nothing_outside_of_the_logits_is_written() -> None:
    around = torch.zeros(6, 300, device=DEVICE)
    kernel.apply_mask(around[1:4, 50:250], random_mask(3, 4, 1) * 0)
    assert (around[1:4, 50:250] == -math.inf).all()
    around[1:4, 50:250] = 0
    assert (around == 0).all()


def test_what_does_not_fit_is_refused() -> None:
    logits, mask = torch.zeros(3, 64, device=DEVICE), random_mask(3, 2, 1)
    with pytest.raises(ValueError, match="3 rows of logits, but 2"):
        kernel.apply_mask(logits, mask[:2])
    with pytest.raises(ValueError, match="two axes"):
        kernel.apply_mask(logits[0], mask)
    for rows in ([3], [-1]):
        with pytest.raises(IndexError):
            kernel.apply_mask(logits, mask, rows)
    with pytest.raises(TypeError, match="int32"):
        kernel.apply_mask(logits.int(), mask)

"""What the tests of the vocabularies share: tokenizer files, libraries' objects, texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stencilm.vocabularies import TokenTable, load

ROOT = Path(__file__).parents[2].parent / "shared" / "tokenizers"

_TEXTS = [
    "Hello, world!",
    "a  b   c    d \t e\t\tf\n\n\n  g\r\n h \n",
    "   leading and trailing   ",
    "Zoë naïve façade Straße Ελλάδα Привет, мир",
    "e\u0301 a\u030a\u0323 n\u0303o q\u0307\u0323",
    "日本語のテキスト、漢字かな混じり文。中文也可以。한국어 텍스트",
    "مرحبا بالعالم، كيف حالك؟ שלום עולם",
    "हिन्दी में पाठ ไทยไม่มีช่องว่าง தமிழ்",
    "😀👍🏽👩🏽‍🚀👨‍👩‍👧‍👦🏳️‍🌈🇩🇪 ❤️",
    "\u200b\u200d\ufeff\u202ertl\u2028\u00a0\u3000wide",
    "\x00\x01\x02\x07\x08\x0b\x0c\x0e\x1b[31m\x1f\x7f\x80\x9f",
    "\U0001f9ff\U00020000\U0002a6d6\U000e0041\ue000\uffff\U00100000",
    'def f(x: int) -> str:\n    return f"{x!r:>10}"  # comment\n\tif x<=0x1F and not y: pass\n',
    '{"name": "Zo\\u00eb", "n": [1, -2.5e+10, 1234567890], "ok": true, "z": null}',
    "<div class='a'>&nbsp;</div> https://example.org/?q=1&r=%20#x",
    "it 's , don 't . ! ? we 've I 'm n't ' x ' they 're",
    "1234567890 ١٢٣ ½ ² Ⅷ 3.14159 1,000,000",
    "<0x0A> <0xFF> ## Ġ Ċ </w> <think> </think> <tool_call>",
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → ∑ᵢ xᵢ²",
    "x" * 300 + " " * 300 + "\n" * 40,
]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return _TEXTS


@pytest.fixture(scope="session")
def folder() -> Callable[[str], Path]:
    """The folder of one tokenizer."""

    def find(name: str) -> Path:
        path = ROOT / name
        if not path.is_dir():
            pytest.skip(f"the tokenizer files are not there: {path}")
        return path

    return find


@pytest.fixture(scope="session")
def table(folder: Callable[[str], Path]) -> Callable[[str], TokenTable]:
    """The table that is loaded from one tokenizer's folder."""
    return cache(lambda name: load(folder(name)))


@pytest.fixture(scope="session")
def fast(folder: Callable[[str], Path]) -> Callable[[str], Any]:
    """The `tokenizers.Tokenizer` of one folder."""
    tokenizers = pytest.importorskip("tokenizers")

    @cache
    def make(name: str) -> Any:
        return tokenizers.Tokenizer.from_file(str(folder(name) / "tokenizer.json"))

    return make

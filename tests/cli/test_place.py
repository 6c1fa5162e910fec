"""Places in texts, and bytes for people."""

from __future__ import annotations

import pytest

pytest.importorskip("rich", reason="the command line's libraries are not installed")

from stencilm.cli.place import Place, show_bytes, show_token


@pytest.mark.parametrize(
    ("text", "offset", "line", "column"),
    [
        (b"", 0, 1, 1),
        (b"ab", 2, 1, 3),
        (b"a\nb", 1, 1, 2),
        (b"a\nb", 2, 2, 1),
        ("éé\nüx".encode(), 7, 2, 2),
        (b"a\n", 2, 2, 1),
    ],
)
def test_line_and_column(text: bytes, offset: int, line: int, column: int) -> None:
    place = Place.at(text, offset)
    assert (place.line, place.column) == (line, column)


def test_the_caret_is_under_its_character() -> None:
    shown, caret = Place.at(b"one\tX\x1b", 4).caret().plain.split("\n")
    assert shown[caret.index("^")] == "X"
    assert "\x1b" not in shown


def test_a_long_line_is_cut_around_its_place() -> None:
    text = "x" * 500 + "!" + "y" * 500
    shown, caret = Place.at(text.encode(), 500).caret().plain.split("\n")
    assert len(shown) < 90
    assert shown[caret.index("^")] == "!"
    assert shown.strip().startswith("…")
    assert shown.endswith("…")


@pytest.mark.parametrize(
    ("allowed", "shown"),
    [
        (b"", ""),
        (b"ab", "a b"),
        (b"abc", "a-c"),
        (b"\t\n ", "\\t \\n space"),
        (b"\x00\x01\x02", "\\x00-\\x02"),
        (bytes([0x61, *range(0xC2, 0xF5)]), "a (beyond ASCII)"),
        (b"\xc3", "\\xc3"),
    ],
)
def test_bytes(allowed: bytes, shown: str) -> None:
    assert show_bytes(allowed) == shown


@pytest.mark.parametrize(
    ("token", "shown"),
    [(b" a", '" a"'), (b"\n", '"\\n"'), (b"\xe2\x82", '"\\xe2\\x82"'), (b"\x1b[", '"\\x1b["')],
)
def test_tokens(token: bytes, shown: str) -> None:
    assert show_token(token) == shown

"""Files that are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from stencilm.integrations._cache import cache_folder, cached_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STENCILM_CACHE", str(tmp_path / "cache"))
    return cache_folder()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    return path


def make(folder: Path) -> None:
    (folder / "made").write_text(str(len(list(folder.parent.iterdir()))))


def test_a_folder_is_made_once(source: Path) -> None:
    first = cached_folder(source, "maker 1", make)
    assert (first / "made").exists()

    def never(folder: Path) -> None:
        raise AssertionError

    assert cached_folder(source, "maker 1", never) == first


def test_another_source_or_maker_is_another_folder(source: Path) -> None:
    first = cached_folder(source, "maker 1", make)
    second = cached_folder(source, "maker 2", make)
    source.write_bytes(b"two, longer")
    third = cached_folder(source, "maker 1", make)
    assert len({first, second, third}) == 3


def test_what_fails_leaves_nothing(source: Path, cache: Path) -> None:
    def fail(folder: Path) -> None:
        make(folder)
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        cached_folder(source, "maker 1", fail)
    assert list(cache.iterdir()) == []


def test_the_first_of_two_makers_wins(source: Path, cache: Path) -> None:
    def interrupted(folder: Path) -> None:
        cached_folder(source, "maker 1", make)
        (folder / "late").touch()

    folder = cached_folder(source, "maker 1", interrupted)
    assert [file.name for file in folder.iterdir()] == ["made"]
    assert list(cache.iterdir()) == [folder]

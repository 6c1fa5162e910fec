"""Where files made from other files are kept between runs."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cache_folder", "cached_folder"]


def cache_folder() -> Path:
    """`$STENCILM_CACHE`, or this user's cache folder on this system."""
    chosen = os.environ.get("STENCILM_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "stencilm"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/stencilm"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stencilm"


def cached_folder(source: Path, maker: str, make: Callable[[Path], None]) -> Path:
    """What `make` writes into an empty folder, made once for each version of `source`.

    Half-made folders are never seen: they get their name when they are whole. Two processes
    may make the same one; the second is thrown away.

    Args:
        source: A file; its name, size and time of change say whether it is the same one.
        maker: Name and version of what makes the folder.
        make: Fills the folder it is given.
    """
    status = source.stat()
    key = f"{maker}\0{source.name}\0{status.st_size}\0{status.st_mtime_ns}"
    name = f"{source.stem}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    folder = cache_folder() / name
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=folder.parent))
    try:
        make(unfinished)
        try:
            unfinished.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder

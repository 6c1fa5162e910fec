"""What only models for pictures need: names to import, and an error if one is called."""

from __future__ import annotations

import enum
import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

__path__: list[str] = []
__version__ = "0.0.0"


class InterpolationMode(enum.Enum):
    """Ways to scale a picture."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


class Missing:
    """A class to inherit from."""

    def __init__(self, *arguments: Any, **named: Any) -> None: ...

    def __init_subclass__(cls, **named: Any) -> None: ...

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError("torchvision is not there")


class Folder(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = InterpolationMode if name == "InterpolationMode" else type(name, (Missing,), {})
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below this one."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname.startswith(f"{__name__}."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return Folder(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


sys.meta_path.insert(0, Finder())

"""Kernels that PyPI does not have for CPUs: names to import, and an error if one is called."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

__path__: list[str] = []


class Kernel:
    """What stands where a kernel would."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.name}.{name}")

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError(f"{self.name} is not there")


class Folder(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.__name__}.{name}")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below this one."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname.startswith(f"{__name__}."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        return Folder(spec.name)

    def exec_module(self, module: types.ModuleType) -> None: ...


def copy_all_layer_kv_cache_cpu(
    data_ptrs: Any, strides: Any, tgt_loc: Any, src_loc: Any, *more: Any
) -> None:
    """SGLang looks at the parameters of this one."""
    raise NotImplementedError


def __getattr__(name: str) -> Kernel:
    if name.startswith("__"):
        raise AttributeError(name)
    return Kernel(name)


sys.meta_path.insert(0, Finder())

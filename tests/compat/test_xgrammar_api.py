"""Names, arguments and defaults are those of XGrammar 0.2.9, looked up there and written down."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from enum import Enum
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

import stencilm.compat.xgrammar as xgr
from stencilm.compat.xgrammar import openai_tool_call_schema

API = tomllib.loads((Path(__file__).parent / "xgrammar_api.toml").read_text(encoding="utf-8"))


def found(name: str) -> Any:
    if name.startswith("openai_tool_call_schema."):
        return getattr(openai_tool_call_schema, name.split(".")[1])
    return reduce(getattr, name.split("."), xgr)


def without_types(call: Any) -> str:
    signature = inspect.signature(call)
    empty = inspect.Parameter.empty
    plain = [part.replace(annotation=empty) for part in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def test_the_names_are_the_same() -> None:
    pytest.importorskip("transformers")
    assert sorted(xgr.__all__) == API["names"]
    for name in API["names"]:
        if name != "hf":
            assert found(name) is not None


@pytest.mark.parametrize("name", sorted(API["calls"]))
def test_arguments_and_defaults_are_the_same(name: str) -> None:
    if name.startswith("hf."):
        pytest.importorskip("torch")
        pytest.importorskip("transformers")
    assert without_types(found(name)) == API["calls"][name]


@pytest.mark.parametrize("name", API["properties"])
def test_properties_are_the_same(name: str) -> None:
    assert isinstance(found(name), property) or hasattr(found(name), "attrname")


@pytest.mark.parametrize("name", sorted(API["models"]))
def test_members_of_models_are_the_same(name: str) -> None:
    model = found(name)
    if issubclass(model, Enum):
        members = {member.name: repr(member.value) for member in model}
    else:
        members = {
            field.alias or key: "required" if field.is_required() else repr(field.default)
            for key, field in model.model_fields.items()
        }
    assert members == API["models"][name]


def test_exceptions_are_runtime_errors() -> None:
    for name in API["names"]:
        if name.endswith("Error"):
            assert issubclass(found(name), RuntimeError)
            assert getattr(xgr.exception, name) is found(name)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = xgr.nothing


def test_torch_is_loaded_when_a_mask_is_made() -> None:
    code = (
        "import sys, stencilm.compat.xgrammar as xgr; "
        "info = xgr.TokenizerInfo(['a']); xgr.GrammarCompiler(info).compile_regex('a'); "
        "print(not {'torch', 'transformers', 'triton'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"

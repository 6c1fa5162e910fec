"""A server in a process of its own: started, asked, measured, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cases import Case

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "SGLANG_USE_CPU_ENGINE": "1",
    # With more threads than free CPUs a token takes a second.
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 4,
    "prompt_lookup_max": 4,
    "prompt_lookup_min": 2,
}
READY = {"vllm": "/health", "sglang": "/health_generate"}


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    texts: list[str]
    finish: list[str]
    message: str
    """Of the error, if it was one."""
    calls: list[dict[str, Any]]
    reasoning: str
    seconds: float


@dataclass
class Server:
    """One engine on a port of this machine."""

    engine: str
    python: Path
    model: Path
    log: Path
    port: int = 8123
    backend: str = "stencilm"
    flags: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        where = ["--host", "127.0.0.1", "--port", str(self.port), "--served-model-name", "m"]
        if self.engine == "vllm":
            config = json.dumps({"backend": self.backend})
            return [
                *(str(self.python), "-m", "vllm.entrypoints.openai.api_server"),
                *("--model", str(self.model), *where, "--dtype", "bfloat16", "--enforce-eager"),
                *("--max-model-len", "2048", "--max-num-seqs", "8"),
                *("--structured-outputs-config", config, *self.flags),
            ]
        return [
            *(str(self.python), "-m", "sglang.launch_server", "--model-path", str(self.model)),
            *(*where, "--device", "cpu", "--attention-backend", "torch_native"),
            *(
                "--disable-overlap-schedule",
                "--disable-cuda-graph",
                "--mem-fraction-static",
                "0.25",
            ),
            *("--max-total-tokens", "16384", "--context-length", "4096"),
            *("--max-running-requests", "8", "--enable-metrics"),
            *("--grammar-backend", self.backend, *self.flags),
        ]

    def start(self, patience: float = 600) -> float:
        """Seconds until it was ready."""
        if self.is_healthy():
            raise RuntimeError(f"another server answers on port {self.port}")
        began = time.monotonic()
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **ENVIRONMENT, **self.environment},
                start_new_session=True,
            )
        while time.monotonic() < began + patience:
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended at once: see {self.log}")
            if self.is_healthy():
                return time.monotonic() - began
            time.sleep(1)
        self.stop()
        raise RuntimeError(f"the server was not ready in {patience} s: see {self.log}")

    def stop(self) -> None:
        """Ends it and what it started."""
        if self.process is None:
            return
        for ending in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, ending)
                self.process.wait(20)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self.process.wait()
        self.process = None

    def is_healthy(self) -> bool:
        """Whether the process lives and says that all is well."""
        if self.process is not None and self.process.poll() is not None:
            return False
        try:
            with urllib.request.urlopen(self.url(READY[self.engine]), timeout=30) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def memory(self) -> int:
        """Bytes that the processes of the server hold."""
        total = 0
        for folder in self._processes():
            lines = _read(folder / "status").splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))
        return total

    def cpu_seconds(self) -> float:
        """What the processes of the server have computed, whatever else the machine did."""
        ticks = 0
        for folder in self._processes():
            # The name before these fields may hold anything, but it ends with a parenthesis.
            fields = _read(folder / "stat").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _processes(self) -> list[Path]:
        assert self.process is not None
        group, found = os.getpgid(self.process.pid), []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(folder.name)) == group:
                    found.append(folder)
            except ProcessLookupError:
                continue
        return found

    def metrics(self, *names: str) -> dict[str, float]:
        """Sums of counters by name."""
        with urllib.request.urlopen(self.url("/metrics"), timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        found = dict.fromkeys(names, 0.0)
        for line in lines:
            name = line.split("{")[0].split(" ")[0]
            if name in found:
                found[name] += float(line.rsplit(" ", 1)[1])
        return found

    def ask(self, case: Case) -> Answer:
        """The answer to a case."""
        body = {
            "model": "m",
            "messages": [{"role": "user", "content": case.prompt}],
            "max_tokens": case.tokens,
            "temperature": 0,
            **constraint(self.engine, case),
            **case.more,
        }
        began = time.monotonic()
        status, content = self.post("/v1/chat/completions", body, case.seconds)
        seconds = time.monotonic() - began
        if status != 200:
            return Answer(status, [], [], content, [], "", seconds)
        if body.get("stream"):
            return _streamed(content, seconds)
        choices = json.loads(content)["choices"]
        messages = [choice["message"] for choice in choices]
        return Answer(
            status=200,
            texts=[message.get("content") or "" for message in messages],
            finish=[choice["finish_reason"] for choice in choices],
            message="",
            calls=[call["function"] for m in messages for call in m.get("tool_calls") or []],
            reasoning=messages[0].get("reasoning") or messages[0].get("reasoning_content") or "",
            seconds=seconds,
        )

    def post(self, path: str, body: Any, patience: float) -> tuple[int, str]:
        """The status and the content; status 0 if there was no answer."""
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url(path), data, headers)
        try:
            with urllib.request.urlopen(request, timeout=patience) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)


def constraint(engine: str, case: Case) -> dict[str, Any]:
    """The members of a request that say what a case is constrained by."""
    match case.kind:
        case "json":
            named = {"name": "answer", "schema": case.spec}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "structural_tag":
            return {"response_format": case.spec}
        case "tools" | "body":
            return dict(case.spec)
        case "free":
            return {}
    if engine == "vllm":
        name = "grammar" if case.kind in ("gbnf", "lark") else case.kind
        return {"structured_outputs": {name: case.spec}}
    if case.kind == "choice":
        from re import escape

        return {"regex": "|".join(map(escape, case.spec))}
    return {"ebnf" if case.kind == "gbnf" else case.kind: case.spec}


def _streamed(content: str, seconds: float) -> Answer:
    text, finish, reasoning = "", "", ""
    for line in content.splitlines():
        if not line.startswith("data: ") or line == "data: [DONE]":
            continue
        for choice in json.loads(line[6:])["choices"]:
            text += choice["delta"].get("content") or ""
            reasoning += choice["delta"].get("reasoning_content") or ""
            finish = choice["finish_reason"] or finish
    return Answer(200, [text], [finish], "", [], reasoning, seconds)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # The process has ended.
        return ""

"""What a schema costs a server: the same tokens with and without it, by turns, on one server.

usage: overhead.py vllm|sglang --python … --model … --out … [--rounds 20] [--at-once 1,8]
                   [--backend xgrammar]

The model copies a document that its prompt shows twice, so that it writes the same tokens whether
the schema holds it to them or not; the share of equal answers is printed. Each round asks without,
with, and without again, in random order. The two without are the noise. Beside the time of the
clock stands that of the CPU, of all processes of the server, which others on the machine change
little.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cases import COPIED, LIST
from server import Server

DOCUMENT = json.dumps(COPIED)
PROMPT = f"{DOCUMENT}\n{DOCUMENT}\n"
TOKENS = 100
KINDS = ("free", "schema", "free again")


def constrained(engine: str) -> dict[str, Any]:
    named = {"name": "answer", "schema": LIST}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def ask(server: Server, more: dict[str, Any]) -> tuple[float, str]:
    """Milliseconds a token, after the first one, and the text."""
    body = {
        "model": "m",
        "prompt": PROMPT,
        "max_tokens": TOKENS,
        "temperature": 0,
        "stream": True,
        **more,
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/completions", json.dumps(body), headers)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    times: list[float] = []
    pieces: list[bytes] = []
    for line in answer:
        if line.startswith(b"data: {"):
            times.append(time.perf_counter())
            pieces.append(line[6:])
    connection.close()
    text = "".join(json.loads(piece)["choices"][0]["text"] for piece in pieces)
    return (times[-1] - times[0]) / (TOKENS - 1) * 1000, text


def together(server: Server, more: dict[str, Any], at_once: int) -> tuple[float, float, list[str]]:
    """Milliseconds a token by the clock and of the CPU, and the texts."""
    began = server.cpu_seconds()
    with ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(lambda _: ask(server, more), range(at_once)))
    cpu = (server.cpu_seconds() - began) / TOKENS * 1000
    return statistics.fmean(ms for ms, _ in answers), cpu, [text for _, text in answers]


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """The median in percent, and where it lies in 95 of 100 samples."""
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2_000))
    percent = [
        (value - 1) * 100 for value in (statistics.median(ratios), medians[50], medians[1949])
    ]
    return round(percent[0], 2), round(percent[1], 2), round(percent[2], 2)


def compare(server: Server, at_once: int, rounds: int) -> dict[str, Any]:
    """Some rounds, and what they say."""
    schema = constrained(server.engine)
    expected = together(server, {}, 1)[2][0]
    together(server, schema, at_once)
    clock: dict[str, list[float]] = {kind: [] for kind in KINDS}
    cpu: dict[str, list[float]] = {kind: [] for kind in KINDS}
    equal = total = 0
    for _ in range(rounds):
        for kind in random.sample(KINDS, len(KINDS)):
            ms, computed, texts = together(server, schema if kind == "schema" else {}, at_once)
            clock[kind].append(ms)
            cpu[kind].append(computed)
            equal += sum(text == expected for text in texts)
            total += len(texts)
    result: dict[str, Any] = {"at once": at_once, "rounds": rounds}
    for name, times in (("clock", clock), ("CPU", cpu)):
        pairs = list(zip(times["free"], times["schema"], times["free again"], strict=True))
        result[name] = {
            "ms a token": {kind: round(statistics.median(times[kind]), 2) for kind in KINDS},
            "schema, %": interval([2 * b / (a + c) for a, b, c in pairs]),
            "noise, %": interval([c / a for a, _, c in pairs]),
        }
    result["equal answers"] = f"{equal} of {total}"
    print(json.dumps(result), flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=["vllm", "sglang"])
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--backend", default="stencilm")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--at-once", default="1,8")
    parser.add_argument("--port", type=int, default=8124)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / f"{options.engine}-overhead-{options.backend}.log"
    server = Server(
        options.engine, options.python, options.model, log, options.port, options.backend
    )
    print(f"{options.backend}: ready after {server.start():.0f} s", flush=True)
    try:
        for at_once in map(int, options.at_once.split(",")):
            compare(server, at_once, options.rounds)
    finally:
        server.stop()


if __name__ == "__main__":
    main()

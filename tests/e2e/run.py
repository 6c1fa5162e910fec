"""Starts a server in several modes, asks it all cases, judges each answer, and reports.

usage: run.py vllm|sglang --python ENVIRONMENT/bin/python --model FOLDER --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
from cases import PERSON, TOOLS, Case, cases, crowd, is_valid, many_schemas
from server import NGRAM, Answer, Server

TOOL_FLAGS = {
    "vllm": ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"],
    "sglang": ["--tool-call-parser", "hermes"],
}
CHUNKED = {
    # Prompts in pieces, and less memory than eight requests need: some are put off and redone.
    "vllm": ["--max-num-batched-tokens", "256", "--num-gpu-blocks-override", "18"],
    "sglang": ["--chunked-prefill-size", "256"],
}
REASONING = {
    "vllm": ["--reasoning-parser", "deepseek_r1"],
    "sglang": ["--reasoning-parser", "deepseek-r1"],
}
COUNTERS = {
    "vllm": [
        *("vllm:spec_decode_num_draft_tokens_total", "vllm:spec_decode_num_accepted_tokens_total"),
        *("vllm:num_preemptions_total", "vllm:generation_tokens_total"),
    ],
    "sglang": ["sglang:generation_tokens_total"],
}
REASONING_END, TEXT_END = 5, 2
"""The tokens `</think>` and `<|im_end|>` of the converted model."""
MANY = 200
MOST_GROWTH = 300 << 20


@dataclass
class Report:
    """What was asked, and what was wrong."""

    engine: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def note(self, mode: str, case: Case, answer: Answer, mistake: str | None) -> None:
        self.rows.append(
            {
                "mode": mode,
                "case": case.name,
                "status": answer.status,
                "finish": answer.finish,
                "seconds": round(answer.seconds, 2),
                "reasoning": answer.reasoning[:200],
                "text": (answer.texts or [answer.message])[0][:200],
                "wrong": mistake,
            }
        )
        if mistake is not None:
            self.wrong.append(f"{mode}: {case.name}: {mistake}")


def judged(case: Case, answer: Answer) -> str | None:
    """What is wrong with an answer; None if nothing is."""
    try:
        if answer.status == 0 or answer.status >= 500:
            return f"status {answer.status}: {answer.message[:300]}"
        if answer.status != 200:
            if case.refused is None and not case.may_be_refused:
                return f"refused: {answer.message[:300]}"
            if case.refused and case.refused not in answer.message:
                return f"the refusal does not name {case.refused!r}: {answer.message[:300]}"
            return None
        if case.refused is not None:
            return f"accepted, and answered {answer.texts!r}"
        if case.kind == "tools":
            return _judge_calls(case, answer)
        if case.judge is not None:
            is_whole = all(reason == "stop" for reason in answer.finish)
            if not is_whole and case.tokens > 100:
                return f"finished by {answer.finish}: {answer.texts!r}"
            if is_whole or case.kind in ("json_object", "structural_tag"):
                for text in answer.texts:
                    case.judge(text)
    except (AssertionError, ValueError, jsonschema.ValidationError) as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def _judge_calls(case: Case, answer: Answer) -> str | None:
    choice = case.spec["tool_choice"]
    if choice != "auto" and not answer.calls:
        return f"no call: {answer.texts!r}"
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    for call in answer.calls:
        if isinstance(choice, dict) and call["name"] != choice["function"]["name"]:
            return f"called {call['name']}"
        # With `auto`, and tools that are not strict, servers leave the arguments to the model.
        if choice != "auto":
            jsonschema.validate(json.loads(call["arguments"]), schemas[call["name"]])
    return None


def ask_all(report: Report, server: Server, mode: str, asked: list[Case], at_once: int) -> None:
    """All cases, some at a time; after each the server's health."""
    began = time.monotonic()

    def ask(case: Case) -> None:
        answer = server.ask(case)
        mistake = judged(case, answer)
        if mistake is None and not server.is_healthy():
            mistake = "the server is not well afterwards"
        report.note(mode, case, answer, mistake)

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(ask, asked))
    answers = [row for row in report.rows if row["mode"] == mode]
    wrong = sum(row["wrong"] is not None for row in answers)
    by_status = {
        status: sum(row["status"] == status for row in answers)
        for status in sorted({row["status"] for row in answers})
    }
    slowest = max(answers, key=lambda row: row["seconds"])
    print(
        f"{mode}: {len(answers) - wrong} of {len(answers)} right, statuses {by_status},"
        f" {time.monotonic() - began:.0f} s, slowest {slowest['seconds']} s ({slowest['case']})",
        flush=True,
    )


def ask_many_schemas(report: Report, server: Server) -> None:
    """Schemas that come once each leave no memory behind."""
    warm, measured = many_schemas(MANY + 40)[:40], many_schemas(MANY + 40)[40:]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(server.ask, warm))
        before = server.memory()
        answers = list(pool.map(server.ask, measured))
    growth = server.memory() - before
    print(f"{MANY} schemas that come once: {growth / (1 << 20):+.0f} MiB", flush=True)
    if growth > MOST_GROWTH:
        report.wrong.append(f"memory: {growth} bytes more after {MANY} schemas")
    for case, answer in zip(measured, answers, strict=True):
        if answer.status != 200:
            report.note("many schemas", case, answer, f"status {answer.status}")


def reasoning_cases(engine: str) -> list[Case]:
    """A bias brings the model to end its reasoning at some place, which no case can know."""
    bias = {"logit_bias": {str(REASONING_END): 13.0, str(TEXT_END): -50.0}}
    made = []
    for number, prompt in enumerate(["Who?", "Say 1 2 3 1 2 3 1 2 3.", "Count.", "Hi."]):
        more = {"temperature": 1.0, "seed": number, **bias}
        judge = is_valid(PERSON)
        made.append(
            Case(f"reasoning {number}", "json", PERSON, prompt, judge, more=more, tokens=400)
        )
    return [*made, Case("reasoning, a bad schema", "json", {"type": "no"}, "Hi.", refused="type")]


def parts(asked: list[Case], are_apart: bool) -> list[tuple[str, list[Case]]]:
    """All cases, or the sampled ones apart."""
    if not are_apart:
        return [("", asked)]
    sampled = [case for case in asked if "temperature" in case.more]
    greedy = [case for case in asked if "temperature" not in case.more]
    return [(", greedy", greedy), (", sampled", sampled * 3)]


def modes(engine: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """The flags and the environment of each mode."""
    tools, chunked = TOOL_FLAGS[engine], CHUNKED[engine]
    found = {
        "plain": ([*tools, *chunked], {}),
        "speculative": ([*tools, "--speculative-config", json.dumps(NGRAM)], {}),
        # vLLM knows no bias beside drafts.
        "reasoning": ([*tools, *REASONING[engine]], {"STENCILM_OPTIONS": '{"whitespace_cap": 2}'}),
    }
    if engine == "sglang":
        # Its kernels for trees of drafts on CPUs are not on PyPI.
        del found["speculative"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=["vllm", "sglang"])
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--modes", help="some of plain,speculative,reasoning")
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--backend", default="stencilm")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    report = Report(options.engine)
    out = options.out / f"{options.engine}.json"
    known = modes(options.engine)
    for mode in options.modes.split(",") if options.modes else known:
        flags, environment = known[mode]
        server = Server(
            options.engine,
            options.python,
            options.model,
            options.out / f"{options.engine}-{mode}.log",
            port=options.port,
            backend=options.backend,
            flags=flags,
            environment=environment,
        )
        print(f"{mode}: ready after {server.start():.0f} s", flush=True)
        try:
            asked = cases(options.engine)
            if mode == "reasoning":
                asked = reasoning_cases(options.engine)
            ask_all(report, server, f"{mode}, one by one", asked, 1)
            # vLLM's sampler of drafts for CPUs writes token 0 for greedy requests beside sampled
            # ones, with every backend.
            for name, some in parts(asked, options.engine == "vllm" and mode == "speculative"):
                ask_all(report, server, f"{mode}, 8 at a time{name}", some, 8)
            if mode == "plain":
                ask_all(report, server, f"{mode}, a crowd", crowd(8), 8)
                ask_many_schemas(report, server)
            if server.is_healthy():
                counters = server.metrics(*COUNTERS[options.engine])
                print(f"{mode}: {json.dumps(counters)}", flush=True)
        finally:
            server.stop()
        if mode == "reasoning" and not any(row["reasoning"] for row in report.rows):
            report.wrong.append("reasoning: no answer has any")
        text = json.dumps(report.rows, indent=1, ensure_ascii=False)
        out.write_text(text, encoding="utf-8")
    for line in report.wrong:
        print(f"WRONG {line}")
    print(f"{len(report.wrong)} wrong; the answers are in {out}")
    return bool(report.wrong)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())

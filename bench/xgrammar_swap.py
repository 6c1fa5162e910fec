"""The same script on `xgrammar` and on `stencilm.compat.xgrammar`: medians side by side.

    python bench/xgrammar_swap.py --tokenizer ../shared/tokenizers/llama3.1 [--python PATH]

Each module runs in a process of its own, with `--python` if it is given (an environment with torch
and xgrammar; the package is found beside this file). A task is a grammar and texts of it. What is
timed: compiling for the first time, the first mask, later masks, taking a token, and the same
grammar once more.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

MODULES = ("xgrammar", "stencilm.compat.xgrammar")
PACKAGE = Path(__file__).parents[1] / "python"

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 60},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["new", "old", "vip"]}, "maxItems": 5},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"],
        },
    },
    "required": ["name", "age"],
}
PERSONS = [
    '{"name": "Maria Lopez", "age": 34, "tags": ["new", "vip"], "address": {"city": "Oslo"}}',
    '{"name": "J. R. R. Tolkien", "age": 81}',
]
CALC = """
root ::= term (("+" | "-") term)*
term ::= factor (("*" | "/") factor)*
factor ::= [0-9]+ ("." [0-9]+)? | "(" root ")"
"""
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{at}",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["query"],
            },
        },
    }
    for at in range(20)
]
CALL = (
    'Let me look that up for you, it will not take long.\n<tool_call>\n{"name": "tool_7", '
    '"arguments": {"query": "weather in Oslo", "limit": 3}}\n</tool_call>'
)
DATE = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"


def tasks(xgr: Any, compiler: Any) -> Iterable[tuple[str, Callable[[], Any], list[str]]]:
    """Names, ways to compile, texts."""
    yield "any JSON", compiler.compile_builtin_json_grammar, ['{"a": [1, 2.5, "x y z", null]}']
    yield "JSON Schema", lambda: compiler.compile_json_schema(json.dumps(PERSON)), PERSONS
    yield "EBNF", lambda: compiler.compile_grammar(CALC), ["(12.5+3)*7-20/(1+1)"]
    yield "regex", lambda: compiler.compile_regex(DATE), ["2026-11-30T14:00:59Z"]
    tag = xgr.get_model_structural_tag("qwen_3", tools=TOOLS, reasoning=False)
    yield "20 tools", lambda: compiler.compile_structural_tag(tag), [CALL]


def measure(name: str, tokenizer: str) -> dict[str, dict[str, float]]:
    """Microseconds by task and by what was done."""
    xgr = importlib.import_module(name)
    import transformers

    loaded = transformers.AutoTokenizer.from_pretrained(tokenizer)
    info = xgr.TokenizerInfo.from_huggingface(loaded)
    found: dict[str, dict[str, float]] = {}
    mask = xgr.allocate_token_bitmask(1, info.vocab_size)
    for task, _, texts in tasks(xgr, xgr.GrammarCompiler(info)):
        times: dict[str, list[float]] = {
            kind: [] for kind in ("compile", "first mask", "mask", "accept", "again")
        }
        for _ in range(5):
            compiler = xgr.GrammarCompiler(info)
            make = next(way for label, way, _ in tasks(xgr, compiler) if label == task)
            compiled = timed(times["compile"], make)
            timed(times["again"], make)
            for text in texts:
                run(xgr, compiled, loaded.encode(text, add_special_tokens=False), mask, times)
        found[task] = {kind: statistics.median(values) for kind, values in times.items()}
    return found


def run(xgr: Any, compiled: Any, tokens: list[int], mask: Any, times: dict[str, Any]) -> None:
    matcher = xgr.GrammarMatcher(compiled)
    for place, token in enumerate(tokens):
        kind = "mask" if place else "first mask"
        timed(times[kind], lambda: matcher.fill_next_token_bitmask(mask))
        words = mask[0].tolist()
        assert words[token // 32] >> token % 32 & 1, f"token {token} is refused"
        assert timed(times["accept"], lambda: matcher.accept_token(token))  # noqa: B023
    assert matcher.is_completed()


def timed(times: list[float], work: Callable[[], Any]) -> Any:
    begin = time.perf_counter()
    made = work()
    times.append(1e6 * (time.perf_counter() - begin))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokenizer", required=True, help="a folder that transformers reads")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--module", help="only this one, as JSON")
    options = parser.parse_args()
    if options.module:
        print(json.dumps(measure(options.module, options.tokenizer)))
        return
    results = []
    for module in MODULES:
        command = [options.python, __file__, "--tokenizer", options.tokenizer, "--module", module]
        paths = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "PYTHONPATH": paths, "TOKENIZERS_PARALLELISM": "false"}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
        results.append(json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None)
    print(f"{'median, µs':24}{MODULES[0]:>14}{MODULES[1]:>28}")
    for task in next(result for result in results if result):
        for kind in ("compile", "first mask", "mask", "accept", "again"):
            row = [result[task][kind] if result else float("nan") for result in results]
            print(f"{task + ', ' + kind:24}{row[0]:14.1f}{row[1]:28.1f}")


if __name__ == "__main__":
    main()

"""Who else can say what a schema allows: `jsonschema`, `jsonschema_rs`, a proof in plain Python."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

PROOF = Path(__file__).resolve().parents[3] / "shared" / "jsproof"

Judge = Callable[[Any], bool]


class NotForJudges(Exception):
    """A text that a validator cannot be asked about."""


def number(digits: str) -> int | Fraction:
    """The exact number: validators are given no floats that were rounded."""
    exact = fraction(digits)
    return exact.numerator if exact.denominator == 1 else exact


def fraction(digits: str) -> Fraction:
    """The same, but `1.0` is no integer: so draft-04 has it."""
    try:
        decimal = Decimal(digits)
    except InvalidOperation:
        raise NotForJudges(digits) from None
    if abs(decimal.adjusted()) > 300:
        raise NotForJudges(digits)
    return Fraction(decimal)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise NotForJudges("a name comes twice")
    return members


def loads(text: str, *, is_draft4: bool = False) -> Any:
    """The value of a JSON text, exactly."""
    read = fraction if is_draft4 else number
    return json.loads(text, parse_int=number, parse_float=read, object_pairs_hook=_members)


def dumps(value: Any) -> str:
    """The text as `json.dumps` writes it, without white space."""
    if isinstance(value, Fraction):
        return repr(float(value))
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(n)}:{dumps(v)}" for n, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _python_patterns(schema: Any) -> Any:
    """Python's `$` matches before a last line feed, that of ECMA-262 does not."""
    if isinstance(schema, dict):
        changed = {}
        for keyword, value in schema.items():
            if keyword == "pattern" and isinstance(value, str):
                changed[keyword] = value.replace("$", r"\Z")
            elif keyword == "patternProperties" and isinstance(value, dict):
                changed[keyword] = {
                    pattern.replace("$", r"\Z"): _python_patterns(v) for pattern, v in value.items()
                }
            else:
                changed[keyword] = _python_patterns(value)
        return changed
    return [_python_patterns(s) for s in schema] if isinstance(schema, list) else schema


def _by_jsonschema(schema: Any) -> Judge:
    import jsonschema

    exact = _python_patterns(loads(json.dumps(schema)))
    validator = jsonschema.validators.validator_for(exact)(exact)
    return lambda value: bool(validator.is_valid(value))


def _by_jsonschema_rs(schema: Any) -> Judge:
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(schema)
    return lambda value: bool(validator.is_valid(json.loads(dumps(value))))


def _asked(judge: Judge, value: Any) -> bool:
    """A verdict; schemas without end are the same error to all."""
    try:
        return judge(value)
    except BaseException as error:
        # A part of `jsonschema` is in Rust, which panics on an error of Python.
        if type(error).__name__ == "PanicException":
            raise RecursionError from error
        raise


def judges_of(schema: Any) -> Callable[[Any], set[bool]]:
    """What two validators say of a value: mostly one verdict, which counts.

    Two verdicts, or none, are no verdict: each validator has mistakes of its own.
    """
    made = [_by_jsonschema(schema), _by_jsonschema_rs(schema)]

    def verdicts(value: Any) -> set[bool]:
        said = set()
        for judge in made:
            # `jsonschema` looks for the length of `items: true` in 2019-09.
            with suppress(TypeError):
                said.add(_asked(judge, value))
        return said

    return verdicts


def load_proof() -> ModuleType:
    """The incremental acceptor of another construction, in plain Python."""
    if str(PROOF) not in sys.path:
        sys.path.insert(0, str(PROOF))
    most = sys.getrecursionlimit()
    module = importlib.import_module("machine2")
    sys.setrecursionlimit(most)  # Importing it asks for more than the stack has.
    return module

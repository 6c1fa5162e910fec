"""How schemas that are values of Python become text: as `json` writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stencilm import Grammar, _core

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is not installed")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_values_are_written_as_json_writes_them(value: Any) -> None:
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = _core.json_text(value)
    # No JSON text has these, and `json` says so in its own words.
    assert text == expected or (text is None and ("NaN" in expected or "Infinity" in expected))


def test_what_json_reads_otherwise_is_left_to_json() -> None:
    class Words(str):
        __slots__ = ()

    for value in ({1: 2}, Words("a"), {"a": object()}, [float("nan")], "\ud800", 10**5_000):
        assert _core.json_text(value) is None
    with pytest.raises(TypeError):
        Grammar.from_json_schema({"const": object()})
    inside: dict[str, Any] = {}
    inside["not"] = [inside, "x" * 1_000]
    with pytest.raises(ValueError, match="Circular"):
        Grammar.from_json_schema(inside)
    assert _core.json_text({'\x00\x1f"\\é\n': (10**30, -0.0, True)}) == (
        '{"\\u0000\\u001f\\"\\\\é\\n":[1' + "0" * 30 + ",-0.0,true]}"
    )


def test_deep_values_are_schemas_too() -> None:
    schema: Any = {"const": 1}
    for _ in range(10_000):
        schema = {"allOf": [schema]}
    assert _core.json_text(schema) == '{"allOf":[' * 10_000 + '{"const":1}' + "]}" * 10_000

"""Formats that must fail: no text of one comes, though some are enforced more narrowly."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from stencilm import Grammar, Limits, UnsatisfiableError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit

SHARED = Path(__file__).resolve().parents[2] / "shared"

NARROWER = [
    "time",
    "date-time",
    "hostname",
    "idn-hostname",
    "idn-email",
    "relative-json-pointer",
    "regex",
]

# Texts of a format that the narrower language leaves out.
LEFT_OUT = {
    "time": ["23:44:60+23:45", "00:00:60.5+00:01"],
    "date-time": ["2020-05-31T23:59:60Z", "2016-12-31T20:29:60-03:30"],
    "hostname": ["xn--9n2bp8q.xn--9t4b11yi5a", "a.XN--zca29lwxobi7a"],
    "idn-hostname": ["xn--ihqwcrb4cv8a8dqg056pqjye", "\u0e2d\u0e34", "\u05d0\u05d1.a"],
    "idn-email": ["user@cafe\u0301.com", "a@xn--9n2bp8q"],
    "relative-json-pointer": ["1+1", "0-12/a", "2+1#"],
    "regex": [
        r"(?<year>\d+)-\k<year>",
        "((((a))))",
        r"[a-\d]",
        "(?i:a)",
        r"(a)\1",
        "a{12,34}",
        "[b-x]",
    ],
}

# Texts that are surely not of it.
OUTSIDE = {
    "time": ["23:59:59", "24:00:00Z", "23:59:61Z", "00:00:60Z", ""],
    "date-time": ["2021-02-29T00:00:00Z", "2020-12-31", "2020-12-31T23:58:60Z"],
    "hostname": ["-a", "a_b", "a.", "a" * 64, "\u00e4"],
    "idn-hostname": ["-a", "a_b", "\u00e4.", "\u00e4 b"],
    "idn-email": ["a", "@b", "a@b_c", "a@-\u00e4"],
    "relative-json-pointer": ["01", "-1", "0~", "1+0", "a"],
    "regex": ["(", "a)", "[a", "*", "a**", "(?", "\\", "(?P<n>a)", "(?#a)", ")("],
}


def takes(kit: Kit, schema: Any) -> Callable[[Any], bool]:
    compiled = kit.compiler.compile(Grammar.from_json_schema(schema))

    def accepts(value: Any) -> bool:
        matcher = compiled.matcher()
        return matcher.accept_bytes(json.dumps(value).encode()) and matcher.may_stop()

    return accepts


@pytest.mark.parametrize("name", NARROWER)
def test_what_a_narrower_format_leaves_out_is_not_outside(byte_kit: Kit, name: str) -> None:
    inside, outside = (
        takes(byte_kit, schema) for schema in ({"format": name}, {"not": {"format": name}})
    )
    for text in LEFT_OUT[name]:
        assert not inside(text), text
        assert not outside(text), text
    for text in OUTSIDE[name]:
        assert not inside(text), text
        assert outside(text), text
    assert inside(1)
    assert not outside(1)


@pytest.mark.parametrize("name", NARROWER)
def test_nothing_is_of_a_format_and_not(byte_kit: Kit, name: str) -> None:
    both = {"type": "string", "format": name, "not": {"format": name}}
    with pytest.raises(UnsatisfiableError):
        Grammar.from_json_schema(both, limits=Limits(search=200_000))
    # Twice negated it is the format.
    twice = {"type": "string", "not": {"not": {"format": name}}}
    matcher = byte_kit.matcher(Grammar.from_json_schema(twice))
    text = byte_kit.text(byte_kit.walk(matcher, Random(name)))
    assert takes(byte_kit, {"format": name})(json.loads(text)), text


@pytest.mark.skipif(not (SHARED / "bench" / "suite.py").exists(), reason="the suite is not here")
def test_no_valid_text_of_the_suite_is_outside_of_its_format(byte_kit: Kit) -> None:
    spec = importlib.util.spec_from_file_location("suite", SHARED / "bench" / "suite.py")
    assert spec is not None
    assert spec.loader is not None
    suite = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suite)
    drafts, _ = suite.read_suite(SHARED / "data" / "json-schema-test-suite.tar.gz")
    count = 0
    for part, _, groups in drafts["draft2020-12"]:
        for group in groups if part == "format" else []:
            schema = suite.plain(group["schema"])
            if schema.get("format") not in NARROWER:
                continue
            outside = takes(byte_kit, {"not": schema})
            for test in group["tests"]:
                if test["valid"]:
                    count += 1
                    assert not outside(suite.plain(test["data"])), test["description"]
    assert count > 100


XN = "xn--9n2bp8q"


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        # A listed text of which it is not known whether it is of the format comes in neither case.
        ({"not": {"const": XN, "format": "hostname"}}, ["a"], [XN]),
        ({"not": {"enum": [XN, "a_b"], "format": "hostname"}}, ["a", "a_b"], [XN]),
        ({"enum": [XN, "a_b", "c"], "format": "hostname"}, ["c"], [XN, "a_b"]),
        ({"enum": [XN, "a_b", "c"], "not": {"format": "hostname"}}, ["a_b"], [XN, "c"]),
        (
            {"oneOf": [{"format": "hostname"}, {"type": "string", "pattern": "^xn--"}]},
            ["a.b", "xn--_"],
            [XN, "a_"],
        ),
        (
            {"oneOf": [{"type": "string", "format": "hostname"}, {"enum": [XN, "a_b", "c"]}]},
            ["d", "a_b"],
            [XN, "c"],
        ),
        (
            {
                "oneOf": [
                    {"properties": {"a": {"format": "hostname"}}, "required": ["a"]},
                    {
                        "properties": {"a": {"type": "string", "pattern": "^xn--"}},
                        "required": ["a"],
                    },
                ],
                "type": "object",
            },
            [{"a": "b"}, {"a": "xn--_"}],
            [{"a": XN}, {"a": "_"}],
        ),
        (
            {
                "oneOf": [
                    {"items": {"format": "time"}, "minItems": 1},
                    {"items": {"enum": ["23:44:60+23:45", 1]}, "minItems": 1},
                ],
                "type": "array",
            },
            [["23:59:60Z"]],
            [["23:44:60+23:45"], [1]],
        ),
        (
            {
                "if": {"properties": {"a": {"format": "hostname"}}},
                "then": {"required": ["b"]},
                "type": "object",
            },
            [{"a": "a_b"}, {"a": "c", "b": 1}],
            [{"a": "c"}, {"a": XN}],
        ),
        (
            {
                "contains": {"type": "string", "format": "hostname"},
                "maxContains": 1,
                "type": "array",
            },
            [["a"], ["a", "b_"]],
            [["a", "b"], ["a", XN]],
        ),
        (
            {"not": {"propertyNames": {"format": "hostname"}}, "type": "object"},
            [{"a_": 1}],
            [{"a": 1}, {XN: 1}],
        ),
    ],
)
def test_formats_in_conditions(byte_kit: Kit, schema: Any, good: list[Any], bad: list[Any]) -> None:
    accepts = takes(byte_kit, schema)
    for value in good:
        assert accepts(value), value
    for value in bad:
        assert not accepts(value), value


def test_a_listed_name_must_be_of_a_format_for_sure(byte_kit: Kit) -> None:
    names = {"propertyNames": {"format": "hostname"}}
    for schema in [{"required": [XN], **names}, {"not": {"required": [XN], **names}}]:
        with pytest.raises(UnsupportedError, match=f"`{XN}`"):
            Grammar.from_json_schema(schema)
    assert takes(byte_kit, {"required": ["a"], **names})({"a": 1})


def test_the_report_says_which_language_was_taken() -> None:
    hosts = {"type": "string", "format": "hostname"}
    schema = {
        "anyOf": [{**hosts, "minLength": 2}, {"not": hosts}, {"oneOf": [hosts, {"const": XN}]}]
    }
    narrower = Grammar.from_json_schema(schema).report.narrower
    formats = {(at, "must fail" in text) for at, text in narrower if at.endswith("format")}
    assert formats == {
        ("/anyOf/0/format", False),
        ("/anyOf/2/oneOf/0/format", False),
        ("/anyOf/2/oneOf/0/format", True),
    }
    report = Grammar.from_json_schema({"not": {"enum": ["a"], "format": "time"}}).report
    assert report.enforced == [("/not", "not"), ("/not/enum", "enum")]
    assert [at for at, text in report.narrower] == ["/not/format"]

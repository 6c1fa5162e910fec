"""Ready grammars against parsers that share no code with us: samples, and random texts of ours.

`STENCILM_WALKS=2000 pytest tests/grammars` draws more of them, and `STENCILM_SEED=7` others.
"""

from __future__ import annotations

import ast
import csv
import datetime
import io
import json
import os
import re
import sqlite3
import warnings
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from random import Random
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from stencilm import Grammar, grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Kit

WALKS = int(os.environ.get("STENCILM_WALKS", "60"))
SEED = int(os.environ.get("STENCILM_SEED", "0"))
TABLES = {"users": ["id", "name"], "orders": ["id", "user_id", "total"]}

Judge = "Callable[[str], object]"
"""Raises an error, or returns False, for what is no text of the language."""


def is_right(judge: Callable[[str], object], text: str) -> bool:
    try:
        return judge(text) is not False
    except (ValueError, SyntaxError, ElementTree.ParseError, csv.Error, HeaderParseError):
        return False
    except (IndexError, OverflowError):
        # What some parsers do with what they cannot read.
        return False


# Judges.


def python_judge(text: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval")


def arithmetic_judge(text: str) -> object:
    allowed = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
    tree = python_judge(text)
    assert isinstance(tree, ast.AST)
    return all(isinstance(node, allowed) for node in ast.walk(tree))


def csv_judge(columns: int | None, header: list[str] | None = None) -> Callable[[str], object]:
    def judge(text: str) -> object:
        records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        if header is not None and records[:1] != [header]:
            return False
        # An empty line is no record to the module, and one empty field to the RFC.
        counts = {len(record) or 1 for record in records}
        return columns is None or counts <= {columns}

    return judge


def json_lines_judge(text: str) -> object:
    lines = text.removesuffix("\n").split("\n")
    return [json.loads(line, parse_constant=lambda _: 1 / 0) for line in lines]


PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


def people_judge(text: str) -> object:
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema_rs is not installed")
    lines = text.removesuffix("\n").split("\n")
    return all(jsonschema_rs.is_valid(PERSON, json.loads(line)) for line in lines)


def email_judge(text: str) -> object:
    return "." in Address(addr_spec=text).domain


def schema_judge(form: str) -> Callable[[str], object]:
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="jsonschema_rs is not installed")
    schema = {"type": "string", "format": form}
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return lambda text: bool(validator.is_valid(text))


def url_judge(text: str) -> object:
    port = re.match(r"https?://[^/?#]*?:(\d+)(?:[/?#]|$)", text)
    return (port is None or int(port[1]) <= 65535) and schema_judge("uri")(text)


def semver_judge(text: str) -> object:
    semver = pytest.importorskip("semver", reason="semver is not installed")
    return semver.Version.parse(text)


def cron_judge(text: str) -> object:
    croniter = pytest.importorskip("croniter", reason="croniter is not installed")
    return croniter.croniter.is_valid(text)


def graphql_judge(text: str) -> object:
    graphql = pytest.importorskip("graphql", reason="graphql-core is not installed")
    try:
        return graphql.parse(text)
    except graphql.GraphQLError:
        return False


def xml_judge(names: dict[str, list[str]], root: str | None) -> Callable[[str], object]:
    def judge(text: str) -> object:
        tree = ElementTree.fromstring(text.encode())
        known = all(
            part.tag in names and set(part.attrib) <= set(names[part.tag]) for part in tree.iter()
        )
        return known and root in (None, tree.tag)

    return judge


def yaml_judge(text: str) -> object:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    try:
        return isinstance(yaml.safe_load(text), dict | list)
    except yaml.YAMLError:
        return False


def markdown_judge(columns: int) -> Callable[[str], object]:
    markdown = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")

    def judge(text: str) -> object:
        tokens = markdown.MarkdownIt("commonmark").enable("table").parse(text)
        kinds = [token.type for token in tokens]
        rows = kinds.count("tr_open")
        cells = kinds.count("th_open") + kinds.count("td_open")
        # Other blocks than one table would have other kinds.
        others = [token for token in tokens if token.level == 0]
        return len(others) == 2 and kinds[:1] == ["table_open"] and cells == rows * columns

    return judge


def sql_judge(tables: dict[str, list[str]] | None) -> Callable[[str], object]:
    sqlglot = pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    database = sqlite3.connect(":memory:")
    for table, columns in (tables or {}).items():
        database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")

    def judge(text: str) -> object:
        try:
            for dialect in ("sqlite", "postgres"):
                parsed = sqlglot.parse_one(text, dialect=dialect)
                if tables is not None:
                    found = {table.name for table in parsed.find_all(sqlglot.exp.Table)}
                    if not found <= set(tables):
                        return False
        except sqlglot.errors.SqlglotError:
            return False
        try:
            database.execute("EXPLAIN " + text)
        except sqlite3.Error as error:
            # What names mean is another question: types, counts of columns, aggregates.
            wrong = ["syntax error", "incomplete input", "unrecognized token", "no such function"]
            if tables is not None:
                wrong.append("no such table")
            return not any(part in str(error) for part in wrong)
        return True

    return judge


# The grammars.


@dataclass(frozen=True)
class Ready:
    make: Callable[[], Grammar]
    judge: Callable[[], Callable[[str], object]] | None
    """None where nobody but us can say: only samples are looked at."""
    good: Sequence[str]
    bad: Sequence[str]
    """Texts that neither the grammar nor the judge takes."""
    outside: Sequence[str] = ()
    """Texts of the language that the grammar does not cover."""
    endings: bytes = b")]}\"'>;\n1a*"
    """Bytes that bring about the end, the surest first."""


def just(judge: Callable[[str], object]) -> Callable[[], Callable[[str], object]]:
    return lambda: judge


NOTE = {"note": ["id", "lang"], "to": []}
READY = {
    "arithmetic": Ready(
        grammars.arithmetic,
        just(arithmetic_judge),
        ["1", "(1 + 2.5) * -3", "2**-1", "--1", "10/4-0.5"],
        ["", "1 +", "(1", "01", "1..2", "* 2", "a"],
    ),
    "cron": Ready(
        grammars.cron,
        just(cron_judge),
        ["* * * * *", "*/5 8-18 1,15 JAN MON", "0 0 1 1 0", "5-59/10 22 * * 1-5"],
        [
            "",
            "* * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "*/0 * * * *",
            "x * * * *",
        ],
        ["* * * * * *", "* * * * mon"],
    ),
    "csv": Ready(
        grammars.csv,
        just(csv_judge(None)),
        ["", "a,b\r\nc,d", 'a,"b ""x"", c"\n', '"line\r\nend",2'],
        ['"a', '"a"b,c'],
    ),
    "csv of 3 columns": Ready(
        lambda: grammars.csv(columns=3),
        just(csv_judge(3)),
        ["a,b,c", 'a,,\n"x,y",1,2\n'],
        ["a,b", "a,b,c\nd,e", "a,b,c,d"],
    ),
    "csv with a header": Ready(
        lambda: grammars.csv(columns=["city", 'a "b", c']),
        just(csv_judge(2, ["city", 'a "b", c'])),
        ['city,"a ""b"", c"\nOslo,1'],
        ["Oslo,1", "city,b\nOslo,1"],
    ),
    "email": Ready(
        grammars.email,
        just(email_judge),
        ["maria.lopez@example.org", "a+b_c@x-y.co", "o'neil@mail.example.com"],
        ["", "a", "@b.co", "a@", ".a@b.co", "a..b@c.de", "a@b c.de", "a b@c.de"],
        ['"a b"@c.de', "a@[1.2.3.4]"],
    ),
    "graphql": Ready(
        grammars.graphql,
        just(graphql_judge),
        [
            "{ user(id: 4) { name ...more @include(if: $x) } }",
            'query q($id: ID! = 1, $l: [Int!]) { a: b(c: [1, "x", E], d: {e: null}) }',
            "fragment f on T { ... on U { a } ... @skip(if: true) { b } }",
            'mutation { set(v: "\\u00e9\\n", n: -1.5e3) { ok } }',
        ],
        [
            "",
            "{ a }}",
            "{ a ",
            "query q(id: 1) { a }",
            "fragment on on T { a }",
            "{ a(b: ) }",
            "{ a(b: 01) }",
        ],
        ["{ a # comment\n}", "{\ta }"],
    ),
    "iso_date": Ready(
        grammars.iso_date,
        just(datetime.date.fromisoformat),
        ["2024-02-29", "2000-02-29", "1999-12-31", "0001-01-01", "2023-04-30"],
        ["", "2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "0000-01-01", "2024-1-1"],
    ),
    "iso_time": Ready(
        grammars.iso_time,
        just(datetime.time.fromisoformat),
        ["00:00", "23:59:59", "12:30:00.123456"],
        ["24:00", "12:60", "12:30:60"],
    ),
    "iso_datetime": Ready(
        grammars.iso_datetime,
        just(datetime.datetime.fromisoformat),
        ["2024-02-29T23:59:30Z", "2024-01-01T00:00+05:30", "2024-01-01T00:00:00.5"],
        ["2023-02-29T00:00", "2024-01-01T24:00:01", "2024-01-01TZ"],
    ),
    "json_lines": Ready(
        grammars.json_lines,
        just(json_lines_judge),
        ["1", '{"a": [1, true]}\n"x\\u00e9"\n', "[]\n{}\nnull"],
        ["", "{", "[1,]", "01", "\n1", "1\n\n2", "tru"],
    ),
    "json_lines of a schema": Ready(
        lambda: grammars.json_lines(PERSON),
        just(people_judge),
        ['{"name": "Ann"}', '{"name": "Ann", "age": 3}\n{"name": "Bo\\n"}\n'],
        ["", '{"name": "ann"}', '{"name": "Ann"}\n{}', '{"name": "Ann"} {"name": "Bo"}', "\n"],
        ['{"name":"Ann"}'],
        endings=b'"}\nA',
    ),
    "markdown_table": Ready(
        lambda: grammars.markdown_table(columns=2),
        lambda: markdown_judge(2),
        ["| a | b |\n| --- | :---: |\n| 1 | x y |\n", "| # | - |\n| --- | --- |"],
        ["| a | b |", "| a |\n| --- |\n| b |", "| a | b |\n| --- |", "a b"],
        endings=b" |-\n",
    ),
    "mermaid": Ready(
        grammars.mermaid,
        None,
        [
            "flowchart LR\n    a[Start] --> b{Ready?}\n    b -->|yes| c((End here))\n",
            "sequenceDiagram\n    participant A as Alice\n    A->>B: Hello\n    B-->>A: Hi!\n",
        ],
        ["flowchart LR", "flowchart XX\n    a --> b\n", "graph TD\n    end --> b\n", "pie\n"],
    ),
    "python_expression": Ready(
        grammars.python_expression,
        just(python_judge),
        [
            "f(x, key=[1, 2.5e3])[0].name if not a in b else {'k': -1}",
            "lambda x, y: x**-y // 2",
            "[n for n in range(10) if n % 2 == 0]",
            "(1,)",
            "a[1:] | {x, y} is not None",
        ],
        ["", "1 +", "class", "f(a=1, 2)", "'a", "[1", "a b", "1.x", "not", "x = 1", "lambda: "],
        ["1_000", "f'{x}'"],
    ),
    "robot": Ready(
        grammars.robot,
        None,
        ["move forward 10 cm\nturn left 90 deg\nopen gripper\n", "go to 1.5, -2", "speed 100 %"],
        ["", "move", "move forward 10", "turn left 361 deg", "speed 101 %", "jump"],
    ),
    "semver": Ready(
        grammars.semver,
        just(semver_judge),
        ["1.0.0", "0.0.0-alpha.1", "1.2.3-0a.-+001", "10.20.30+build"],
        ["", "1.0", "01.0.0", "1.0.0-01", "1.0.0-", "1.0.0+a+b", "v1.0.0"],
    ),
    "sql": Ready(
        grammars.sql,
        lambda: sql_judge(None),
        [
            "SELECT * FROM users",
            "SELECT u.name AS n, COUNT(*) FROM users AS u LEFT JOIN orders AS o ON u.id = o.uid "
            "WHERE o.total BETWEEN 1 AND 2.5 AND NOT u.name LIKE '%x''s' GROUP BY u.name "
            "HAVING COUNT(*) > 3 ORDER BY u.name DESC LIMIT 10 OFFSET 5;",
            "INSERT INTO users (id, name) VALUES (1, 'a'), (2, NULL)",
            "UPDATE users SET name = UPPER(name) || '!' WHERE id IN (SELECT user_id FROM orders)",
            "DELETE FROM orders WHERE EXISTS (SELECT id FROM users WHERE name IS NULL)",
            "SELECT CASE WHEN a = 1 THEN 'x' ELSE -b * (2 + c) END FROM t UNION ALL SELECT 1",
        ],
        [
            "",
            "SELECT",
            "SELECT * FROM",
            "SELECT a FROM select",
            "DELETE users",
            "UPDATE users SET",
            "INSERT INTO users VALUES",
            "SELECT 'a FROM t",
            "SELECT a FROM t WHERE",
        ],
        ["select * from users", "WITH x AS (SELECT 1) SELECT * FROM x", 'SELECT "a" FROM t'],
    ),
    "sql of a schema": Ready(
        lambda: grammars.sql(tables=TABLES),
        lambda: sql_judge(TABLES),
        [
            "SELECT id, orders.total FROM orders",
            "SELECT u.name FROM users AS u JOIN orders AS o ON u.id = o.user_id",
            "DELETE FROM users WHERE id = 1",
        ],
        ["SELECT * FROM secrets", "DELETE FROM user"],
        ["SELECT password FROM users", "SELECT users.total FROM users"],
    ),
    "url": Ready(
        grammars.url,
        just(url_judge),
        [
            "https://example.org",
            "http://localhost:8080/a%20b/?q=1#top",
            "https://[::1]:443/",
            "http://192.168.0.1/x",
        ],
        ["", "http://a b.de", "http://example.org/%zz", "http://[::1", "http://a.de:99999"],
        ["http://", "ftp://example.org", "http://user@example.org"],
    ),
    "xml": Ready(
        lambda: grammars.xml(NOTE, root="note"),
        just(xml_judge(NOTE, "note")),
        [
            "<note/>",
            '<?xml version="1.0" encoding="UTF-8"?>\n<note id="1" lang="en">a &amp; b<to/></note>',
            "<note><!-- a - b --><![CDATA[<x> ]] ]]></note>\n",
        ],
        [
            "",
            "<note>",
            "<note></to>",
            "<to/>",
            "<note><x/></note>",
            "<note a='1'/>",
            "<note>&x;</note>",
        ],
        ['<note lang="en" id="1"/>', "<note id='1'/>"],
        endings=b'-><"]/',
    ),
    "yaml": Ready(
        grammars.yaml,
        lambda: yaml_judge,
        [
            'name: Maria Lopez\nage: 34\ntags:\n  - one\n  - "two: 2"\n',
            '- a\n- {"x": [1, null]}\n',
            "a:\n  b:\n    c:\n      d: -1.5\n",
        ],
        ["", "a", "a: b: c\n", "a:\n b\n- c\n", "- a\nb: c\n", "a: [1\n"],
        ["a: 'b'\n", "# comment\na: b\n"],
    ),
}
"""Each grammar by what is said of it."""


def takes(kit: Kit, grammar: Grammar, text: str) -> bool:
    matcher = kit.matcher(grammar)
    return matcher.accept_bytes(text.encode()) and matcher.may_stop()


@pytest.mark.parametrize("name", READY)
def test_samples(byte_kit: Kit, name: str) -> None:
    ready = READY[name]
    grammar = ready.make()
    judge = None if ready.judge is None else ready.judge()
    for texts, is_good in ((ready.good, True), (ready.bad, False)):
        for text in texts:
            assert takes(byte_kit, grammar, text) == is_good, text
            assert judge is None or is_right(judge, text) == is_good, text
    for text in ready.outside:
        assert not takes(byte_kit, grammar, text), text


@pytest.mark.parametrize("name", [name for name, ready in READY.items() if ready.judge])
def test_random_texts_are_what_the_judge_takes(byte_kit: Kit, name: str) -> None:
    ready = READY[name]
    assert ready.judge is not None
    judge, grammar = ready.judge(), ready.make()
    random = Random(f"{name} {SEED}")
    ended = 0
    for _ in range(WALKS):
        text = walk(byte_kit, grammar, random, ready.endings)
        if text is not None:
            ended += 1
            assert is_right(judge, text), text
    assert ended >= WALKS * 0.8


def walk(kit: Kit, grammar: Grammar, random: Random, endings: bytes) -> str | None:
    """A text drawn byte by byte from the masks; None if it comes to no end."""
    matcher = kit.matcher(grammar)
    written = bytearray()
    most = random.choice([5, 20, 60, 150])
    while len(written) < 3_000:
        allowed = sorted(matcher.next_bytes())
        is_late = len(written) >= most
        if matcher.may_stop() and (not allowed or random.random() < (0.7 if is_late else 0.03)):
            return written.decode()
        assert allowed, f"a dead end after {bytes(written)!r}"
        wanted = [byte for byte in endings if byte in allowed]
        ascii_ = [byte for byte in allowed if byte < 128] or allowed
        if is_late and wanted and random.random() < 0.8:
            byte = wanted[0] if random.random() < 0.7 else random.choice(wanted)
        else:
            byte = random.choice(ascii_ if random.random() < 0.95 else allowed)
        assert matcher.accept_bytes(bytes([byte]))
        written.append(byte)
    return None


def test_every_grammar_without_arguments_has_a_name() -> None:
    for name in grammars.names():
        assert isinstance(grammars.by_name(name), Grammar)
    with pytest.raises(ValueError, match="there is no grammar 'cobol'"):
        grammars.by_name("cobol")


@pytest.mark.parametrize(
    "make",
    [
        lambda: grammars.sql(tables={}),
        lambda: grammars.sql(tables={"a": []}),
        lambda: grammars.sql(tables={"a b": ["c"]}),
        lambda: grammars.xml({}),
        lambda: grammars.xml({"a": ["b", "b"]}),
        lambda: grammars.xml({"a": []}, root="b"),
        lambda: grammars.xml({"<a": []}),
        lambda: grammars.csv(columns=0),
        lambda: grammars.markdown_table(columns=["a|b"]),
    ],
)
def test_wrong_arguments_are_errors(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"columns|elements|each|header|attribute|root"):
        make()


def test_json_lines_have_one_line_each(byte_kit: Kit) -> None:
    compact = grammars.json_lines({"type": "array"}, whitespace="compact")
    assert takes(byte_kit, compact, "[1,2]\n[]\n")
    assert not takes(byte_kit, compact, "[1, 2]")
    for options in [{"indent": 2}, {"whitespace": "any"}, {"separators": (",\n", ":")}]:
        with pytest.raises(ValueError, match="one line"):
            grammars.json_lines({}, **options)
    with pytest.raises(ValueError, match="no schema"):
        grammars.json_lines(key_order="any")

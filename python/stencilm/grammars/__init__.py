"""Grammars that are ready to use, of common languages and forms.

Each function gives a `Grammar`; what it covers stands at the head of the file of its name,
`sql.ebnf` and so on, and in the documentation. `names()` lists those that need no argument.

>>> from stencilm import grammars
>>> grammars.sql(tables={"users": ["id", "name"]}).kind
'ebnf'
"""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from stencilm import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stencilm import Limits

__all__ = [
    "arithmetic",
    "by_name",
    "cron",
    "csv",
    "email",
    "graphql",
    "iso_date",
    "iso_datetime",
    "iso_time",
    "json",
    "json_lines",
    "markdown_table",
    "mermaid",
    "names",
    "python_expression",
    "robot",
    "semver",
    "sql",
    "url",
    "xml",
    "yaml",
]

_ALONE = (
    *("arithmetic", "cron", "csv", "email", "graphql", "iso_date", "iso_datetime", "iso_time"),
    *(
        "json",
        "json_lines",
        "mermaid",
        "python_expression",
        "robot",
        "semver",
        "sql",
        "url",
        "yaml",
    ),
)


def names() -> list[str]:
    """The grammars that `by_name` knows.

    >>> names()[:3]
    ['arithmetic', 'cron', 'csv']
    """
    return list(_ALONE)


def by_name(name: str) -> Grammar:
    """The grammar of this name.

    Raises:
        ValueError: There is none.

    >>> by_name("semver").kind
    'ebnf'
    """
    if name not in _ALONE:
        raise ValueError(f"there is no grammar {name!r}; there are {', '.join(_ALONE)}")
    made: Grammar = globals()[name]()
    return made


def arithmetic(*, limits: Limits | None = None) -> Grammar:
    """Sums, products and powers of numbers, such as `(1 + 2.5) * -3`."""
    return _read("arithmetic", limits)


def cron(*, limits: Limits | None = None) -> Grammar:
    """The five fields of a line of cron, such as `*/5 8-18 * * MON`."""
    return _read("cron", limits)


def csv(*, columns: int | Sequence[str] | None = None, limits: Limits | None = None) -> Grammar:
    """Comma-separated values (RFC 4180).

    Args:
        columns: How many fields each record has; or the first record, field by field.
        limits: What it may cost.

    >>> csv(columns=["city", "year"]).kind
    'ebnf'
    """
    if columns is None:
        return _read("csv", limits)
    count = columns if isinstance(columns, int) else len(columns)
    _check_count(count)
    rules = {"record": "field" + ' "," field' * (count - 1)}
    if not isinstance(columns, int):
        header = ",".join(_csv_field(name) for name in columns)
        rules["root"] = f"{_literal(header)} (line_end record)* line_end?"
    return _read("csv", limits, rules=rules)


def email(*, limits: Limits | None = None) -> Grammar:
    """An e-mail address, such as `maria.lopez@example.org`."""
    return _read("email", limits)


def graphql(*, limits: Limits | None = None) -> Grammar:
    """An executable document of GraphQL: operations and fragments."""
    return _read("graphql", limits)


def iso_date(*, limits: Limits | None = None) -> Grammar:
    """A date that exists, such as `2024-02-29`."""
    return _read("iso_date", limits)


def iso_time(*, limits: Limits | None = None) -> Grammar:
    """A time of day, such as `23:59:30`."""
    return _read("iso_date", limits, start="time")


def iso_datetime(*, limits: Limits | None = None) -> Grammar:
    """A date and a time, such as `2024-02-29T23:59:30Z`."""
    return _read("iso_date", limits, start="date_time")


def json(*, limits: Limits | None = None) -> Grammar:
    """Any JSON text; `Grammar.from_json_schema` for one of a certain shape."""
    return Grammar.json(limits=limits)


def json_lines(schema: Any = None, *, limits: Limits | None = None, **options: Any) -> Grammar:
    """JSON Lines: a JSON text a line.

    Args:
        schema: What each line is a value of, as for `Grammar.from_json_schema`; anything if it is
            not given.
        limits: What it may cost.
        options: As for `Grammar.from_json_schema`, but that a text has one line. As `json.dumps`
            writes it if nothing is said of white space.

    Raises:
        ValueError: Options for a text of several lines, or options without a schema.
        GrammarError: The schema is refused.

    >>> json_lines({"type": "object"}, separators=(",", ":")).kind
    'sequence'
    """
    if schema is None:
        if options:
            raise ValueError(f"there is no schema that {sorted(options)[0]} could be for")
        return _read("json_lines", limits)
    if options.get("indent") is not None or options.get("whitespace") == "any":
        raise ValueError("white space of several lines: each value has one line of its own")
    if "whitespace" not in options:
        options = {"separators": (", ", ": "), **options}
    if any("\n" in part or "\r" in part for part in options.get("separators") or ()):
        raise ValueError("white space of several lines: each value has one line of its own")
    line = Grammar.from_json_schema(schema, limits=limits, **options)
    end = Grammar.literal("\n")
    more = Grammar.sequence([end, line], limits=limits).repeat(0, limits=limits)
    return Grammar.sequence([line, more, end.optional()], limits=limits)


def markdown_table(*, columns: int | Sequence[str], limits: Limits | None = None) -> Grammar:
    """A table of GitHub's Markdown.

    Args:
        columns: How many cells each row has; or the cells of the header.
        limits: What it may cost.

    Raises:
        ValueError: A cell of the header cannot stand in a table.

    >>> markdown_table(columns=3).kind
    'ebnf'
    """
    count = columns if isinstance(columns, int) else len(columns)
    _check_count(count)
    rules = {
        "row": '"|"' + ' " " cell " |"' * count,
        "dashes": '"|"' + ' " " rule " |"' * count,
    }
    if not isinstance(columns, int):
        for cell in columns:
            if not re.fullmatch(r"[^\s|`\\<]+( [^\s|`\\<]+)*", cell):
                raise ValueError(f"{cell!r} cannot be the cell of a header")
        header = "".join(f" {cell} |" for cell in columns)
        rules["root"] = f'{_literal("|" + header)} "\\n" dashes ("\\n" row)* "\\n"?'
    return _read("markdown_table", limits, rules=rules)


def mermaid(*, limits: Limits | None = None) -> Grammar:
    """A flowchart or a sequence diagram of Mermaid."""
    return _read("mermaid", limits)


def python_expression(*, limits: Limits | None = None) -> Grammar:
    """An expression of Python 3.11, on one line."""
    return _read("python_expression", limits)


def robot(*, limits: Limits | None = None) -> Grammar:
    """Commands for a robot, such as `move forward 10 cm`."""
    return _read("robot", limits)


def semver(*, limits: Limits | None = None) -> Grammar:
    """A semantic version, such as `1.0.0-rc.1+build.5`."""
    return _read("semver", limits)


def sql(
    *, tables: Mapping[str, Iterable[str]] | None = None, limits: Limits | None = None
) -> Grammar:
    """SELECT, INSERT, UPDATE and DELETE, in the common core of SQLite and PostgreSQL.

    Args:
        tables: The columns of each table: no others may be named. A column that is qualified by a
            table is one of that table's.
        limits: What it may cost.

    Raises:
        ValueError: There is no table, or one without columns, or a name is not made of small
            letters, digits and `_`.
    """
    if tables is None:
        return _read("sql", limits)
    listed = {table: list(columns) for table, columns in tables.items()}
    names = [*listed, *(column for columns in listed.values() for column in columns)]
    wrong = [name for name in names if not re.fullmatch("[a-z_][a-z0-9_]*", name)]
    if wrong or not listed or not all(listed.values()):
        reason = f"{wrong[0]!r} is no name of one" if wrong else "each needs a column"
        raise ValueError(f"tables and columns: {reason}")
    qualified = (f'"{table}" "." ({_choice(columns)})' for table, columns in listed.items())
    rules = {
        "table": _choice(listed),
        "column": _choice(dict.fromkeys(names[len(listed) :])),
        "qualified": " | ".join(qualified),
        "alias": f"name - ({_choice(listed)})",
    }
    return _read("sql", limits, rules=rules)


def url(*, limits: Limits | None = None) -> Grammar:
    """A URL of http or https (RFC 3986)."""
    return _read("url", limits)


def xml(
    elements: Mapping[str, Iterable[str]],
    *,
    root: str | None = None,
    limits: Limits | None = None,
) -> Grammar:
    """A well-formed document of XML 1.0.

    Args:
        elements: The attributes that each element may have, in this order. Elements may stand in
            each other in any way.
        root: The outermost element; any of them if it is not given.
        limits: What it may cost.

    Raises:
        ValueError: There is no element, or a name is none of XML in ASCII.

    >>> xml({"note": ["date"], "to": []}, root="note").kind
    'ebnf'
    """
    listed = {name: list(attributes) for name, attributes in elements.items()}
    names = [*listed, *(name for attributes in listed.values() for name in attributes)]
    wrong = [name for name in names if not re.fullmatch("[A-Za-z_][A-Za-z0-9_.-]*", name)]
    if wrong or not listed or (root is not None and root not in listed):
        reason = f"{wrong[0]!r} is no name" if wrong else f"there is no root {root!r}"
        raise ValueError(f"elements: {reason}")
    numbers = {name: f"element_{number}" for number, name in enumerate(listed)}
    rules = {"element": " | ".join(numbers.values())}
    for name, attributes in listed.items():
        if len(set(attributes)) < len(attributes):
            raise ValueError(f"elements: an attribute of {name!r} comes twice")
        optional = "".join(f' (" {attribute}=" value)?' for attribute in attributes)
        rules[numbers[name]] = f'"<{name}"{optional} ("/>" | ">" content "</{name}>")'
    if root is not None:
        rules["outermost"] = numbers[root]
    return _read("xml", limits, rules=rules)


def yaml(*, limits: Limits | None = None) -> Grammar:
    """A part of YAML that a grammar can describe: up to four levels, two blanks each."""
    return _read("yaml", limits)


def _read(
    name: str,
    limits: Limits | None,
    *,
    start: str = "root",
    rules: Mapping[str, str] | None = None,
) -> Grammar:
    """The grammar of a file, with other bodies for some rules, and further rules."""
    text = (resources.files(__name__) / f"{name}.ebnf").read_text("utf-8")
    for rule, body in (rules or {}).items():
        line = f"{rule} ::= {body}\n"
        begin = re.search(rf"^{rule} ::= .*\n", text, flags=re.MULTILINE)
        if begin is None:
            text += line
        else:
            text = text[: begin.start()] + line + text[begin.end() :]
    return Grammar.from_ebnf(text, start=start, limits=limits)


def _choice(texts: Iterable[str]) -> str:
    return " | ".join(map(_literal, texts))


def _literal(text: str) -> str:
    inside = "".join(f"\\U{ord(c):08X}" if c in '\\"' or not c.isprintable() else c for c in text)
    return f'"{inside}"'


def _csv_field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if re.search('[",\r\n]', text) else text


def _check_count(count: int) -> None:
    if not 1 <= count <= 10_000:
        raise ValueError(f"a table has 1 to 10,000 columns, not {count}")

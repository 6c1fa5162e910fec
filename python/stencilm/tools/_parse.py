"""The way back: the calls in what a model wrote, as a whole or piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

from stencilm.tools._families import Family, family_of
from stencilm.tools._members import (
    ELEMENT,
    PARAMETERS,
    SPACE_NAME,
    Element,
    closed,
    member_schema,
    value_of,
)
from stencilm.tools._options import ToolLike, read_tools
from stencilm.tools._values import NOTATIONS

__all__ = ["Answer", "Event", "Reasoning", "Text", "ToolCall", "ToolCallParser", "parse_tool_calls"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text outside of calls."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of reasoning."""

    text: str


Event: TypeAlias = "ToolCall | Text | Reasoning"


@dataclass(frozen=True, slots=True)
class Answer:
    """All of what a model wrote."""

    content: str
    calls: list[ToolCall] = field(default_factory=list)
    reasoning: str = ""


_STRING_TYPES = ("true", "raw", "string")
# Values whose members, or items, stand in such marks again.
_NESTED_TYPES = {"dict": dict, "list": list}


def parse_tool_calls(
    text: str,
    family: str | Family,
    *,
    tools: Sequence[ToolLike] = (),
    reasoning_begun: bool = False,
) -> Answer:
    """The calls, the reasoning and the text of an answer.

    Args:
        text: What the model wrote.
        family: Whose way of writing it is.
        tools: Their schemas say which arguments in XML are strings where the text does not.
        reasoning_begun: Whether the prompt ended with the first mark of reasoning.

    >>> call = "<tool_call>now<arg_key>zone</arg_key><arg_value>UTC</arg_value></tool_call>"
    >>> answer = parse_tool_calls("Let me see." + call, "glm_4_7")
    >>> answer.content, answer.calls
    ('Let me see.', [ToolCall(name='now', arguments={'zone': 'UTC'}, id=None)])
    """
    parser = ToolCallParser(family, tools=tools, reasoning_begun=reasoning_begun)
    events = [*parser.feed(text), *parser.finish()]
    return Answer(
        content="".join(event.text for event in events if isinstance(event, Text)),
        calls=[event for event in events if isinstance(event, ToolCall)],
        reasoning="".join(event.text for event in events if isinstance(event, Reasoning)),
    )


@dataclass(slots=True, eq=False)
class _Open:
    """A call that is not whole yet: where reading goes on, and what was read."""

    way: int
    name: str
    id: str | None
    start: int
    """Where the arguments begin."""
    at: int
    is_begun: bool = False
    depth: int = 0
    quote: str = ""
    """What began the string that reading is inside of."""
    members: dict[str, Any] = field(default_factory=dict)
    nested: list[Any] = field(default_factory=list)
    """The objects and arrays, or the elements, that the next value is inside of."""
    arguments: Any = None
    is_read: bool = False


class ToolCallParser:
    """Finds calls while a text comes in, piece by piece. Each piece is looked at once.

    >>> parser = ToolCallParser("llama")
    >>> parser.feed('Well: {"na')
    [Text(text='Well: ')]
    >>> parser.feed('me": "f", "parameters": {}}')
    [ToolCall(name='f', arguments={}, id=None)]
    """

    def __init__(
        self,
        family: str | Family,
        *,
        tools: Sequence[ToolLike] = (),
        reasoning_begun: bool = False,
    ) -> None:
        self._family = family_of(family)
        self._schemas = {tool.name: tool.schema for tool in read_tools(tools)}
        self._rest = ""
        self._is_thinking = reasoning_begun
        ways = (self._family.call, *self._family.also)
        self._ways = [
            (
                re.compile(_loose(begin, self._family.id)),
                re.compile((r"\s*" if end else "") + _loose(end, self._family.id)),
            )
            for begin, end in ways
        ]
        self._heads = [re.split(r"\$NAME|\$ID", begin)[0] for begin, _ in ways]
        self._open: _Open | None = None
        self._is_in_section = False
        # The mark of a section in which no call was read yet, where such a mark is common in text.
        self._held = ""
        # White space and separators behind a call belong to no text if another call follows.
        self._pending: str | None = None

    def feed(self, text: str) -> list[Event]:
        """What is certain after this piece."""
        self._rest += text
        return list(self._scan(is_end=False))

    def finish(self) -> list[Event]:
        """What is left at the end."""
        events = list(self._scan(is_end=True))
        if self._rest:
            events.append(Reasoning(self._rest) if self._is_thinking else Text(self._rest))
            self._rest = ""
        if self._pending and self._family.between is None:
            events.append(Text(self._pending))
        self._pending = None
        return events

    def _marks(self) -> list[str]:
        """What may come that is no text, the longer ones first."""
        known = self._family
        if self._is_in_section and known.section is not None:
            marks = [*self._heads, known.section[1]]
        else:
            marks = list(self._heads) if known.section is None else [known.section[0], known.tail]
            marks += [*(known.text or ()), known.between or "", (known.think or ("",))[0]]
        return sorted({mark for mark in marks if mark}, key=len, reverse=True)

    def _scan(self, *, is_end: bool) -> Iterator[Event]:
        """Goes through the text with a place of its own: cutting off each piece would cost more."""
        text, at = self._rest, 0
        while at < len(text):
            before = (at, self._is_thinking, self._open)
            if self._is_thinking:
                at, event = self._think(text, at, is_end)
            elif self._open is not None:
                at, event = self._go_on(text, at, is_end)
            else:
                at, event = self._step(text, at, is_end)
            if event is not None:
                yield event
            elif before == (at, self._is_thinking, self._open):
                break
        self._rest = text[at:]
        if self._open is not None:
            self._open.start -= at
            self._open.at -= at

    def _think(self, text: str, at: int, is_end: bool) -> tuple[int, Event | None]:
        end = (self._family.think or ("", ""))[1]
        stop = text.find(end, at)
        self._is_thinking = stop < 0
        if stop < 0:
            safe = len(text) if is_end else _safe(text, at, [end])
            return safe, Reasoning(text[at:safe]) if safe > at else None
        return stop + len(end), Reasoning(text[at:stop]) if stop > at else None

    def _step(self, text: str, at: int, is_end: bool) -> tuple[int, Event | None]:
        """Text up to the next mark, or the mark."""
        if self._is_in_section and "" in self._heads:
            return self._between(text, at, is_end)
        known, marks = self._family, self._marks()
        pattern = _any_of(tuple(marks))
        safe = len(text) if is_end else _safe(text, at, marks)
        match = pattern.search(text, at)
        stop = safe if match is None else min(safe, match.start())
        if stop > at:
            return stop, self._text(text[at:stop])
        if match is None or match.start() > at:
            return at, None
        mark = match[0]
        if mark in self._heads:
            return self._begin(text, at, is_end)
        if known.think is not None and mark == known.think[0]:
            self._is_thinking = True
        elif known.is_section_common and known.section is not None and mark == known.section[0]:
            return self._common_mark(text, at, match.end(), is_end)
        elif known.section is not None and mark in known.section:
            self._is_in_section = not self._is_in_section
            self._pending = None
        return match.end(), None

    def _common_mark(
        self, text: str, at: int, after: int, is_end: bool
    ) -> tuple[int, Event | None]:
        """A mark that is common in text begins a section if a call follows, of a known tool."""
        begun = next((m for begin, _ in self._ways if (m := begin.match(text, after))), None)
        if begun is None and not is_end and _SOME_NAME.fullmatch(text, after):
            return at, None
        if begun is None or (self._schemas and begun["name"] not in self._schemas):
            return after, self._text(text[at:after])
        self._is_in_section, self._held = True, text[at:after]
        return after, None

    def _between(self, text: str, at: int, is_end: bool) -> tuple[int, Event | None]:
        """Inside of a section whose calls begin with their names: a call, or the end."""
        last = (self._family.section or ("", ""))[1].strip()
        space = _BETWEEN.match(text, at)
        here = space.end() if space else at
        if text.startswith(last, here):
            self._is_in_section, self._pending, self._held = False, None, ""
            return here + len(last), None
        for way, (begin, _) in enumerate(self._ways):
            if match := begin.match(text, here):
                self._open = _Open(way, match["name"], None, match.end(), match.end())
                return self._go_on(text, at, is_end)
        if not is_end and (last.startswith(text[here:]) or _SOME_NAME.fullmatch(text, here)):
            return at, None
        if self._family.is_section_common:
            self._is_in_section, self._pending = False, None
        return here + 1, self._text(text[at : here + 1])

    def _no_call(self, text: str) -> Text | None:
        """What only looked like a call."""
        if self._held:
            text, self._held, self._is_in_section = self._held + text, "", False
        return self._text(text)

    def _text(self, text: str) -> Text | None:
        """Text, unless it is what stands between two calls."""
        if self._is_in_section:
            return None
        if self._pending is not None:
            self._pending += text
            between = (self._family.separator or self._family.between or "").strip()
            if between.startswith(self._pending.strip()):
                return None
            text, self._pending = self._pending, None
        return Text(text) if text else None

    def _begin(self, text: str, at: int, is_end: bool) -> tuple[int, Event | None]:
        """A mark that calls begin with: a call, if its name follows."""
        for way, (begin, _) in enumerate(self._ways):
            if match := begin.match(text, at):
                id_ = match.groupdict().get("id")
                self._open = _Open(way, match["name"], id_, match.end(), match.end())
                return self._go_on(text, at, is_end)
        if is_end or len(text) - at > len(self._family.call[0]) + 400:
            return at + 1, self._text(text[at])
        return at, None

    def _go_on(self, text: str, at: int, is_end: bool) -> tuple[int, Event | None]:
        """The call that is open, if it is whole; else it is text, or more must come."""
        call = self._open
        if call is None:
            return at, None
        style = self._family.style
        read = self._read_value if style in NOTATIONS else self._read_members
        if style == "minimax_m3_xml":
            read = self._read_elements
        if not call.is_read:
            whole = read(call, text)
            if whole is None and not is_end:
                return at, None
            if not whole:
                self._open = None
                stop = len(text) if whole is None else max(call.at, at + 1)
                return stop, self._no_call(text[at:stop])
            call.is_read = True
        end = self._ways[call.way][1].match(text, call.at)
        if end is None and not is_end and len(text) - call.at < _LONGEST_END:
            return at, None
        self._open = None
        if end is None:
            return call.at, self._no_call(text[at : call.at])
        self._pending, self._held = "", ""
        id_ = call.id or end.groupdict().get("id")
        return end.end(), ToolCall(call.name, call.arguments, id_)

    def _read_value(self, call: _Open, text: str) -> bool | None:
        """Whether the arguments are whole, up to `call.at`; None while more may come."""
        notation = NOTATIONS[self._family.style]
        if not call.is_begun:
            space = _SPACE.match(text, call.at)
            call.start = call.at = space.end() if space else call.at
            if call.at == len(text):
                return None
            if not text.startswith(notation.first, call.at):
                return False
            call.is_begun = True
        while True:
            sign = notation.signs(call.quote).search(text, call.at)
            if sign is None:
                # A mark may be under way.
                longest = max(map(len, notation.quotes))
                call.at = max(call.at, len(text) - longest + 1)
                return None
            if sign[0] == "\\" and sign.end() == len(text):
                call.at = sign.start()
                return None
            call.at = sign.end() + (sign[0] == "\\")
            if sign[0] == "\\":
                continue
            if sign[0] in notation.quotes:
                call.quote = "" if call.quote else sign[0]
            elif sign[0] in "{[(":
                call.depth += 1
            elif call.depth == 0:
                call.at = sign.start()
                break
            else:
                call.depth -= 1
                if call.depth == 0 and notation.first:
                    break
        try:
            call.arguments = notation.read(text[call.start : call.at])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return False
        return isinstance(call.arguments, dict)

    def _read_elements(self, call: _Open, text: str) -> bool | None:
        """The same for arguments in elements that have their names."""
        schema = self._schemas.get(call.name)
        if not call.nested:
            call.nested.append(Element("", 0, schema))
        while match := ELEMENT.search(text, call.at):
            here: Element = call.nested[-1]
            if not match["close"]:
                inner = member_schema(here.schema, match["name"])
                call.nested.append(Element(match["name"], match.end() - call.start, inner))
            elif len(call.nested) == 1:
                call.at = match.start()
                call.arguments = dict(here.members)
                return True
            elif here.name != match["name"]:
                return False
            else:
                raw = text[call.start + here.start : match.start()]
                call.nested.pop()
                call.nested[-1].members.append((here.name, closed(here, raw)))
            call.at = match.end()
        begun = text.rfind(SPACE_NAME, call.at)
        call.at = begun if begun >= 0 else max(call.at, len(text) - len(SPACE_NAME) + 1)
        return None

    def _read_members(self, call: _Open, text: str) -> bool | None:
        """The same for arguments in marks of their own."""
        begin, end = PARAMETERS[self._family.style]
        pattern, closing = _compiled(r"\s*" + begin), _compiled(r"\s*" + re.escape(end))
        while match := pattern.match(text, call.start) or (
            closing.match(text, call.start) if call.nested else None
        ):
            kind = match.groupdict().get("type")
            if kind is None:
                call.nested.pop()
            elif make := _NESTED_TYPES.get(kind):
                value = make()
                _put(call, match["key"], value)
                call.nested.append(value)
            if kind is None or kind in _NESTED_TYPES:
                call.start = call.at = match.end()
                continue
            stop = text.find(end, max(match.end(), call.at - len(end)))
            if stop < 0:
                call.at = len(text)
                return None
            key = match["key"]
            if self._family.style == "kimi_k3_xml":
                key = key.replace("&quot;", '"').replace("&amp;", "&")
            raw = text[match.end() : stop]
            _put(call, key, self._value(call.name, key, kind, raw))
            call.start = call.at = stop + len(end)
        call.at = call.start
        if call.nested or not self._ways[call.way][1].match(text, call.at):
            return None if len(text) - call.at < _LONGEST_END else False
        call.arguments = call.members
        return True

    def _value(self, name: str, key: str, kind: str, raw: str) -> Any:
        """A string as it stands; another value as JSON."""
        if kind in _STRING_TYPES:
            return raw
        if kind:
            return value_of(raw, None)
        if self._family.style == "qwen_xml":
            # One line end on each side is no part of the value.
            raw = raw.removeprefix("\n").removesuffix("\n")
        return value_of(raw, member_schema(self._schemas.get(name), key))


def _put(call: _Open, key: str | None, value: Any) -> None:
    """A value where it belongs."""
    where = call.nested[-1] if call.nested else call.members
    if isinstance(where, list):
        where.append(value)
    else:
        where[key or ""] = value


_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s,]*")
_SOME_NAME = re.compile(r"[A-Za-z0-9_./-]{0,300}")
_LONGEST_END = 400
"""What follows the arguments is shorter, names of members included."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _any_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, marks)))


def _loose(template: str, pattern: str | None) -> str:
    """A pattern for what a template means; white space may be more or less."""
    out = []
    for part in re.split(r"(\$NAME|\$ID|\s+)", template):
        if part == "$NAME":
            # A name is whole when something else follows.
            out.append(r"(?P<name>[A-Za-z0-9_./-]+)(?=[^A-Za-z0-9_./-])")
        elif part == "$ID":
            out.append(f"(?P<id>{pattern})")
        elif part.isspace():
            out.append(r"\s*")
        else:
            out.append(re.escape(part))
    return "".join(out)


def _safe(text: str, start: int, marks: Sequence[str]) -> int:
    """Up to where no mark can begin that goes on behind the text."""
    longest = max(map(len, marks))
    for at in range(max(start, len(text) - longest + 1), len(text)):
        if any(mark.startswith(text[at:]) for mark in marks):
            return at
    return len(text)

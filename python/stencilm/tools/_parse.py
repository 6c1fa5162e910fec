"""The way back: the calls in what a model wrote, as a whole or piece by piece."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from stencilm.tools._families import Family, family_of
from stencilm.tools._options import ToolLike, read_tools

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


# Before a name, after it (with an attribute that says the type), and the end of a value.
_PARAMETERS = {
    "qwen_xml": (r"<parameter=(?P<key>[^>]*)>(?P<type>)", "</parameter>"),
    "minimax_xml": (r'<parameter name="(?P<key>[^"]*)"(?P<type>)>', "</parameter>"),
    "deepseek_xml": (
        r'<｜DSML｜parameter name="(?P<key>[^"]*)" string="(?P<type>true|false)">',
        "</｜DSML｜parameter>",
    ),
    "glm_xml": (
        r"<arg_key>(?P<key>.*?)</arg_key>(?P<type>)\s*<arg_value>",
        "</arg_value>",
    ),
    "cohere_xml": (r'<cofl:value name="(?P<key>[^"]*)" type="(?P<type>\w+)">', "</cofl:value>"),
    "kimi_k3_xml": (
        r'<\|open\|>argument key="(?P<key>[^"]*)" type="(?P<type>\w+)"<\|sep\|>',
        "<|close|>argument<|sep|>",
    ),
}
_STRING_TYPES = ("true", "raw", "string")


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


class ToolCallParser:
    """Finds calls while a text comes in, piece by piece.

    >>> parser = ToolCallParser("llama")
    >>> list(parser.feed('Well: {"na'))
    [Text(text='Well: ')]
    >>> list(parser.feed('me": "f", "parameters": {}}'))
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
            (re.compile(_loose(begin, self._family.id)), re.compile(_loose(end, self._family.id)))
            for begin, end in ways
        ]
        self._heads = [re.split(r"\$NAME|\$ID", begin)[0] for begin, _ in ways]
        self._is_in_section = False
        # White space and separators behind a call belong to no text if another call follows.
        self._pending: str | None = None

    def feed(self, text: str) -> Iterator[Event]:
        """What is certain after this piece."""
        self._rest += text
        yield from self._scan(is_end=False)

    def finish(self) -> Iterator[Event]:
        """What is left at the end."""
        yield from self._scan(is_end=True)
        if self._rest:
            kind = Reasoning if self._is_thinking else Text
            yield kind(self._rest)
            self._rest = ""
        if self._pending and self._family.between is None:
            yield Text(self._pending)
        self._pending = None

    def _scan(self, *, is_end: bool) -> Iterator[Event]:
        while self._rest:
            before = self._rest
            yield from self._thinking(is_end) if self._is_thinking else self._step(is_end)
            if self._rest == before:
                return

    def _thinking(self, is_end: bool) -> Iterator[Event]:
        end = (self._family.think or ("", ""))[1]
        at = self._rest.find(end)
        if at >= 0:
            if at:
                yield Reasoning(self._rest[:at])
            self._rest, self._is_thinking = self._rest[at + len(end) :], False
            return
        safe = len(self._rest) if is_end else _safe(self._rest, [end])
        if safe:
            yield Reasoning(self._rest[:safe])
            self._rest = self._rest[safe:]

    def _marks(self) -> list[str]:
        """What may come that is no text."""
        known = self._family
        if self._is_in_section and known.section is not None:
            return [*self._heads, known.section[1]]
        marks = list(self._heads) if known.section is None else [known.section[0], known.tail]
        marks += [*(known.text or ()), known.between or "", (known.think or ("",))[0]]
        return sorted({mark for mark in marks if mark}, key=len, reverse=True)

    def _step(self, is_end: bool) -> Iterator[Event]:
        known, marks = self._family, self._marks()
        safe = len(self._rest) if is_end else _safe(self._rest, marks)
        at = min([safe, *(at for mark in marks if (at := self._rest.find(mark)) >= 0)])
        if at:
            yield from self._text(self._rest[:at])
            self._rest = self._rest[at:]
            return
        mark = next((mark for mark in marks if self._rest.startswith(mark)), None)
        if mark is None:
            return
        if mark in self._heads:
            found = self._call()
            if found is not None:
                call, self._rest = found
                self._pending = ""
                yield call
            elif is_end or not self._may_begin():
                yield from self._text(self._rest[:1])
                self._rest = self._rest[1:]
            return
        self._rest = self._rest[len(mark) :]
        if known.think is not None and mark == known.think[0]:
            self._is_thinking = True
        elif known.section is not None and mark in known.section:
            self._is_in_section = not self._is_in_section
            self._pending = None

    def _text(self, text: str) -> Iterator[Event]:
        """Text, unless it is what stands between two calls."""
        if self._is_in_section:
            return
        if self._pending is not None:
            self._pending += text
            between = (self._family.separator or self._family.between or "").strip()
            if between.startswith(self._pending.strip()):
                return
            text, self._pending = self._pending, None
        if text:
            yield Text(text)

    def _may_begin(self) -> bool:
        """Whether a call may be under way: names and numbers are short."""
        return len(self._rest) < len(self._family.call[0]) + 400 or any(
            begin.match(self._rest) for begin, _ in self._ways
        )

    def _call(self) -> tuple[ToolCall, str] | None:
        """The call that begins here, and what follows it; None while it is not whole."""
        for begin, end in self._ways:
            if match := begin.match(self._rest):
                found = self._call_as(match, end)
                if found is not None:
                    return found
        return None

    def _call_as(
        self, match: re.Match[str], ending: re.Pattern[str]
    ) -> tuple[ToolCall, str] | None:
        name, at = match["name"], match.end()
        try:
            if self._family.style == "json":
                arguments, at = json.JSONDecoder(strict=False).raw_decode(self._rest, at)
            else:
                arguments, at = self._parameters(name, at)
        except (ValueError, RecursionError):
            return None
        end = ending.match(self._rest, at)
        if end is None or not isinstance(arguments, dict):
            return None
        groups = {**match.groupdict(), **end.groupdict()}
        return ToolCall(name, arguments, groups.get("id")), self._rest[end.end() :]

    def _parameters(self, name: str, at: int) -> tuple[dict[str, Any], int]:
        begin, end = _PARAMETERS[self._family.style]
        pattern = re.compile(r"\s*" + begin)
        found: dict[str, Any] = {}
        while match := pattern.match(self._rest, at):
            stop = self._rest.find(end, match.end())
            if stop < 0:
                raise ValueError("the value is not whole")
            key = match["key"]
            if self._family.style == "kimi_k3_xml":
                key = key.replace("&quot;", '"').replace("&amp;", "&")
            raw = self._rest[match.end() : stop]
            found[key] = self._value(name, key, match["type"], raw)
            at = stop + len(end)
        return found, at

    def _value(self, name: str, key: str, kind: str, raw: str) -> Any:
        """A string as it stands; another value as JSON."""
        if kind in _STRING_TYPES:
            return raw
        schema = self._schemas.get(name)
        members = schema.get("properties", {}) if isinstance(schema, dict) else {}
        if not kind and isinstance(members.get(key), dict):
            types = members[key].get("type")
            if types == "string" or types == ["string"]:
                return raw
        try:
            return json.loads(raw)
        except ValueError:
            return raw


def _loose(template: str, pattern: str | None) -> str:
    """A pattern for what a template means; white space may be more or less."""
    out = []
    for part in re.split(r"(\$NAME|\$ID|\s+)", template):
        if part == "$NAME":
            out.append(r"(?P<name>[A-Za-z0-9_./-]+)")
        elif part == "$ID":
            out.append(f"(?P<id>{pattern})")
        elif part.isspace():
            out.append(r"\s*")
        else:
            out.append(re.escape(part))
    return "".join(out) if not template or not template[0].isspace() else r"\s*" + "".join(out)


def _safe(text: str, marks: Sequence[str]) -> int:
    """How much of a text no mark can begin in."""
    longest = max(map(len, marks))
    for at in range(max(0, len(text) - longest + 1), len(text)):
        if any(mark.startswith(text[at:]) for mark in marks):
            return at
    return len(text)

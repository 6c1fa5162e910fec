"""What a model may write when it has tools, as a structural tag."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from stencilm import Grammar, GrammarError
from stencilm.tools._families import Family, family_of
from stencilm.tools._options import Choice, Tool, ToolLike, read_choice, read_response, read_tools

__all__ = ["tool_grammar", "tool_tag"]

Reasoning: TypeAlias = Literal["none", "optional", "required", "begun"]
_Format: TypeAlias = dict[str, Any]
_SPACE: _Format = {"type": "regex", "pattern": r"[ \n]{0,8}"}

STYLE_MARKS = {
    "glm_xml": "<arg_key></arg_key><arg_value></arg_value>",
    "cohere_xml": "<cofl:value></cofl:value>",
    "kimi_k3_xml": "<|open|>argument<|sep|><|close|>argument<|sep|>",
    "deepseek_xml": "｜DSML｜",
    "deepseek_v4_1_xml": "｜DSML｜",
    "qwen_xml": "<parameter=></parameter>",
    "mimo_xml": "<parameter=></parameter>",
    "minimax_xml": "<parameter></parameter>",
    "minimax_m3_xml": "]<]minimax[>[",
    "gemma": '<|"|>',
    "function_gemma": "<escape>",
}
"""What the marks of a style are made of: special tokens among them are no text."""


def tool_grammar(
    tools: Sequence[ToolLike],
    family: str | Family,
    *,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel_tool_calls: bool = True,
    response_format: Mapping[str, Any] | None = None,
    reasoning: Reasoning = "none",
    special: Collection[str] = (),
    skip_bad: bool = False,
    **options: Any,
) -> Grammar:
    """The texts in which a family's models call these tools.

    Args:
        tools: OpenAI's `tools`, or Python functions. Without parameters a tool takes `{}`.
        family: One of `families()`, or your own.
        tool_choice: `"none"`, `"auto"`, `"required"`, a named tool, or allowed tools.
        parallel_tool_calls: Whether there may be several calls.
        response_format: What text must look like where no tool is called.
        reasoning: `"required"` or `"optional"` before all else; `"begun"` where the prompt ends
            with its first mark.
        special: The vocabulary's special tokens: marks among them are tokens, not texts.
        skip_bad: Leaves out a tool whose schema is refused.
        options: As for `Grammar.from_structural_tag`.

    Raises:
        GrammarError: A schema is refused; the message names the tool.
        ValueError: There is no such family, or its models do not reason.

    >>> grammar = tool_grammar([{"name": "now"}], "qwen_3", tool_choice="required")
    >>> grammar.kind
    'structural_tag'
    """
    known = family_of(family)
    listed = read_tools(tools)
    choice = read_choice(tool_choice, listed)
    chosen = [tool for tool in listed if choice.names is None or tool.name in choice.names]
    writer = _Writer(known, special)

    def make(some: Sequence[Tool]) -> Grammar:
        tag = writer.whole(some, choice, parallel_tool_calls, response_format, reasoning)
        return Grammar.from_structural_tag(tag, **options)

    try:
        return make(chosen)
    except GrammarError:
        bad = {tool.name: error for tool in chosen if (error := writer.mistake(tool, options))}
        if not bad:
            raise
        if not skip_bad or (choice.mode == "required" and len(bad) == len(chosen)):
            name, error = next(iter(bad.items()))
            raise type(error)(f"the tool {name!r}: {error}", error.location) from error
        return make([tool for tool in chosen if tool.name not in bad])


def tool_tag(
    tools: Sequence[ToolLike],
    family: str | Family,
    *,
    tool_choice: str | Mapping[str, Any] = "auto",
    parallel_tool_calls: bool = True,
    response_format: Mapping[str, Any] | None = None,
    reasoning: Reasoning = "none",
    special: Collection[str] = (),
) -> dict[str, Any]:
    """The structural tag behind `tool_grammar`, as JSON has it.

    >>> tool_tag([{"name": "now"}], "llama")["format"]["triggers"]
    ['{"name": ']
    """
    listed = read_tools(tools)
    choice = read_choice(tool_choice, listed)
    chosen = [tool for tool in listed if choice.names is None or tool.name in choice.names]
    writer = _Writer(family_of(family), special)
    return writer.whole(chosen, choice, parallel_tool_calls, response_format, reasoning)


class _Writer:
    """Writes formats for one family and one set of special tokens."""

    def __init__(self, family: Family, special: Collection[str]) -> None:
        self.family = family
        names = sorted(special, key=len, reverse=True)
        self.special = set(names)
        self.cut = re.compile("(" + "|".join(map(re.escape, names)) + ")") if names else None

    def whole(
        self,
        tools: Sequence[Tool],
        choice: Choice,
        is_parallel: bool,
        response: Mapping[str, Any] | None,
        reasoning: Reasoning,
    ) -> dict[str, Any]:
        family = self.family
        if reasoning != "none" and family.think is None:
            raise ValueError(f"the models of {family.name} do not reason in marks")
        schema = read_response(response)
        is_parallel = is_parallel and not choice.is_one
        calls = [self.call(tool) for tool in tools] if choice.mode != "none" else []
        if family.text is not None and family.section is not None:
            body = self.message(family.text, calls, choice, is_parallel, schema, reasoning)
            return {"type": "structural_tag", "format": body}
        if family.between is not None:
            body = self.blocks(family.between, calls, choice, is_parallel, schema, reasoning)
            return {"type": "structural_tag", "format": body}
        if choice.mode == "required":
            body = _sequence([_SPACE, self.only_calls(calls, is_parallel)])
        elif schema is not None:
            answer = {"type": "json_schema", "json_schema": schema}
            ways = [answer, self.only_calls(calls, is_parallel)] if calls else [answer]
            body = {"type": "or", "elements": ways}
        else:
            body = self.among_text(calls, is_parallel, tools)
        return {"type": "structural_tag", "format": self.after_reasoning(body, reasoning)}

    def mistake(self, tool: Tool, options: Mapping[str, Any]) -> GrammarError | None:
        """What is wrong with a tool's schema."""
        tag = {"type": "structural_tag", "format": self.arguments(tool)}
        try:
            Grammar.from_structural_tag(tag, **options)
        except GrammarError as error:
            return error
        return None

    def arguments(self, tool: Tool) -> _Format:
        style = self.family.style
        schema = {"type": "json_schema", "json_schema": tool.schema}
        if style == "json":
            return schema
        marks = STYLE_MARKS.get(style, "")
        made = {**schema, "style": style, "excludes": self.excludes()}
        tokens = sorted(token for token in self.special if token in marks)
        return {**made, "tokens": tokens} if tokens else made

    def excludes(self) -> list[str]:
        """What text may not have inside; special tokens never are."""
        return [mark for mark in self.family.excludes if mark not in self.special]

    def free_text(self) -> _Format:
        return {"type": "any_text", "excludes": self.excludes()}

    def pieces(self, text: str) -> list[_Format]:
        """A text, with the special tokens in it as such."""
        parts = [text] if self.cut is None else self.cut.split(text)
        return [
            {"type": "token", "token": part}
            if part in self.special
            else {"type": "const_string", "value": part}
            for part in parts
            if part
        ]

    def pattern(self, text: str) -> list[_Format]:
        """The same where `$ID` stands for its pattern."""
        before, *after = text.split("$ID")
        found = self.pieces(before)
        for part in after:
            found += [{"type": "regex", "pattern": self.family.id}, *self.pieces(part)]
        return found

    def call(self, tool: Tool) -> _Format:
        """A call as a tag: what it begins with, and everything behind that."""
        ways = [self.call_as(way, tool) for way in (self.family.call, *self.family.also)]
        return ways[0] if len(ways) == 1 else {"type": "or", "elements": ways}

    def call_as(self, way: tuple[str, str], tool: Tool) -> _Format:
        begin, end = (part.replace("$NAME", tool.name) for part in way)
        first, *rest = self.pattern(begin)
        return _tag(first, [*rest, self.arguments(tool), *self.pattern(end)])

    def joined(self, tags: Iterable[_Format], separator: str, is_parallel: bool) -> _Format:
        """One of these, or several of them."""
        tag: _Format = {"type": "or", "elements": list(tags)}
        if not is_parallel:
            return tag
        # White space between calls may be more or less.
        is_strict = bool(separator.strip()) or self.family.section is not None
        between = self.pieces(separator) if is_strict else [_SPACE]
        more = _sequence([*between, tag])
        return _sequence([tag, {"type": "star", "content": more}])

    def only_calls(self, calls: Sequence[_Format], is_parallel: bool) -> _Format:
        calls = self.joined(calls, self.family.separator, is_parallel)  # type: ignore[assignment]
        if self.family.section is None:
            return calls  # type: ignore[return-value]
        begin, end = self.family.section
        return _sequence([*self.pieces(begin), calls, *self.pieces(end)])  # type: ignore[list-item]

    def among_text(
        self, calls: Sequence[_Format], is_parallel: bool, tools: Sequence[Tool]
    ) -> _Format:
        """Free text and calls."""
        family = self.family
        if family.is_section_common:
            return self.after_text(calls, is_parallel, tools)
        sign = family.section[0] if family.section is not None else family.trigger or ""
        first = self.pieces(sign)[0]
        marks = [mark for mark in family.think or () if mark not in self.special]
        is_token = first["type"] == "token"
        if not calls:
            more_marks = [] if is_token else [first["value"]]
            return {"type": "any_text", "excludes": [*marks, *more_marks, *self.excludes()]}
        tags = list(calls)
        if family.section is not None:
            begin, end = family.section
            first, *rest = self.pieces(begin)
            inside = self.joined(calls, family.separator, is_parallel)
            tags = [_tag(first, [*rest, inside, *self.pieces(end)])]
        is_last = family.section is not None or not is_parallel
        more = {"tags": tags, "stop_after_first": is_last}
        if is_token:
            return {"type": "token_triggered_tags", "trigger_tokens": [first["token"]], **more}
        trigger = first["value"]
        return {"type": "triggered_tags", "triggers": [trigger], "excludes": marks, **more}

    def after_text(
        self, calls: Sequence[_Format], is_parallel: bool, tools: Sequence[Tool]
    ) -> _Format:
        """Free text and then calls: their section's mark is one before a tool's name alone."""
        family = self.family
        begin = family.section[0] if family.section is not None else ""
        heads = [begin + way[0] for way in (family.call, *family.also)]
        marks = [head.replace("$NAME", tool.name) for head in heads for tool in tools]
        marks += [mark for mark in family.think or () if mark not in self.special]
        text = {"type": "any_text", "excludes": [*marks, *self.excludes()]}
        if not calls:
            return text
        whole = _sequence([text, self.only_calls(calls, is_parallel)])
        return {"type": "or", "elements": [text, whole]}

    def marked(self, marks: tuple[str, str], content: _Format, *, begun: bool = False) -> _Format:
        """A content between two marks."""
        begin = self.pieces(marks[0])
        *inside, last = self.pieces(marks[1])
        end = last if last["type"] == "token" else last["value"]
        tag = {"type": "tag", "begin": "", "content": _sequence([content, *inside]), "end": end}
        return tag if begun else _sequence([*begin, tag])

    def after_reasoning(self, body: _Format, reasoning: Reasoning) -> _Format:
        if reasoning == "none" or self.family.think is None:
            return body
        # Reasoning that has begun does not begin again.
        text = self.free_text()
        text["excludes"] = [mark for mark in self.family.think[:1] if mark not in self.special] + (
            text["excludes"]
        )
        think = self.marked(self.family.think, text, begun=reasoning == "begun")
        before = [] if reasoning == "begun" else [_SPACE]
        head = _sequence([*before, think, _SPACE])
        if reasoning == "optional":
            head = {"type": "optional", "content": head}
        return _sequence([head, body])

    def message(
        self,
        marks: tuple[str, str],
        calls: Sequence[_Format],
        choice: Choice,
        is_parallel: bool,
        schema: bool | Mapping[str, Any] | None,
        reasoning: Reasoning,
    ) -> _Format:
        """Text in its marks, then the calls in theirs. Without reasoning the text has begun."""
        text = self.marked(marks, self.free_text(), begun=reasoning == "none")
        answer = text
        if schema is not None:
            content = {"type": "json_schema", "json_schema": schema}
            answer = self.marked(marks, content, begun=reasoning == "none")
        if not calls:
            parts = answer
        else:
            section = _sequence([text, self.only_calls(calls, is_parallel)])
            is_needed = choice.mode == "required"
            parts = section if is_needed else {"type": "or", "elements": [answer, section]}
        body = _sequence([parts, *self.pieces(self.family.tail)])
        return self.after_reasoning(body, reasoning)

    def blocks(
        self,
        between: str,
        calls: Sequence[_Format],
        choice: Choice,
        is_parallel: bool,
        schema: bool | Mapping[str, Any] | None,
        reasoning: Reasoning,
    ) -> _Format:
        """Reasoning, then calls or text, each in marks of its own."""
        ways = [self.joined(calls, between, is_parallel)] if calls else []
        if choice.mode != "required" and self.family.text is not None:
            content = self.free_text()
            if schema is not None:
                content = {"type": "json_schema", "json_schema": schema}
            ways.append(self.marked(self.family.text, content))
        body: _Format = {"type": "or", "elements": ways}
        if reasoning == "none" or self.family.think is None:
            return body
        any_text = self.free_text()
        think = _sequence([self.marked(self.family.think, any_text), *self.pieces(between)])
        if reasoning == "begun":
            first = self.marked(self.family.think, any_text, begun=True)
            return _sequence([first, *self.pieces(between), body])
        kind = "star" if reasoning == "optional" else "plus"
        return _sequence([{"type": kind, "content": think}, body])


def _sequence(elements: list[_Format]) -> _Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}


def _tag(first: _Format, rest: list[_Format]) -> _Format:
    begin = first if first["type"] == "token" else first["value"]
    return {"type": "tag", "begin": begin, "content": _sequence(rest), "end": ""}

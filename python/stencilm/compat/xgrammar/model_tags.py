"""What models write when they have tools: XGrammar's names over `stencilm.tools`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from stencilm import GrammarError
from stencilm.compat.xgrammar.openai_tool_call_schema import (
    AllowedToolChoiceParam,
    BuiltinToolChoiceParam,
    BuiltinToolParam,
    FunctionToolParam,
    NamedToolChoiceParam,
    ToolChoiceOptionParam,
)
from stencilm.compat.xgrammar.structural_tag import StructuralTag
from stencilm.tools import Family, family_of, tool_tag

__all__ = [
    "get_builtin_structural_tag",
    "get_model_structural_tag",
    "normalize_tool_choice",
    "register_model_structural_tag",
]

Mode: TypeAlias = Literal["auto", "required", "forced"]
_Normal: TypeAlias = tuple[list[FunctionToolParam], list[BuiltinToolParam], Mode]
_Builder: TypeAlias = Callable[..., StructuralTag]

_FAMILIES = {
    "llama": "llama",
    "kimi": "kimi_k2",
    "kimi_k3": "kimi_k3",
    "deepseek_r1": "deepseek_r1",
    "deepseek_v3_1": "deepseek_v3_1",
    "deepseek_v3_2": "deepseek_v3_2",
    "deepseek_v4": "deepseek_v4",
    "qwen_3": "qwen_3",
    "qwen_3_coder": "qwen_3_coder",
    "qwen_3_5": "qwen_3_coder",
    "harmony": "harmony",
    "minimax": "minimax_m2",
    "glm_4_7": "glm_4_7",
    "cohere": "command_xml",
    "exaone": "exaone",
    "mimo": "mimo_v2",
    "minimax_m3": "minimax_m3",
    "gemma_4": "gemma_4",
    "deepseek_v4_1": "deepseek_v4_1",
}
"""XGrammar's names of models, and our families."""
_WHOLE_REASONING = ("gemma_4", "mimo")
"""Models whose prompts do not end with the first mark of reasoning."""
_BUILTIN_CALLS = (
    ("<|channel|>commentary to=$NAME code<|message|>", "<|call|>"),
    (" to=$NAME<|channel|>commentary code<|message|>", "<|call|>"),
)
"""How harmony calls tools that the model brings along."""
_MARKER = re.compile(r"<[^<>\s]+>")
_REASONING = {
    True: "enabled",
    False: "disabled",
    "enabled": "enabled",
    "disabled": "disabled",
    "auto": "auto",
}
_own: dict[str, tuple[_Builder, bool]] = {}


def register_model_structural_tag(
    name: str, *, marker_tokens: Sequence[str] | None = None
) -> Callable[[_Builder], _Builder]:
    """Adds a model of one's own.

    The function is called with the functions, the built-in tools, the mode and the reasoning, and
    the other arguments of `get_model_structural_tag` by name; `token_markers` only if there are
    `marker_tokens`.

    >>> from stencilm.compat.xgrammar.structural_tag import ConstStringFormat
    >>> @register_model_structural_tag("hello")
    ... def hello(functions, builtins, mode, reasoning, **options):
    ...     return StructuralTag(format=ConstStringFormat(value="hello"))
    >>> get_model_structural_tag("hello").format.value
    'hello'
    """

    def add(build: _Builder) -> _Builder:
        _own[name] = (build, marker_tokens is not None)
        return build

    return add


def get_model_structural_tag(
    model: str,
    tools: Sequence[FunctionToolParam | BuiltinToolParam | dict[str, Any]] | None = None,
    tool_choice: Any = "auto",
    reasoning: bool | Literal["enabled", "disabled", "auto"] = "enabled",
    force_reasoning: bool = False,
    any_order: bool = False,
    exclude_special_tokens: bool = True,
    max_whitespace_cnt: int | None = None,
    parallel_tool_calls: bool = True,
    token_markers: bool = False,
) -> StructuralTag:
    """What a model may write.

    Args:
        model: How its calls look, such as `"qwen_3"` or `"harmony"`.
        tools: OpenAI's tools. One that is not strict, or has no parameters, takes any arguments.
        tool_choice: `"none"`, `"auto"`, `"required"`, a named tool or allowed tools.
        reasoning: Whether the text begins inside of reasoning, has none, or may have some.
        force_reasoning: Counts for nothing.
        any_order: Arguments in any order.
        exclude_special_tokens: Whether free text is without the model's marks.
        max_whitespace_cnt: Most white-space characters in a row in arguments.
        parallel_tool_calls: Whether there may be several calls.
        token_markers: Whether marks are tokens, by their texts.

    Raises:
        ValueError: There is no such model, or the tools do not fit the choice.
        pydantic.ValidationError: The tools are none.

    >>> get_model_structural_tag("llama", [{"function": {"name": "now"}}]).format.triggers
    ['{"name": ']
    """
    if model not in _own and model not in _FAMILIES:
        known = sorted({*_own, *_FAMILIES})
        raise ValueError(f"there is no model {model!r}; there are {', '.join(known)}")
    functions, builtins, mode = normalize_tool_choice(tools, tool_choice)
    if reasoning not in _REASONING:
        raise ValueError(f"reasoning is enabled, disabled or auto, and not {reasoning!r}")
    thinks = _REASONING[reasoning]
    options: dict[str, Any] = {
        "any_order": any_order,
        "exclude_special_tokens": exclude_special_tokens,
        "max_whitespace_cnt": max_whitespace_cnt,
        "parallel_tool_calls": parallel_tool_calls,
    }
    if model in _own:
        build, has_markers = _own[model]
        if has_markers:
            options["token_markers"] = token_markers
        elif token_markers:
            raise ValueError(f"the model {model!r} has no marker tokens")
        return build(functions, builtins, mode, thinks, **options)
    tag = _tag(model, functions, builtins, mode, thinks, parallel_tool_calls, token_markers)
    return StructuralTag.model_validate(
        _with_options(tag, any_order, max_whitespace_cnt, exclude_special_tokens)
    )


get_builtin_structural_tag = get_model_structural_tag
"""The old name."""


def normalize_tool_choice(
    tools: Sequence[FunctionToolParam | BuiltinToolParam | dict[str, Any]] | None = None,
    tool_choice: Any = "auto",
) -> _Normal:
    """The functions and the built-in tools that may be called, and whether one must be.

    Raises:
        ValueError: The choice does not fit the tools.
        pydantic.ValidationError: These are no tools, or no choice.

    >>> tools = [{"function": {"name": "f"}}, {"function": {"name": "g"}}]
    >>> chosen = {"type": "function", "function": {"name": "g"}}
    >>> functions, builtins, mode = normalize_tool_choice(tools, chosen)
    >>> [tool.function.name for tool in functions], builtins, mode
    (['g'], [], 'forced')
    """
    functions, builtins = _read_tools(tools)
    choice: Any = "auto" if tool_choice is None else _choices.validate_python(tool_choice)
    if choice == "none":
        return [], [], "auto"
    mode: Mode = "auto"
    if isinstance(choice, NamedToolChoiceParam):
        chosen = [tool for tool in functions if tool.function.name == choice.function.name]
        if not chosen:
            raise ValueError(f"tool_choice names {choice.function.name!r}, which is no tool")
        return chosen, [], "forced"
    if isinstance(choice, BuiltinToolChoiceParam):
        return [], [_the_builtin(builtins, choice)], "forced"
    if isinstance(choice, AllowedToolChoiceParam):
        functions, builtins = _allowed(functions, builtins, choice)
        mode = choice.allowed_tools.mode
    elif choice == "required":
        mode = "required"
    if mode == "required" and not functions and not builtins:
        raise ValueError("tool_choice asks for a call, but there is no tool")
    return functions, builtins, mode


_choices: TypeAdapter[Any] = TypeAdapter(ToolChoiceOptionParam)


def _read_tools(tools: Any) -> tuple[list[FunctionToolParam], list[BuiltinToolParam]]:
    if tools is None:
        return [], []
    if not isinstance(tools, list | tuple):
        raise ValueError("tools are a list")
    functions: list[FunctionToolParam] = []
    builtins: list[BuiltinToolParam] = []
    for tool in tools:
        value = tool if isinstance(tool, Mapping) else tool.model_dump()
        if "function" in value or value.get("type") == "function":
            functions.append(FunctionToolParam.model_validate(value))
        else:
            builtins.append(BuiltinToolParam.model_validate(value))
    return functions, builtins


def _the_builtin(
    builtins: Sequence[BuiltinToolParam], choice: BuiltinToolChoiceParam
) -> BuiltinToolParam:
    found = [
        tool for tool in builtins if tool.type == choice.type and choice.name in (None, tool.name)
    ]
    if len(found) != 1:
        raise ValueError(f"tool_choice fits {len(found)} built-in tools, and not one")
    return found[0]


def _allowed(
    functions: Sequence[FunctionToolParam],
    builtins: Sequence[BuiltinToolParam],
    choice: AllowedToolChoiceParam,
) -> tuple[list[FunctionToolParam], list[BuiltinToolParam]]:
    names: set[str] = set()
    chosen: list[BuiltinToolParam] = []
    for tool in choice.allowed_tools.tools:
        if tool.function is not None:
            names.add(tool.function.name)
        elif tool.type == "function" and tool.name is not None:
            names.add(tool.name)
        else:
            ref = BuiltinToolChoiceParam(type=tool.type, name=tool.name)
            chosen.append(_the_builtin(builtins, ref))
    unknown = names - {tool.function.name for tool in functions}
    if unknown:
        raise ValueError(f"allowed tools name {sorted(unknown)[0]!r}, which is no tool")
    return [tool for tool in functions if tool.function.name in names], chosen


def _tag(
    model: str,
    functions: Sequence[FunctionToolParam],
    builtins: Sequence[BuiltinToolParam],
    mode: Mode,
    thinks: str,
    is_parallel: bool,
    token_markers: bool,
) -> dict[str, Any]:
    family = family_of(_FAMILIES[model])
    if builtins and (model != "harmony" or functions):
        # Other engines leave them out in silence.
        raise ValueError(f"built-in tools beside functions, or of {model!r}, are not known")
    tools: list[dict[str, Any]] = [
        {"name": tool.function.name, "parameters": _schema(tool)} for tool in functions
    ]
    if builtins:
        family = Family(
            name=family.name,
            models=family.models,
            call=_BUILTIN_CALLS[0],
            also=_BUILTIN_CALLS[1:],
            between=family.between,
            text=family.text,
            think=family.think,
        )
        tools = [
            {"name": tool.name or tool.type, "parameters": tool.parameters or True}
            for tool in builtins
        ]
    # Where calls stand in text, text may follow the first one too.
    begins_with_call = mode == "required" and family.trigger is not None
    is_free = mode == "auto" or begins_with_call
    choice: Any = "none" if not tools else "auto" if is_free else "required"
    if mode == "forced":
        choice = {"type": "function", "function": {"name": tools[0]["name"]}}
    how: Any = {"enabled": "begun", "auto": "optional", "disabled": "none"}[thinks]
    if family.think is None:
        how = "none"
    elif model in _WHOLE_REASONING and how == "begun":
        how = "required"
    elif model == "harmony" and how == "begun":
        how = "optional"
    try:
        tag = tool_tag(
            tools,
            family,
            tool_choice=choice,
            parallel_tool_calls=is_parallel,
            reasoning=how,
            special=_markers(family) if token_markers else (),
        )
    except GrammarError as error:
        raise ValueError(str(error)) from error
    return _beginning_with_call(tag) if begins_with_call else tag


def _beginning_with_call(value: Any) -> Any:
    if isinstance(value, list):
        return [_beginning_with_call(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in ("triggered_tags", "token_triggered_tags"):
        return {**value, "at_least_one": True}
    return {name: _beginning_with_call(part) for name, part in value.items()}


def _schema(tool: FunctionToolParam) -> Any:
    of = tool.function
    return True if of.strict is False or of.parameters is None else of.parameters


def _markers(family: Family) -> Collection[str]:
    pairs = [family.call, *family.also, family.section, family.think, family.text]
    texts = [text for pair in pairs if pair is not None for text in pair]
    texts += [family.between or "", family.tail, family.separator, family.trigger or ""]
    return {mark for text in texts for mark in _MARKER.findall(text) if "$" not in mark}


def _with_options(value: Any, any_order: bool, spaces: int | None, excludes: bool) -> Any:
    """The tag with these options in all schemas inside, and without marks that text excludes."""
    if isinstance(value, list):
        return [_with_options(part, any_order, spaces, excludes) for part in value]
    if not isinstance(value, dict):
        return value
    made = {
        name: part if name == "json_schema" else _with_options(part, any_order, spaces, excludes)
        for name, part in value.items()
        if excludes or name != "excludes"
    }
    if value.get("type") == "json_schema":
        made["any_order"] = any_order
        made["max_whitespace_cnt"] = spaces
    return made

"""Tool calls: what each family may write, and what is read back from it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stencilm import Compiler, Grammar, GrammarSyntaxError, UnsupportedError, Vocabulary
from stencilm.tools import (
    Family,
    ToolCall,
    ToolCallParser,
    families,
    parse_tool_calls,
    tool_grammar,
    tool_tag,
)
from stencilm.tools._families import family_of

BEHAVIOUR = Path(__file__).parents[2] / "shared" / "data" / "xgrammar-behaviour-dev.jsonl.gz"
QWEN = Path(__file__).parents[2] / "shared" / "tokenizers" / "qwen3" / "tokenizer_config.json"
COMPILER = Compiler(Vocabulary.from_tokens([*(bytes([b]) for b in range(256)), None], stop=[256]))

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "now", "parameters": None}},
]
PARAMETERS = {
    "qwen_xml": "<parameter={key}>{value}</parameter>",
    "mimo_xml": "<parameter={key}>{value}</parameter>",
    "minimax_xml": '<parameter name="{key}">{value}</parameter>',
    "glm_xml": "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>",
    "deepseek_xml": '<｜DSML｜parameter name="{key}" string="{plain}">{value}</｜DSML｜parameter>',
    "cohere_xml": '<cofl:value name="{key}" type="{raw}">{value}</cofl:value>',
    "deepseek_v4_1_xml": '<｜DSML｜ parameter name="{key}" string="{plain}">{value}'
    "</｜DSML｜ parameter>",
    "minimax_m3_xml": "]<]minimax[>[<{key}>{value}]<]minimax[>[</{key}>",
    "kimi_k3_xml": '<|open|>argument key="{key}" type="{type}"<|sep|>'
    "{value}<|close|>argument<|sep|>",
}
QUOTES = {"gemma": '<|"|>', "function_gemma": "<escape>"}
OF_XGRAMMAR = {
    "llama": "llama",
    "kimi": "kimi_k2",
    "kimi_k3": "kimi_k3",
    "deepseek_r1": "deepseek_r1",
    "deepseek_v3_1": "deepseek_v3_1",
    "deepseek_v3_2": "deepseek_v3_2",
    "deepseek_v4": "deepseek_v4",
    "qwen_3": "qwen_3",
    "qwen_3_5": "qwen_3_coder",
    "qwen_3_coder": "qwen_3_coder",
    "harmony": "harmony",
    "minimax": "minimax_m2",
    "glm_4_7": "glm_4_7",
    "cohere": "command_xml",
    "exaone": "exaone",
}


def accepts(grammar: Grammar, text: str, *, to_the_end: bool = True) -> bool:
    matcher = COMPILER.compile(grammar).matcher()
    return all(matcher.accept(byte) for byte in text.encode()) and (
        not to_the_end or matcher.accept(256)
    )


def call(family: Family, name: str, arguments: dict[str, Any]) -> str:
    begin, end = (part.replace("$NAME", name).replace("$ID", "123456789") for part in family.call)
    if family.style == "json":
        return begin + json.dumps(arguments) + end
    if family.style == "pythonic":
        return begin + ", ".join(f"{key}={value!r}" for key, value in arguments.items()) + end
    if mark := QUOTES.get(family.style):
        texts = {k: f"{mark}{v}{mark}" if isinstance(v, str) else v for k, v in arguments.items()}
        return begin + "{" + ",".join(f"{key}:{text}" for key, text in texts.items()) + "}" + end
    members = ""
    for key, value in arguments.items():
        is_text = isinstance(value, str)
        members += PARAMETERS[family.style].format(
            key=key,
            value=value if is_text else json.dumps(value),
            plain="true" if is_text else "false",
            raw="raw" if is_text else "json",
            type="string" if is_text else "number",
        )
    return begin + members + end


def written(family: Family, *calls: tuple[str, dict[str, Any]], text: str = "") -> str:
    """An answer as the family's models write it."""
    begin, end = family.section or ("", "")
    separator = family.between or family.separator
    inside = separator.join(call(family, name, arguments) for name, arguments in calls)
    if family.text is not None and family.section is not None:
        return text + family.text[1] + begin + inside + end + family.tail
    return text + begin + inside + end


@pytest.mark.parametrize("name", families())
def test_a_family_writes_and_reads_calls(name: str) -> None:
    family = family_of(name)
    one, two = ("get_weather", {"city": "O<slo", "days": 3}), ("now", {})
    text = "" if family.between else "Hi there. "
    auto, required = tool_grammar(TOOLS, name), tool_grammar(TOOLS, name, tool_choice="required")
    none = tool_grammar(TOOLS, name, tool_choice="none")
    single = tool_grammar(TOOLS, name, parallel_tool_calls=False, tool_choice="required")
    named = {"type": "function", "function": {"name": "now"}}
    only = tool_grammar(TOOLS, name, tool_choice=named)
    both = written(family, one, two)
    assert accepts(auto, written(family, one, text=text))
    assert accepts(auto, both)
    assert accepts(required, both)
    assert not accepts(single, both)
    assert accepts(single, written(family, one))
    assert accepts(only, written(family, two))
    assert not accepts(only, written(family, one))
    assert not accepts(none, written(family, one))
    for wrong in [("other", {}), ("get_weather", {"days": 3}), ("now", {"x": "y"})]:
        # Where its mark is common in text, a call of no tool is text.
        is_text = family.is_section_common and wrong[0] == "other"
        assert accepts(auto, written(family, wrong)) == is_text
        assert not accepts(required, written(family, wrong))
    if not family.text:
        assert not accepts(required, "x", to_the_end=False)
    begun = family.text is not None and family.between is None
    for whole, calls in [(written(family, one, text=text), [one]), (both, [one, two])]:
        answer = parse_tool_calls(whole, name, tools=TOOLS)
        assert [(found.name, found.arguments) for found in answer.calls] == calls
        assert answer.content == (text if whole.startswith("Hi") else "")
        assert all(found.id == ("123456789" if family.id else None) for found in answer.calls)
        parser, events = ToolCallParser(name, tools=TOOLS), []
        for letter in whole + ("" if family.text or family.between else " bye"):
            events += parser.feed(letter)
        events += parser.finish()
        pieces = "".join(event.text for event in events if not isinstance(event, ToolCall))
        assert [event for event in events if isinstance(event, ToolCall)] == answer.calls
        assert pieces == answer.content + ("" if family.between or begun else " bye")


def test_values_in_marks_nest() -> None:
    inner = '<cofl:value type="list">\n<cofl:value type="json">1</cofl:value></cofl:value>'
    text = (
        '<cofl:tool_calls><cofl:tool_call id="1" name="f">'
        '<cofl:value name="o" type="dict"><cofl:value name="s" type="raw">a"b</cofl:value>'
        f'<cofl:value name="a" type="list">{inner}<cofl:value type="raw">x</cofl:value>'
        '</cofl:value></cofl:value> <cofl:value name="n" type="json">2</cofl:value>'
        "</cofl:tool_call></cofl:tool_calls>"
    )
    expected = {"o": {"s": 'a"b', "a": [[1], "x"]}, "n": 2}
    tools = [{"name": "f", "parameters": {"type": "object"}}]
    assert accepts(tool_grammar(tools, "command_xml"), text)
    assert parse_tool_calls(text, "command_xml").calls[0].arguments == expected
    parser = ToolCallParser("command_xml")
    events = [event for letter in text for event in parser.feed(letter)] + parser.finish()
    assert next(event for event in events if isinstance(event, ToolCall)).arguments == expected


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ("See [1], [a](b) and [now", "See [1], [a](b) and [now", []),
        ("[now()] and [see](x)", " and [see](x)", [{}]),
        ("[now(]", "[now(]", []),
        ("[other(x=1)] is [now (x)]", "[other(x=1)] is [now (x)]", []),
        ("[get_weather(city='a, (b]\\'')]", "", [{"city": "a, (b]'"}]),
        ("[get_weather('Oslo'), now()]", "[get_weather('Oslo'), now()]", []),
        ("[get_weather(city=Oslo)] [now()]", "[get_weather(city=Oslo)] ", [{}]),
        ("[get_weather(city='', days=-2),\n now( ) ]", "", [{"city": "", "days": -2}, {}]),
        ("[get_weather(city=[{'a': (None, true)}])]", "", [{"city": [{"a": [None, True]}]}]),
        ("[now(x=1, x=2)]", "[now(x=1, x=2)]", []),
        ("[now(**{})]", "[now(**{})]", []),
        ("[now(x={1: 2})]", "[now(x={1: 2})]", []),
        ("[now(x=b'')]", "[now(x=b'')]", []),
        ("[now(x=1j)]", "[now(x=1j)]", []),
        ("[now(x=f())]", "[now(x=f())]", []),
        ("[now(x=" + "(" * 100_000, "[now(x=" + "(" * 100_000, []),
        ("[now(x=" + "-" * 100_000 + "1)]", "[now(x=" + "-" * 100_000 + "1)]", []),
    ],
)
def test_calls_of_python_among_text(text: str, content: str, calls: list[dict[str, Any]]) -> None:
    answer = parse_tool_calls(text, "pythonic", tools=TOOLS)
    assert [found.arguments for found in answer.calls] == calls
    assert answer.content == content
    parser, events = ToolCallParser("pythonic", tools=TOOLS), []
    step = 1 if len(text) < 1_000 else 1_000
    for at in range(0, len(text), step):
        events += parser.feed(text[at : at + step])
    events += parser.finish()
    assert [event for event in events if isinstance(event, ToolCall)] == answer.calls
    assert "".join(e.text for e in events if not isinstance(e, ToolCall)) == content


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{a:<|"|>x<|"|>}', {"a": "x"}),
        ('{a:<|"|>}<tool_call|>{[,:"\\<|"|>,b:-1.5e3}', {"a": '}<tool_call|>{[,:"\\', "b": -1500}),
        (
            "{a:{b c:[1,null,None,{}],d:[]},e:true}",
            {"a": {"b c": [1, None, None, {}], "d": []}, "e": True},
        ),
        ('{ a : word , b : <|"|><|"|> }', {"a": "word", "b": ""}),
        ('{<|"|>a<|"|>:1}', {"a": 1}),
        ("{a:1,a:2}", {"a": 2}),
        ("{a:1", None),
        ("{a}", None),
        ('{a:<|"|>}', None),
        ("{a:[1}}", None),
        ("[1]", None),
        ("{a:" + "[" * 100_000 + "]" * 100_000 + "}", None),
    ],
)
def test_gemmas_notation_is_read(arguments: str, expected: dict[str, Any] | None) -> None:
    text = f"<|tool_call>call:f{arguments}<tool_call|>"
    answer = parse_tool_calls(text, "gemma_4")
    assert [found.arguments for found in answer.calls] == ([] if expected is None else [expected])
    parser, found = ToolCallParser("gemma_4"), []
    step = 1 if len(text) < 1_000 else 1_000
    for at in range(0, len(text), step):
        found += parser.feed(text[at : at + step])
    found += parser.finish()
    assert [event for event in found if isinstance(event, ToolCall)] == answer.calls
    if expected is None:
        assert answer.content == text


def test_elements_are_read_by_their_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "s": {"type": "string"},
            "n": {"type": ["string", "null", "integer"]},
            "o": {"type": "object", "properties": {"x": {"type": "array"}}},
            "l": {"type": "array", "items": {"type": "array", "items": {"type": "boolean"}}},
        },
        "additionalProperties": False,
    }
    inside = (
        "@<s>1 @</s>\n@<n>null@</n>@<o>@<x>@</x>@</o>"
        "@<l>@<item>@<item>true@</item>@</item>@<item>@</item>@</l>"
    )
    text = f'@<tool_call>\n@<invoke name="f">{inside}@</invoke>\n@</tool_call>'
    text = text.replace("@", "]<]minimax[>[")
    tools = [{"name": "f", "parameters": schema}]
    expected = {"s": "1 ", "n": None, "o": {"x": []}, "l": [[True], []]}
    assert accepts(tool_grammar(tools, "minimax_m3"), "Hm." + text)
    assert parse_tool_calls(text, "minimax_m3", tools=tools).calls[0].arguments == expected
    parser = ToolCallParser("minimax_m3", tools=tools)
    found = [event for letter in text for event in parser.feed(letter)] + parser.finish()
    assert found == [ToolCall("f", expected)]
    broken = text.replace("</n>", "</m>")
    assert parse_tool_calls(broken, "minimax_m3", tools=tools).calls == []


@pytest.mark.skipif(not QWEN.exists(), reason="needs ../shared/tokenizers")
def test_what_a_chat_template_writes_is_accepted() -> None:
    sandbox = pytest.importorskip("jinja2.sandbox", reason="jinja2 is not installed")
    template = json.loads(QWEN.read_text(encoding="utf-8"))["chat_template"]
    environment = sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    compiled = environment.from_string(template)
    grammar = tool_grammar(TOOLS, "qwen_3", tool_choice="required", reasoning="optional")
    for calls in [
        [("get_weather", {"city": "Oslo"})],
        [("get_weather", {"city": "O'sl\"o é\n", "days": -3}), ("now", {})],
        [("now", {})] * 3,
    ]:
        made = [{"function": {"name": name, "arguments": of}} for name, of in calls]
        turns = [{"role": "user", "content": "Hi"}]
        prompt = compiled.render(messages=turns, tools=TOOLS, add_generation_prompt=True)
        turns.append({"role": "assistant", "content": "", "tool_calls": made})
        whole = compiled.render(messages=turns, tools=TOOLS)
        assert whole.startswith(prompt)
        answer = whole[len(prompt) :].removesuffix("<|im_end|>\n")
        assert accepts(grammar, answer)
        found = parse_tool_calls(answer, "qwen_3")
        assert [(call.name, call.arguments) for call in found.calls] == calls
        # Whatever lacks one sign outside of values is refused.
        outside = json.dumps(calls[0][1], ensure_ascii=False)
        at = answer.index(outside)
        for lost in [*range(answer.index("<tool_call>"), at), *range(at + len(outside), at + 30)]:
            if not answer[lost].isspace():
                assert not accepts(grammar, answer[:lost] + answer[lost + 1 :])


@pytest.mark.parametrize("name", [name for name in families() if family_of(name).think])
def test_reasoning_comes_first(name: str) -> None:
    family = family_of(name)
    begin, end = family.think or ("", "")
    thought = "I think, <b>" + end
    if family.between:
        rest = family.between + written(family, ("now", {}))
    elif family.text and family.section:
        rest = family.text[0] + written(family, ("now", {}))
    else:
        rest = "\n\n" + written(family, ("now", {}))
    for mode, text, expected in [
        ("required", begin + thought + rest, True),
        ("required", written(family, ("now", {})), False),
        ("optional", begin + thought + rest, True),
        ("begun", thought + rest, True),
        ("none", begin + thought + rest, False),
    ]:
        grammar = tool_grammar(TOOLS, name, reasoning=mode)  # type: ignore[arg-type]
        assert accepts(grammar, text) is expected, mode
    answer = parse_tool_calls(thought + rest, name, reasoning_begun=True)
    assert answer.reasoning == "I think, <b>"
    assert [found.name for found in answer.calls] == ["now"]
    assert parse_tool_calls(begin + thought + rest, name) == answer


@pytest.mark.skipif(not BEHAVIOUR.exists(), reason="needs ../shared/data")
def test_answers_are_those_of_xgrammars_model_tags() -> None:
    """But for tools without parameters, and text after required calls."""
    same, others = 0, []
    with gzip.open(BEHAVIOUR, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        model = row["source"].get("model")
        if model is None or "texts" not in row:
            continue
        arguments = model["args"]
        family = OF_XGRAMMAR[arguments["model"]]
        is_begun = arguments.get("reasoning", True) and family_of(family).think is not None
        options = {"key_order": "any"} if arguments.get("any_order") else {}
        tools = arguments.get("tools") or []
        if any(tool.get("type", "function") != "function" for tool in tools):
            continue
        grammar = tool_grammar(
            tools,
            family,
            tool_choice=arguments.get("tool_choice", "auto"),
            reasoning="begun" if is_begun else "none",
            **options,
        )
        for text, whole, expected in row["texts"]:
            if accepts(grammar, text, to_the_end=whole) == expected:
                same += 1
            else:
                others.append((family, text))
    assert (same, len(others)) == (115, 13)
    assert all(
        text.endswith(" done") or "anything" in text or 'type="dict"' in text for _, text in others
    )


def test_an_answer_may_be_a_value() -> None:
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "n", "strict": True, "schema": WEATHER},
    }
    grammar = tool_grammar(TOOLS, "qwen_3", response_format=schema)
    assert accepts(grammar, '{"city": "Oslo"}')
    assert accepts(grammar, written(family_of("qwen_3"), ("now", {})))
    assert not accepts(grammar, "Oslo", to_the_end=False)
    any_object = tool_grammar([], "qwen_3", response_format={"type": "json_object"})
    assert accepts(any_object, '{"a": 1}')
    assert not accepts(any_object, "[]", to_the_end=False)
    with pytest.raises(GrammarSyntaxError):
        tool_grammar([], "qwen_3", response_format={"type": "grammar"})


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (
            "command",
            "<|START_THINKING|>Both.<|END_THINKING|><|START_ACTION|>[\n"
            '    {"tool_call_id": "0", "tool_name": "get_weather", '
            '"parameters": {"city": "Oslo"}},\n'
            '    {"tool_call_id": "1", "tool_name": "now", "parameters": {}}\n'
            "]<|END_ACTION|>",
        ),
        (
            "nemotron",
            '<think>Both.</think><TOOLCALL>[{"name": "get_weather", '
            '"arguments": {"city": "Oslo"}}, '
            '{"name": "now", "arguments": {}}]</TOOLCALL>',
        ),
        (
            "lfm_2",
            "<think>Both.</think>"
            "<|tool_call_start|>[get_weather(city='Oslo'), now()]<|tool_call_end|>",
        ),
    ],
)
def test_calls_are_those_of_chat_templates(family: str, text: str) -> None:
    grammar = tool_grammar(TOOLS, family, tool_choice="required", reasoning="optional")
    assert accepts(grammar, text)
    answer = parse_tool_calls(text, family, tools=TOOLS)
    assert (answer.reasoning, answer.content) == ("Both.", "")
    assert [(it.name, it.arguments) for it in answer.calls] == [
        ("get_weather", {"city": "Oslo"}),
        ("now", {}),
    ]
    for at in range(len(text)):
        shorter = text[:at] + text[at + 1 :]
        is_other = parse_tool_calls(shorter, family, tools=TOOLS).calls != answer.calls
        is_reasoning = at < text.index("Both.") + len("Both.")
        if not (is_other or is_reasoning or text[at].isspace()):
            assert not accepts(grammar, shorter), shorter


def test_allowed_tools_are_all_there_are() -> None:
    inner = {"mode": "required", "tools": [{"type": "function", "function": {"name": "now"}}]}
    for choice in [
        {"type": "allowed_tools", **inner},
        {"type": "allowed_tools", "allowed_tools": inner},
    ]:
        grammar = tool_grammar(TOOLS, "hermes", tool_choice=choice)
        assert accepts(grammar, written(family_of("hermes"), ("now", {}), ("now", {})))
        assert not accepts(grammar, written(family_of("hermes"), ("get_weather", {"city": "x"})))


def test_a_bad_tool_is_named_and_may_be_left_out() -> None:
    bad = {"name": "bad", "parameters": {"type": "object", "properties": {"x": {"type": "no"}}}}
    tools = [*TOOLS, bad]
    with pytest.raises(GrammarSyntaxError, match="the tool 'bad'"):
        tool_grammar(tools, "hermes")
    grammar = tool_grammar(tools, "hermes", skip_bad=True)
    assert accepts(grammar, written(family_of("hermes"), ("now", {})))
    assert not accepts(grammar, written(family_of("hermes"), ("bad", {})))
    unspeakable = {"type": "object", "properties": {"x": {"const": "</parameter>"}}}
    with pytest.raises(UnsupportedError, match="the tool 'worse'"):
        tool_grammar([{"name": "worse", "parameters": unspeakable}], "qwen_3_coder")


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        ([{"type": "web_search"}], "auto"),
        ([{"name": 'a"b'}], "auto"),
        ([{"name": "a"}, {"name": "a"}], "auto"),
        ([{"name": "a"}], "always"),
        ([{"name": "a"}], {"type": "function", "function": {"name": "b"}}),
        ([], "required"),
    ],
)
def test_mistakes_are_the_callers(tools: list[Any], choice: Any) -> None:
    with pytest.raises(GrammarSyntaxError):
        tool_grammar(tools, "hermes", tool_choice=choice)


def test_unknown_families_are_named() -> None:
    with pytest.raises(ValueError, match="hermes"):
        tool_grammar(TOOLS, "nobody")
    with pytest.raises(ValueError, match="do not reason"):
        tool_grammar(TOOLS, "phi_4", reasoning="required")
    mine = Family(
        name="mine", models=(), call=("CALL $NAME(", ")"), trigger="CALL ", separator=" and "
    )
    grammar = tool_grammar(TOOLS, mine, tool_choice="required")
    assert accepts(grammar, 'CALL now({}) and CALL get_weather({"city": "x"})')
    assert len(parse_tool_calls("CALL now({}) and CALL now({})", mine).calls) == 2


def test_marks_that_are_special_tokens_are_tokens() -> None:
    special = {"<|call|>": 256, "<|message|>": 257, "<|channel|>": 258, "<|return|>": 259}
    tokens = [*(bytes([b]) for b in range(256)), None, None, None, None]
    vocabulary = Vocabulary.from_tokens(tokens, special=special, stop=[259])
    grammar = tool_grammar(TOOLS, "harmony", tool_choice="required", special=special)
    matcher = Compiler(vocabulary).compile(grammar).matcher()
    text = [258, *b"commentary to=functions.now<|constrain|>json", 257, *b"{}", 256]
    assert all(matcher.accept(token) for token in text)
    assert matcher.may_stop()
    marks = {"<|tool_call>": 256, "<tool_call|>": 257, '<|"|>': 258, "<turn|>": 259}
    vocabulary = Vocabulary.from_tokens(tokens, special=marks, stop=[259])
    grammar = tool_grammar(TOOLS, "gemma_4", special=marks)
    matcher = Compiler(vocabulary).compile(grammar).matcher()
    text = [*b"Hm.", 256, *b"call:get_weather{city:", 258, *b"Oslo", 258, *b"}", 257]
    assert all(matcher.accept(token) for token in text)
    assert matcher.may_stop()
    glm = {"<tool_call>": 256, "</tool_call>": 257, "<arg_key>": 258, "</arg_key>": 259}
    glm |= {"<arg_value>": 260, "</arg_value>": 261, "<|user|>": 262}
    vocabulary = Vocabulary.from_tokens(tokens[:256] + [None] * 7, special=glm, stop=[262])
    grammar = tool_grammar(TOOLS, "glm_4_7", special=glm)
    matcher = Compiler(vocabulary).compile(grammar).matcher()
    text = [256, *b"get_weather", 258, *b"city", 259, 260, *b"Oslo", 261, 257, 256, *b"now", 257]
    assert all(matcher.accept(token) for token in text)
    assert matcher.may_stop()
    kimi = tool_tag(TOOLS, "kimi_k2", special={"<|tool_calls_section_begin|>"})
    assert kimi["format"]["trigger_tokens"] == ["<|tool_calls_section_begin|>"]


def test_five_hundred_tools_are_one_grammar() -> None:
    tools = [
        {"name": f"tool_{at}", "parameters": {"type": "object", "properties": {f"p{at}": {}}}}
        for at in range(500)
    ]
    grammar = tool_grammar(tools, "qwen_3")
    assert accepts(grammar, written(family_of("qwen_3"), ("tool_499", {"p499": 1}), ("tool_0", {})))


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "f", "arguments": ' + "[" * 100_000,
        "<tool_call>" * 1_000,
        '<tool_call>\n{"name": "f", "arguments": {"x": 1}',
        '<tool_call>\n{"name": "f", "arguments": 1}\n</tool_call>',
        "<tool_call",
    ],
)
def test_what_is_no_call_is_text(text: str) -> None:
    answer = parse_tool_calls(text, "hermes")
    assert answer.calls == []
    assert answer.content == text


def test_long_texts_are_read_once() -> None:
    arguments = {"city": 'x"\\{' * 20_000, "list": [[1]] * 1_000}
    text = written(family_of("hermes"), ("get_weather", arguments))
    parser, found = ToolCallParser("hermes"), []
    for at in range(0, len(text), 3):
        found += parser.feed(text[at : at + 3])
    assert found == [ToolCall("get_weather", arguments)]
    wrong = '<tool_call>\n{"name": "f", "arguments": {' * 20_000
    assert parse_tool_calls(wrong, "hermes").content == wrong
    members = "".join(f"<arg_key>k{at}</arg_key><arg_value>{at}</arg_value>" for at in range(5_000))
    parser, found = ToolCallParser("glm_4_7"), []
    for at in range(0, len(members), 7):
        found += parser.feed(("<tool_call>f" if at == 0 else "") + members[at : at + 7])
    found += parser.feed("</tool_call>")
    assert isinstance(found[0], ToolCall)
    assert found[0].arguments == {f"k{at}": at for at in range(5_000)}

r"""Tool calls: the grammar of what a model may write, and the way back from what it wrote.

How a family of models writes calls is data, one file each in `tool_formats`.

>>> tools = [{"type": "function", "function": {"name": "now"}}]
>>> tool_grammar(tools, "hermes").kind
'structural_tag'
>>> parse_tool_calls('<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>', "hermes").calls
[ToolCall(name='now', arguments={}, id=None)]
"""

from stencilm.tools._families import Family, families, family_of
from stencilm.tools._grammar import tool_grammar, tool_tag
from stencilm.tools._parse import Answer, ToolCall, ToolCallParser, parse_tool_calls

__all__ = [
    "Answer",
    "Family",
    "ToolCall",
    "ToolCallParser",
    "families",
    "family_of",
    "parse_tool_calls",
    "tool_grammar",
    "tool_tag",
]

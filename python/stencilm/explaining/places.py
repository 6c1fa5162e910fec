"""Which schemas speak about a place in a value. Rather one too many: what is found is tried."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Documents", "Node", "Steps", "encode"]

Steps = tuple[str | int, ...]

_MOST_NODES = 20_000
_LISTS = ("allOf", "anyOf", "oneOf")
_ONE = ("then", "else")
_NAMED = ("dependentSchemas", "dependencies")
_NAMING = tuple(
    (keyword,) for keyword in ("properties", "patternProperties", "$defs", "definitions", *_NAMED)
)
_RAW = "\0number:"
"""Before a number that Python would change."""
_RAW_STRING = re.compile(r'"\\u0000number:([-+.0-9Ee]+)"')
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode(value: Any) -> str:
    """A part of a schema as JSON, its numbers as they were written."""
    return _RAW_STRING.sub(r"\1", _encode(value))


def _decode(text: str) -> Any:
    def integer(digits: str) -> Any:
        return int(digits) if len(digits) < 1_000 else _RAW + digits

    return json.loads(text, parse_float=lambda digits: _RAW + digits, parse_int=integer)


@dataclass(frozen=True, slots=True)
class Node:
    """A schema: the document, and the steps to it."""

    document: int
    steps: Steps

    @property
    def is_keyword(self) -> bool:
        """Whether it is the value of a keyword, not a member or an item of one."""
        steps = self.steps
        return bool(steps) and isinstance(steps[-1], str) and steps[-2:-1] not in _NAMING

    def below(self, *steps: str | int) -> Node:
        """A schema inside of this one."""
        return Node(self.document, (*self.steps, *steps))


class Documents:
    """A schema and the documents that its references may name."""

    def __init__(self, schema: str, resources: Sequence[tuple[str, str]]) -> None:
        self.uris = ["", *(uri for uri, _ in resources)]
        self.roots: list[Any] = [_decode(text) for text in (schema, *(t for _, t in resources))]
        self._bases: dict[Node, str] = {}
        self._named: dict[str, Node] = {}
        self._dynamic: list[Node] = []
        for number, uri in enumerate(self.uris):
            self._index(Node(number, ()), uri)

    def get(self, node: Node) -> Any:
        """What stands there; None if nothing does."""
        found = self.roots[node.document]
        for step in node.steps:
            try:
                found = found[step]
            except (KeyError, IndexError, TypeError):
                return None
        return found

    def pointer(self, node: Node) -> str:
        """A JSON Pointer, after the URI of a document that is not the main one."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in node.steps)
        pointer = "".join(f"/{step}" for step in steps)
        uri = self.uris[node.document]
        return f"{uri}#{pointer}" if uri else pointer

    def along(self, path: Steps, names: Sequence[str]) -> list[list[Node]]:
        """The schemas that speak about each value on a path, the outermost first.

        With names, then those about members that have these, and about the names.
        """
        levels = [self._in_place([Node(0, ())])]
        for step in path:
            children = [child for node in levels[-1] for child in self._children(node, step)]
            levels.append(self._in_place(children))
        if names:
            around = levels[-1]
            inside = [node.below("propertyNames") for node in around]
            inside += [c for name in names for node in around for c in self._children(node, name)]
            levels.append(self._in_place(inside))
        return levels

    def declared(self, nodes: Sequence[Node], prefix: str) -> list[str]:
        """The names that these schemas list and that begin so."""
        names: dict[str, None] = {}
        for node in nodes:
            properties = self.get(node.below("properties"))
            if isinstance(properties, dict):
                names.update(dict.fromkeys(n for n in properties if n.startswith(prefix)))
        return list(names)

    def _in_place(self, nodes: Sequence[Node]) -> list[Node]:
        """These, and those that they apply to the same value; nothing below `not` or `if`."""
        todo, seen = list(reversed(nodes)), dict[Node, None]()
        while todo and len(seen) < _MOST_NODES:
            node = todo.pop()
            if node in seen or not isinstance(self.get(node), dict | bool):
                continue
            seen[node] = None
            todo.extend(reversed(list(self._beside(node))))
        return list(seen)

    def _beside(self, node: Node) -> Iterator[Node]:
        schema = self.get(node)
        if not isinstance(schema, dict):
            return
        for keyword in _LISTS:
            branches = schema.get(keyword)
            if isinstance(branches, list):
                yield from (node.below(keyword, index) for index in range(len(branches)))
        for keyword in _ONE:
            if keyword in schema:
                yield node.below(keyword)
        for keyword in _NAMED:
            members = schema.get(keyword)
            if isinstance(members, dict):
                yield from (node.below(keyword, name) for name in members)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                yield from self._targets(node, keyword, reference)

    def _targets(self, node: Node, keyword: str, reference: str) -> Iterator[Node]:
        if keyword != "$ref":
            yield from self._dynamic
        whole, fragment = urldefrag(urljoin(self._base(node), reference))
        if fragment.startswith("/"):
            root = self._named.get(whole)
            if root is not None:
                yield self._follow(root, unquote(fragment))
        else:
            found = self._named.get(f"{whole}#{fragment}" if fragment else whole)
            if found is not None:
                yield found

    def _follow(self, root: Node, pointer: str) -> Node:
        node = root
        for raw in pointer.split("/")[1:]:
            step = raw.replace("~1", "/").replace("~0", "~")
            is_list = isinstance(self.get(node), list) and step.isdecimal()
            node = node.below(int(step) if is_list else step)
        return node

    def _base(self, node: Node) -> str:
        for length in range(len(node.steps), -1, -1):
            base = self._bases.get(Node(node.document, node.steps[:length]))
            if base is not None:
                return base
        return ""

    def _children(self, node: Node, step: str | int) -> Iterator[Node]:
        schema = self.get(node)
        if not isinstance(schema, dict):
            return
        if isinstance(step, str):
            yield node.below("properties", step)
            patterns = schema.get("patternProperties")
            for pattern in patterns if isinstance(patterns, dict) else ():
                if _may_match(pattern, step):
                    yield node.below("patternProperties", pattern)
            yield node.below("additionalProperties")
            yield node.below("unevaluatedProperties")
            return
        yield node.below("prefixItems", step)
        yield (
            node.below("items", step)
            if isinstance(schema.get("items"), list)
            else node.below("items")
        )
        for keyword in ("additionalItems", "unevaluatedItems"):
            yield node.below(keyword)

    def _index(self, root: Node, uri: str) -> None:
        """Finds what has a URI or an anchor."""
        self._bases[root] = uri
        self._named.setdefault(uri, root)
        todo: list[tuple[Node, Any, str]] = [(root, self.roots[root.document], uri)]
        while todo:
            node, value, base = todo.pop()
            if isinstance(value, list):
                todo += [(node.below(at), inner, base) for at, inner in enumerate(value)]
            if not isinstance(value, dict):
                continue
            own = next((value[k] for k in ("$id", "id") if isinstance(value.get(k), str)), None)
            if own is not None:
                base, anchor = urldefrag(urljoin(base, own))
                self._bases[node] = base
                self._named.setdefault(f"{base}#{anchor}" if anchor else base, node)
            for keyword in ("$anchor", "$dynamicAnchor"):
                if isinstance(value.get(keyword), str):
                    self._named.setdefault(f"{base}#{value[keyword]}", node)
            if "$dynamicAnchor" in value or value.get("$recursiveAnchor") is True:
                self._dynamic.append(node)
            todo += [
                (node.below(key), inner, base)
                for key, inner in value.items()
                if isinstance(inner, dict | list)
            ]


def _may_match(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:  # Another dialect of patterns than ours.
        return True

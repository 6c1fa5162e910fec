"""Which keywords of a JSON Schema forbid what a text does at a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stencilm._explanation import Reason
from stencilm.explaining.instance import Standing, Writing, stand
from stencilm.explaining.places import Documents
from stencilm.explaining.trial import Edit, OutOfTime, Trial
from stencilm.explaining.words import in_words, option_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stencilm._limits import Limits

__all__ = ["Found", "find"]

_NO_LIMITS: dict[str, Any] = {
    "whitespace": None,
    "whitespace_cap": 1_000_000,
    "indent": None,
    "separators": None,
    "key_order": "any",
    "additional": None,
    "numbers": "any",
    "escapes": "any",
}
"""Options under which every JSON text that a schema allows may come."""
_SPACE = ("whitespace", "whitespace_cap", "indent", "separators")
_OPTIONS: dict[str, dict[str, Any]] = {
    "additional": {"additional": "anywhere"},
    "escapes": {"escapes": "any"},
    "key_order": {"key_order": "any"},
    "numbers": {"numbers": "any"},
    "whitespace": {name: _NO_LIMITS[name] for name in _SPACE},
}
_ASSERTIONS = frozenset(
    {
        *("additionalItems", "additionalProperties", "anyOf", "const", "contains"),
        *("dependencies", "dependentRequired", "dependentSchemas", "else", "enum"),
        *("exclusiveMaximum", "exclusiveMinimum", "format", "if", "items", "maxContains"),
        *("maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems"),
        *("minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern"),
        *("propertyNames", "required", "then", "type", "unevaluatedItems"),
        *("unevaluatedProperties", "uniqueItems"),
    }
)
_MOST_NAMES = 20
"""Members looked into where a name is not whole."""
_MOST_BRANCHES = 4
"""More reasons than these inside of one `anyOf` or `oneOf` become one."""


@dataclass(frozen=True, slots=True)
class Found:
    """What forbids a text."""

    place: str
    reasons: tuple[Reason, ...] = ()
    is_joint: bool = False


def find(
    schema: str,
    options: Mapping[str, Any],
    before: bytes,
    text: bytes,
    offset: int,
    limits: Limits,
) -> Found:
    """What forbids that `text[offset]` comes after `before + text[:offset]`, or the end of it.

    As much of it as can be found in the time that the limits give for compiling.
    """
    whole = before + text
    at = len(before) + offset
    standing = stand(whole[:at])
    is_end = offset == len(text)
    path = standing.path[:-1] if whole[at : at + 1] == b"]" else standing.path
    reasons: list[Reason] = []
    is_joint = False
    try:
        search = _Search(schema, options, standing, whole, at, is_end=is_end, limits=limits)
        reasons = search.found
        is_joint = search.run()
    except (OutOfTime, RecursionError):  # Python's own readers of JSON do not go as deep as ours.
        pass
    return Found(_pointer(path), tuple(reasons), is_joint)


class _Search:
    def __init__(
        self,
        schema: str,
        options: Mapping[str, Any],
        standing: Standing,
        whole: bytes,
        at: int,
        *,
        is_end: bool,
        limits: Limits,
    ) -> None:
        self.documents = Documents(schema, options.get("resources", []))
        self.options = options
        self.standing = standing
        self.container = _pointer(standing.around)
        self.is_end = is_end
        self.byte = whole[at : at + 1]
        self.has_escapes = b"\\" in whole[: at + 1] or not whole[: at + 1].isascii()
        self.name: str | None = None
        """The member name that is refused, with `…` if it is not whole."""
        self.is_twice = False
        self.names: list[str] = []
        """The members that it may be."""
        self.found: list[Reason] = []
        end = self._look_at_name(whole, at)
        self.trial = Trial(self.documents, options, whole[:end], is_end=is_end, limits=limits)

    def _look_at_name(self, whole: bytes, at: int) -> int:
        """Up to where the text is tried: a name that is whole is tried whole."""
        begins = self.standing.writing is Writing.NAME and whole[at : at + 1] == b'"'
        if not begins and self.standing.writing is not Writing.IN_NAME:
            return at + 1
        if begins:
            self.standing.begin = at
        name, end = self.standing.name(whole)
        self.name = name if end else f"{name}…"
        self.is_twice = end > 0 and name in self.standing.levels[-1].names
        if end:
            self.names = [name]
        else:
            nodes = self.documents.along(self.standing.path, ())[-1]
            self.names = self.documents.declared(nodes, name)[:_MOST_NAMES]
        return end or at + 1

    def run(self) -> bool:
        """Fills `found`; whether what is found forbids it together."""
        if self.is_twice:
            return self._say("", f"the name `{self.name}` came already in this object")
        if not self.trial.allows(schema="true", **_NO_LIMITS):
            if self.is_end:
                return self._say("", "the JSON value is not complete")
            is_name = self.name is not None
            return self._say("", "no name is written like this" if is_name else "this is no JSON")
        for option, changes in _OPTIONS.items():
            if self._may_matter(option) and self.trial.allows(**changes):
                value = self.options.get(option)
                return self._say(option, option_in_words(option, value, self.name))
        edits = self._edits()
        # What is left may ask for what is refused: `uniqueItems` without an `enum`.
        if self._one_of(edits, {}) or self._one_of(edits, {"unsupported": "widen"}):
            return False
        # Beside an option that forbids it too, the fewest keywords.
        for edit in edits:
            if self.trial.allows([edit], **_NO_LIMITS):
                self._together([edit], _NO_LIMITS)
                return True
        for options in ({}, _NO_LIMITS, {**_NO_LIMITS, "unsupported": "widen"}):
            if self.trial.allows(edits, **options):
                self._together(edits, options)
                break
        return len(self.found) > 1

    def _say(self, keyword: str, message: str) -> bool:
        self.found.append(Reason(place="", keyword=keyword, message=message))
        return False

    def _may_matter(self, option: str) -> bool:
        if option == "escapes":
            return self.has_escapes
        return option != "numbers" or self.byte in (b"e", b"E", b".")

    def _one_of(self, edits: list[Edit], options: Mapping[str, Any]) -> bool:
        """Those that forbid it alone."""
        singles: list[Edit] = []
        for edit in edits:
            if self.trial.allows([edit], **options):
                singles.append(edit)
                self.found[:] = [self._reason(edit) for edit in self._telling(singles)]
        return bool(singles)

    def _together(self, edits: list[Edit], options: Mapping[str, Any]) -> None:
        """Several that each forbid it.

        With all of them left out it could come, and with any one of them it could not.
        """
        left = list(edits)
        # The outer ones are put back first, so that the inner ones tell.
        for edit in sorted(edits, key=lambda edit: len(edit.node.steps)):
            fewer = [other for other in left if other is not edit]
            if self.trial.allows(fewer, **options):
                left = fewer
        self.found[:] = [self._reason(edit) for edit in left]
        changed = dict(options)
        for option, changes in _OPTIONS.items() if options else ():
            kept = {n: v for n, v in changed.items() if n not in changes}
            if self.trial.allows(left, **kept):
                changed = kept
            else:
                self._say(option, option_in_words(option, self.options.get(option), self.name))

    def _edits(self) -> list[Edit]:
        """What speaks about the place, the innermost first."""
        levels = self.documents.along(self.standing.path, self.names)
        edits: dict[Edit, None] = {}
        for nodes in reversed(levels):
            for node in nodes:
                schema = self.documents.get(node)
                if schema is False and not node.is_keyword:
                    edits[Edit(node, "")] = None
                elif isinstance(schema, dict):
                    for keyword in schema:
                        if keyword == "oneOf" and "anyOf" not in schema:
                            edits[Edit(node, keyword, "anyOf")] = None
                        if keyword in _ASSERTIONS:
                            edits[Edit(node, keyword)] = None
        return list(edits)

    def _telling(self, singles: list[Edit]) -> list[Edit]:
        """Those that say most: inner ones, unless they are many branches of one choice."""
        overlaps = {(edit.node, edit.keyword) for edit in singles if edit.becomes}
        tried = [e for e in singles if e.becomes or (e.node, e.keyword) not in overlaps]
        telling = tried
        for outer in tried:
            inner = [edit for edit in telling if _is_inside(edit, outer)]
            is_choice = outer.keyword in ("anyOf", "oneOf")
            if outer.becomes or (is_choice and len(inner) > _MOST_BRANCHES):
                telling = [edit for edit in telling if edit not in inner]
            elif inner:
                telling = [edit for edit in telling if edit is not outer]
        # Without its type, a number that is out of bounds might go on with an exponent.
        others = {edit.node for edit in telling if edit.keyword != "type"}
        return [edit for edit in telling if edit.keyword != "type" or edit.node not in others]

    def _reason(self, edit: Edit) -> Reason:
        schema = self.documents.get(edit.node)
        value = schema[edit.keyword] if edit.keyword else False
        place = self.documents.pointer(edit.node)
        if edit.becomes:
            message = "more than one alternative of oneOf would allow this"
        else:
            message = in_words(edit.keyword, value, self.standing, self.name, self.container)
        return Reason(place=place, keyword=edit.keyword, message=message)


def _is_inside(edit: Edit, outer: Edit) -> bool:
    """Whether it stands inside of the value of the other one's keyword."""
    if edit.node.document != outer.node.document or edit is outer:
        return False
    steps = (*edit.node.steps, edit.keyword)
    keywords = ("then", "else") if outer.keyword == "if" else (outer.keyword,)
    around = ((*outer.node.steps, keyword) for keyword in keywords)
    return any(steps[: len(begin)] == begin and steps != begin for begin in around) or (
        outer.keyword == "if" and steps[:-1] == outer.node.steps and steps[-1] in keywords
    )


def _pointer(path: tuple[str | int, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)

"""What `serialize_json` writes: JSON with the kind of the object and a version."""

from __future__ import annotations

import json
from typing import Any

from stencilm.compat.xgrammar.config import get_serialization_version
from stencilm.compat.xgrammar.exceptions import (
    DeserializeFormatError,
    DeserializeVersionError,
    InvalidJSONError,
)

__all__ = ["read_saved", "write_saved"]

_VERSION = "__VERSION__"


def write_saved(kind: str, fields: dict[str, Any]) -> str:
    """These fields as JSON.

    >>> read_saved("T", write_saved("T", {"a": 1}))["a"]
    1
    """
    fields = {"__KIND__": kind, **fields, _VERSION: get_serialization_version()}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def read_saved(kind: str, text: str) -> dict[str, Any]:
    """The fields that `write_saved` wrote for this kind.

    Raises:
        InvalidJSONError: This is no JSON.
        DeserializeVersionError: It is of another version.
        DeserializeFormatError: It is something else.
    """
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJSONError(f"this is no JSON: {error}") from error
    if not isinstance(read, dict):
        raise DeserializeFormatError("a JSON object is expected")
    version = read.get(_VERSION)
    if version != get_serialization_version():
        expected = get_serialization_version()
        raise DeserializeVersionError(f"the version is {version!r}, and not {expected!r}")
    if read.get("__KIND__") != kind:
        raise DeserializeFormatError(f"this is no {kind}, but {read.get('__KIND__')!r}")
    return read

"""What the schemas are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from compiler.connectors import Option

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": ["string", "number", "boolean"]}
"""A scalar: YAML's numbers and booleans are read as the text that they are written as."""
FLAG: Final[Schema] = {"type": ["boolean", "string"]}
ANYTHING: Final[Schema] = {}
TEXTS: Final[Schema] = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
DESCRIPTION: Final[Schema] = {
    "type": ["string", "null"],
    "description": "For people; shown by `headrace list`.",
}

_KINDS: Final[dict[str, Schema]] = {
    "string": TEXT,
    "integer": {"type": ["integer", "string"]},
    "number": {"type": ["number", "string"]},
    "boolean": FLAG,
    "duration": {"type": ["string", "integer"], "description": "A time such as `5 minutes`."},
    "choice": TEXT,
}


def closed(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """A mapping of these keys and no others."""
    found: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if needed := list(required):
        found["required"] = needed
    return found


def told(schema: Schema, text: str) -> Schema:
    """A schema with a description."""
    return {**schema, "description": text}


def option(found: Option) -> Schema:
    """The value of a connector's option; what is chosen from a list may also be a variable."""
    if found.choices:
        return {"anyOf": [{"enum": list(found.choices)}, {"type": "string", "pattern": r"\$\{"}]}
    return _KINDS[found.kind]

"""JSON Schemas of a project's YAML files, for editors: made from the tables of keys that the readers use."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from compiler.project.schema.parts import Schema
from compiler.project.schema.project import project
from compiler.project.schema.resources import resources

KINDS: Final[dict[str, Callable[[], Schema]]] = {"project": project, "resources": resources}
"""`project` is headrace.yml, `resources` every other YAML file."""

_TITLES: Final = {"project": "headrace.yml", "resources": "sources, models, sinks and seeds of headrace"}


def schema_of(kind: str) -> Schema:
    """The schema of a kind of file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": _TITLES[kind],
        **KINDS[kind](),
    }


def schema_text(kind: str) -> str:
    """The schema as JSON."""
    return json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n"

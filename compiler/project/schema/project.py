"""The schema of headrace.yml."""

from __future__ import annotations

from typing import Final

from compiler.connectors import CONNECTORS
from compiler.connectors.resolve import COMMON
from compiler.optimize import NAMES
from compiler.project import findings
from compiler.project.config import DEFAULT_KEYS, KEYS, ON_END, TARGET_KEYS
from compiler.project.schema.parts import ANYTHING, FLAG, TEXT, TEXTS, Schema, closed, option, told

_VARIABLES: Final[Schema] = {"type": ["object", "null"], "additionalProperties": TEXT}
_RUN: Final[dict[str, Schema]] = {
    "master": told(TEXT, "Spark's master, such as `local[2]`."),
    "state": told(TEXT, "Where state is kept; never under target/."),
    "trigger": told(TEXT, "`available_now`: read what there is, then end; or a time such as `5 seconds`."),
    "on_end": {"enum": list(ON_END), "description": "What becomes of open windows at the end of a run."},
    "parallelism": told({"type": ["integer", "string"]}, "State partitions; a query's first run fixes them."),
    "storage": told(TEXT, "Root of what `materialized` keeps."),
    "spark": {"type": ["object", "null"], "description": "Spark's configuration."},
}


def project() -> Schema:
    """The schema of the project's own file."""
    target = closed({key: {**_RUN, "vars": _VARIABLES}.get(key, ANYTHING) for key in TARGET_KEYS})
    sources: Schema = {"type": ["object", "null"], "properties": {}}
    for options in (*(c.source for c in CONNECTORS if c.source is not None), COMMON["source"]):
        sources["properties"].update({o.name: option(o) for o in options})
    defaults = closed({key: {**_RUN, "sources": sources}.get(key, ANYTHING) for key in DEFAULT_KEYS})
    values: dict[str, Schema] = {
        "name": told(TEXT, "Letters, digits, `_` and `-`."),
        "version": TEXT,
        "timezone": told(TEXT, "Zone of all timestamps without one."),
        "vars": told(_VARIABLES, "`${name}` in any file."),
        "defaults": {"anyOf": [defaults, {"type": "null"}], "description": "For all targets."},
        "default_target": TEXT,
        "targets": {
            "type": ["object", "null"],
            "additionalProperties": {"anyOf": [target, {"type": "null"}]},
        },
        "optimizer": {
            "anyOf": [closed(dict.fromkeys(NAMES, FLAG)), {"type": "null"}],
            "description": "Optimizer rules, on or off.",
        },
        "diagnostics": {"anyOf": [closed(dict.fromkeys(findings.KEYS, TEXTS)), {"type": "null"}]},
    }
    return closed({key: values.get(key, ANYTHING) for key in KEYS}, ("name",))

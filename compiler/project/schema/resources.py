"""The schema of a project's YAML files: sources, models, sinks and seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from compiler.analysis.model_options import MATERIALIZED, OPTIONS, Of
from compiler.connectors import CONNECTORS
from compiler.connectors.resolve import COMMON, Role
from compiler.project.schema.parts import (
    ANYTHING,
    DESCRIPTION,
    FLAG,
    TEXT,
    TEXTS,
    Schema,
    closed,
    option,
    told,
)
from compiler.project.schema.probe import Keys, step_keys
from compiler.syntax import yaml_models as keys
from compiler.syntax.steps import READERS
from compiler.syntax.yaml_checks import CONSTRAINT_KEYS, CONSTRAINTS
from compiler.syntax.yaml_columns import COLUMN_KEYS, WATERMARK_KEYS

_EXPRESSION: Final = told(TEXT, "A Spark SQL expression.")
_TESTS: Final = told(ANYTHING, "Read for dbt's sake; nothing runs them (HR112).")
_OPTION_VALUES: Final[dict[str, Schema]] = {
    "allow_unbounded": told(FLAG, "State may grow for ever."),
    "materialized": {"enum": list(MATERIALIZED), "description": "What the model is kept as."},
    "parallelism": told({"type": ["integer", "string"]}, "Number of state partitions of its query."),
    "state_ttl": told(TEXT, "After what time without use an entry of state is dropped, such as `1 d`."),
    "tags": told(TEXTS, "Words for `--select tag:…`."),
    "trigger": told(TEXT, "`available_now`, or a time such as `5 seconds`."),
    "uid": told(TEXT, "Name under which state is kept, whatever the name becomes."),
}
_CONTRACT: Final = closed(dict.fromkeys(keys.CONTRACT_KEYS, FLAG))


def _named(known: Iterable[str], values: dict[str, Schema]) -> dict[str, Schema]:
    """The keys of a reader's table, in its order."""
    return {key: values.get(key, ANYTHING) for key in known}


def _column() -> Schema:
    constraint = closed(
        _named(CONSTRAINT_KEYS, {"type": {"enum": list(CONSTRAINTS)}, "columns": TEXTS}), ("type",)
    )
    return closed(
        _named(
            COLUMN_KEYS,
            {
                "name": TEXT,
                "type": told(TEXT, "Its type, with or without NOT NULL."),
                "data_type": told(TEXT, "dbt's word for `type`."),
                "not_null": FLAG,
                "primary_key": FLAG,
                "expression": _EXPRESSION,
                "as": _EXPRESSION,
                "metadata": told(TEXT, "What the connector knows of a row, such as `file.name`."),
                "virtual": FLAG,
                "comment": DESCRIPTION,
                "description": DESCRIPTION,
                "constraints": {"type": "array", "items": constraint},
                "tests": _TESTS,
                "data_tests": _TESTS,
                "tags": TEXTS,
            },
        )
    )


def _columns() -> Schema:
    column = _column()
    typed = {"anyOf": [{"type": ["string", "null"]}, column]}
    by_name = {"type": "object", "additionalProperties": typed}
    # `- total: DECIMAL(10, 2)`: one pair is a name and its type.
    pair = {"type": "object", "additionalProperties": {"type": ["string", "null"]}, "maxProperties": 1}
    return {"anyOf": [by_name, {"type": "array", "items": {"anyOf": [column, pair]}}, {"type": "null"}]}


def _options(of: Of, role: Role | None) -> Schema:
    """`with:` or `config:`; those of a connector may also be nested, `csv: {header: true}`."""
    own = {
        name: _OPTION_VALUES.get(name, ANYTHING) for name, (_, can_have) in OPTIONS.items() if of in can_have
    }
    if role is None:
        own.pop("contract.enforced")
        return {"anyOf": [closed({**own, "contract": _CONTRACT, "meta": ANYTHING}), {"type": "null"}]}
    connectors = [(c, c.source if role == "source" else c.sink) for c in CONNECTORS]
    usable = [(connector, options) for connector, options in connectors if options is not None]
    found: dict[str, Schema] = {"connector": {"enum": [n for c, _ in usable for n in (c.name, *c.flink)]}}
    for options in (*(options for _, options in usable), COMMON[role]):
        found.update({o.name: option(o) for o in options if o.name not in found})
    return {"type": ["object", "null"], "properties": {**found, **own, "meta": ANYTHING}}


def _of_keys(known: Keys | None) -> Schema:
    if known is None:
        return ANYTHING
    # Most steps have a short form that is no mapping.
    return {
        "properties": {key: _of_keys(inner) for key, inner in known.items()},
        "additionalProperties": False,
    }


def _steps() -> Schema:
    step = closed({name: _of_keys(step_keys(name)) for name in READERS})
    return {"type": ["array", "null"], "items": {**step, "minProperties": 1, "maxProperties": 1}}


def _entries(item: Schema) -> Schema:
    return {"type": ["array", "null"], "items": item}


def resources() -> Schema:
    """The schema of a YAML file of declarations."""
    shared: dict[str, Schema] = {
        "name": TEXT,
        "description": DESCRIPTION,
        "columns": {"$ref": "#/$defs/columns"},
        "tags": TEXTS,
        "tests": _TESTS,
        "data_tests": _TESTS,
        "primary_key": told(TEXTS, "Columns that tell rows apart."),
        "partition_by": told(TEXTS, "Columns whose values make folders."),
        "from": told(TEXT, "The source or model whose rows it takes."),
        "steps": {"$ref": "#/$defs/steps"},
        "sql": told(TEXT, "A query, instead of `from` and `steps`."),
    }

    def entry(known: Iterable[str], of: Of, role: Role | None, **more: Schema) -> Schema:
        options = _options(of, role)
        return closed(_named(known, {**shared, "with": options, "config": options, **more}), ("name",))

    source = entry(
        keys.SOURCE_KEYS,
        "source",
        "source",
        watermark=closed(dict.fromkeys(WATERMARK_KEYS, TEXT), ("on",)),
    )
    tables: Schema = {"type": "array", "items": {"$ref": "#/$defs/source"}}
    group = entry(keys.GROUP_KEYS, "source", "source", tables=tables)
    columns: Schema = {"type": "object", "additionalProperties": TEXT}
    seed_config = closed(_named(keys.SEED_CONFIG_KEYS, {"column_types": columns, "tags": TEXTS}))
    declared = {
        "sources": _entries({"anyOf": [{"$ref": "#/$defs/source"}, {"$ref": "#/$defs/group"}]}),
        "models": _entries({"$ref": "#/$defs/model"}),
        "sinks": _entries({"$ref": "#/$defs/sink"}),
        "seeds": _entries({"$ref": "#/$defs/seed"}),
        "version": TEXT,
    }
    return {
        **closed(_named(keys.FILE_KEYS, declared)),
        "$defs": {
            "source": source,
            "group": {**group, "required": ["name", "tables"]},
            "model": entry(keys.MODEL_KEYS, "model", None, contract=_CONTRACT),
            "sink": entry(keys.SINK_KEYS, "sink", "sink"),
            "seed": closed(_named(keys.SEED_KEYS, {**shared, "config": seed_config}), ("name",)),
            "columns": _columns(),
            "steps": _steps(),
        },
    }

"""Formats and clients: the options of headrace as those of Spark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from compiler.jobplan.model import Options

OPERATION: Final = "headrace.operation"
"""Key of a metadata column that users cannot ask for: the code of what a message does to its key's row."""

OPERATION_COLUMN: Final = "__headrace_operation"

DELETION: Final = "d"
"""The code of a message that deletes its key's row."""

EXCEPT_KEY: Final = "except_key"
"""Of `value.fields-include`: the columns of a message's key are not in its value as well."""

SEPARATOR: Final = ";"
"""Between the columns of `key.fields`; a column of a key has none in its name."""

DESCRIPTOR: Final = "protobuf.descriptor"
"""The file with a message's type; in a job plan its content, in base 64."""

MESSAGE_NAME: Final = "protobuf.message-name"
"""The full name of a message's type. Both options begin with `key.` for a message's key."""

# Name after the format's prefix (`csv.delimiter`), or without one for all formats (`timestamp_format`).
_TEXT = {
    "timestamp_format": "timestampFormat",
    "date_format": "dateFormat",
    "encoding": "encoding",
    "compression": "compression",
}
_NAMES: dict[str, dict[str, str]] = {
    "csv": {
        **_TEXT,
        "header": "header",
        "delimiter": "sep",
        "null": "nullValue",
        "quote": "quote",
        "escape": "escape",
        "comment": "comment",
        "multi_line": "multiLine",
    },
    "json": {**_TEXT, "multi_line": "multiLine"},
    "debezium-json": _TEXT,
    "parquet": {"compression": "compression"},
    "orc": {"compression": "compression"},
    "raw": {},
    "avro": {},
    "avro-confluent": {},
    "protobuf": {},
}
FORMATS = tuple(_NAMES)


def file_format(options: Options) -> str:
    """The format's name in lower case."""
    return str(options["format"]).lower()


def spark_options(options: Options) -> dict[str, str]:
    """The options of the connector's format, by the names that Spark's readers and writers know."""
    name = file_format(options)
    found: dict[str, str] = {}
    for ours, sparks in _NAMES[name].items():
        value = options.get(f"{name}.{ours}", options.get(ours))
        if value is not None:
            found[sparks] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def key_fields(options: Options) -> dict[str, str]:
    """The columns of a message's key, each with its name there: `key.fields-prefix` is taken off."""
    names = [name for name in str(options.get("key.fields", "")).split(SEPARATOR) if name]
    return {name: name.removeprefix(str(options.get("key.fields-prefix", ""))) for name in names}


def key_format(options: Options) -> str:
    """The format of a message's key, that of its value if it has none of its own."""
    return str(options.get("key.format", options["format"])).lower()


def value_fields(options: Options, columns: Iterable[str]) -> list[str]:
    """Those of the columns that are in a message's value."""
    besides = key_fields(options) if options.get("value.fields-include") == EXCEPT_KEY else {}
    return [name for name in columns if name not in besides]

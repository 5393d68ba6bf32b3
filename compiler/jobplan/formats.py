"""Formats and clients: the options of headrace as those of Spark."""

from __future__ import annotations

from compiler.jobplan.model import Options

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
    "parquet": {"compression": "compression"},
    "orc": {"compression": "compression"},
    "raw": {},
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


def client_options(options: Options) -> dict[str, str]:
    """The options under `properties.`, by the names under which Spark hands them to Kafka's client."""
    return {
        "kafka." + name.removeprefix("properties."): str(value)
        for name, value in options.items()
        if name.startswith("properties.")
    }

"""Files in a folder: csv, json, parquet and orc."""

from compiler.connectors.spec import LOOKUP_TTL, Connector, Metadata, Option
from compiler.plan import types as t

FORMATS = ("csv", "json", "parquet", "orc")

_CSV = (
    Option("csv.header", "boolean"),
    Option("csv.delimiter", flink=("csv.field-delimiter", "csv.sep")),
    Option("csv.null", flink=("csv.null-literal",)),
    Option("csv.quote", flink=("csv.quote-character",)),
    Option("csv.escape", flink=("csv.escape-character",)),
)
_COMMON = (
    Option("path", required=True),
    Option("format", "choice", required=True, choices=FORMATS),
    Option("timestamp_format", flink=("timestamp-format",)),
)

CONNECTOR = Connector(
    name="filesystem",
    source=(*_COMMON, *_CSV, Option("max_files_per_epoch", "integer", least=1), LOOKUP_TTL),
    sink=(
        *_COMMON,
        *_CSV,
        Option("compression"),
        Option("files_per_epoch", "integer", least=1),
        Option("retention", "duration", least=1),
    ),
    exactly_once=True,
    location="path",
    text_formats=("csv", "json"),
    lookup=True,
    rereads=True,
    flink=("file", "files"),
    metadata=(
        Metadata("file.path", t.STRING),
        Metadata("file.name", t.STRING),
        Metadata("file.size", t.BIGINT),
        Metadata("file.modification-time", t.Timestamp(3)),
    ),
)

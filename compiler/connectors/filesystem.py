"""Files in a folder: csv, json, parquet and orc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.connectors.spec import LOOKUP_TTL, Connector, Metadata, Option
from compiler.connectors.texts import one_sign, some_sign, time_pattern
from compiler.diagnostics.suggest import did_you_mean
from compiler.plan import types as t

FORMATS = ("csv", "json", "parquet", "orc")

# As Spark 4.2 names them; for texts, a codec may also be a class of Hadoop.
_PLAIN = ("none", "uncompressed")
_TEXT = (*_PLAIN, "bzip2", "deflate", "gzip", "lz4", "snappy")
_COMPRESSIONS: Mapping[str, tuple[str, ...]] = {
    "csv": _TEXT,
    "json": _TEXT,
    "parquet": (*_PLAIN, "snappy", "gzip", "lzo", "brotli", "lz4", "lz4_raw", "zstd"),
    "orc": (*_PLAIN, "snappy", "zlib", "lzo", "lz4", "zstd", "brotli"),
}


def _problems(options: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """A compression that the format has not."""
    form, asked = str(options.get("format", "")), str(options.get("compression", "none"))
    known = _COMPRESSIONS.get(form, ())
    is_class = known is _TEXT and "." in asked
    if known and asked.lower() not in known and not is_class and "${env:" not in asked:
        fix = did_you_mean(asked, known) or f"it is one of {', '.join(known)}"
        yield "compression", f"format `{form}` has no compression `{asked}`", fix


_CSV = (
    Option("csv.header", "boolean"),
    Option("csv.delimiter", flink=("csv.field-delimiter", "csv.sep"), problem=some_sign),
    Option("csv.null", flink=("csv.null-literal",)),
    Option("csv.quote", flink=("csv.quote-character",), problem=one_sign),
    Option("csv.escape", flink=("csv.escape-character",), problem=one_sign),
)
_COMMON = (
    Option("path", required=True),
    Option("format", "choice", required=True, choices=FORMATS),
    Option("timestamp_format", flink=("timestamp-format",), problem=time_pattern),
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
    problems=_problems,
)

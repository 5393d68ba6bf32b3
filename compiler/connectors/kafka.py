"""Topics of Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compiler.connectors.spec import Connector, Metadata, Option
from compiler.plan import types as t

FORMATS = ("json", "csv", "raw")

_SPECIFIC = re.compile(r"\s*(partition:\d+\s*,\s*offset:\d+\s*(;\s*|$))+")


def _problems(options: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """Options that need each other: the one that is wrong, what is wrong, and how to mend it."""
    mode = str(options.get("scan.startup.mode", "earliest"))
    for needed, name, example in (
        ("timestamp", "scan.startup.timestamp-millis", "'1704067200000'"),
        ("specific-offsets", "scan.startup.specific-offsets", "'partition:0,offset:42'"),
    ):
        if (mode == needed) != (name in options):
            wrong = name if name in options else "scan.startup.mode"
            yield (
                wrong,
                f"`{name}` and `scan.startup.mode` = '{needed}' need each other",
                f"add {name} = {example}",
            )
    specific = options.get("scan.startup.specific-offsets")
    if specific is not None and ";" in str(options.get("topic", "")):
        yield (
            "scan.startup.specific-offsets",
            "offsets are those of one topic",
            "declare a source for each topic",
        )
    elif specific is not None and not _SPECIFIC.fullmatch(str(specific)):
        yield (
            "scan.startup.specific-offsets",
            f"`{specific}` names no offsets",
            "write 'partition:0,offset:42;partition:1,offset:300'",
        )


CONNECTOR = Connector(
    name="kafka",
    source=(
        Option("topic", required=True),
        Option("properties.bootstrap.servers", required=True, flink=("bootstrap_servers",)),
        Option("format", "choice", required=True, choices=FORMATS, flink=("value.format",)),
        Option("timestamp_format", flink=("timestamp-format",)),
        Option("csv.delimiter", flink=("csv.field-delimiter",)),
        Option("csv.null", flink=("csv.null-literal",)),
        Option("csv.quote", flink=("csv.quote-character",)),
        Option("csv.escape", flink=("csv.escape-character",)),
        Option(
            "scan.startup.mode",
            "choice",
            choices=(
                *("earliest", "latest", "timestamp", "specific-offsets"),
                *("earliest-offset", "latest-offset"),
            ),
            flink=("starting_offsets",),
        ),
        Option("scan.startup.timestamp-millis", "integer", least=0),
        Option("scan.startup.specific-offsets"),
        Option("on_data_loss", "choice", choices=("fail", "ignore")),
        Option("max_records_per_epoch", "integer", least=1),
    ),
    sink=(
        Option("topic", required=True),
        Option("properties.bootstrap.servers", required=True, flink=("bootstrap_servers",)),
        Option("format", "choice", required=True, choices=FORMATS, flink=("value.format",)),
        Option("key.fields"),
        Option("key.format", "choice", choices=FORMATS),
        Option("timestamp_format", flink=("timestamp-format",)),
        Option("csv.delimiter", flink=("csv.field-delimiter",)),
        Option("csv.null", flink=("csv.null-literal",)),
        Option("csv.quote", flink=("csv.quote-character",)),
        Option("csv.escape", flink=("csv.escape-character",)),
    ),
    prefixes=("properties.",),
    text_formats=("csv", "json"),
    metadata=(
        Metadata("topic", t.STRING),
        Metadata("partition", t.INT),
        Metadata("offset", t.BIGINT),
        Metadata("timestamp", t.Timestamp(3)),
        Metadata("timestamp-type", t.STRING),
        Metadata("key", t.BINARY, nullable=True),
        Metadata("headers", t.Map(t.STRING, t.BINARY)),
    ),
    problems=_problems,
)

"""Topics of Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compiler.connectors import messages
from compiler.connectors.spec import Connector, Option

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


_FORMATS = (*messages.FORMATS, "debezium-json")
_LAYOUT = (
    Option("format", "choice", required=True, choices=_FORMATS, flink=("value.format",)),
    Option("key.fields"),
    Option("key.format", "choice", choices=messages.FORMATS),
    *messages.KEYS,
    *messages.TEXT,
    Option("debezium-json.schema-include", "boolean"),
)

CONNECTOR = Connector(
    name="kafka",
    source=(
        *messages.WHERE,
        *_LAYOUT,
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
    sink=(*messages.WHERE, *_LAYOUT, *messages.SENDING),
    prefixes=("properties.",),
    exactly_once=True,
    rereads=True,
    text_formats=("csv", "json", "avro", "avro-confluent", "protobuf", "debezium-json"),
    metadata=messages.METADATA,
    keyed_messages=True,
    change_formats={"debezium-json": messages.DEBEZIUM_KINDS},
    problems=_problems,
)

"""Compacted topics of Kafka: the last message of a key is its row, and one without a value deletes it."""

from __future__ import annotations

from compiler.connectors import messages
from compiler.connectors.spec import Connector, Option

_FORMATS = (
    Option("key.format", "choice", required=True, choices=messages.FORMATS),
    Option("format", "choice", required=True, choices=messages.FORMATS, flink=("value.format",)),
)
# An epoch is Flink's buffer: these are taken and change nothing.
_FLINK = (
    Option("sink.buffer-flush.max-rows", "integer", least=0),
    Option("sink.buffer-flush.interval", "duration"),
)

CONNECTOR = Connector(
    name="upsert-kafka",
    source=(
        *messages.WHERE,
        *_FORMATS,
        *messages.KEYS,
        *messages.TEXT,
        Option("on_data_loss", "choice", choices=("fail", "ignore")),
        Option("max_records_per_epoch", "integer", least=1),
    ),
    sink=(*messages.WHERE, *_FORMATS, *messages.KEYS, *messages.TEXT, *messages.SENDING, *_FLINK),
    prefixes=("properties.",),
    exactly_once=True,
    upsert=True,
    location="topic",
    text_formats=("csv", "json", "avro", "avro-confluent", "protobuf"),
    metadata=messages.METADATA,
    keyed_messages=True,
    change_formats=dict.fromkeys(messages.FORMATS, messages.UPSERT_KINDS),
)

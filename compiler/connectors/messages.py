"""What topics have in common, however their rows are read: options of formats, of keys, and of a client."""

from __future__ import annotations

from typing import Final

from compiler.connectors.spec import Metadata, Option
from compiler.connectors.texts import one_sign, some_sign, time_pattern
from compiler.jobplan.formats import DELETION, DESCRIPTOR, EXCEPT_KEY, MESSAGE_NAME
from compiler.plan import types as t

FORMATS: Final = ("json", "csv", "raw", "avro", "avro-confluent", "protobuf")

# Codes of a message's operation, each with Flink's name of the kind of change.
UPSERT_KINDS: Final = (("u", "UPDATE_AFTER"), (DELETION, "DELETE"))
DEBEZIUM_KINDS: Final = (("c", "INSERT"), ("r", "INSERT"), ("u", "UPDATE_AFTER"), (DELETION, "DELETE"))

WHERE: Final = (
    Option("topic", required=True),
    Option("properties.bootstrap.servers", required=True, flink=("bootstrap_servers",)),
)
KEYS: Final = (
    Option("key.fields-prefix"),
    Option("value.fields-include", "choice", choices=("all", EXCEPT_KEY)),
    Option("avro.schema", flink=("value.avro.schema",)),
    Option("key.avro.schema"),
    Option("avro-confluent.url", flink=("value.avro-confluent.url", "avro-confluent.schema-registry.url")),
    Option("avro-confluent.subject", flink=("value.avro-confluent.subject",)),
    Option("key.avro-confluent.subject"),
    Option(DESCRIPTOR, flink=(f"value.{DESCRIPTOR}",)),
    Option(MESSAGE_NAME, flink=(f"value.{MESSAGE_NAME}",)),
    Option(f"key.{DESCRIPTOR}"),
    Option(f"key.{MESSAGE_NAME}"),
    Option("avro-confluent.basic-auth.user-info", flink=("value.avro-confluent.basic-auth.user-info",)),
)
TEXT: Final = (
    Option("timestamp_format", flink=("timestamp-format",), problem=time_pattern),
    Option("csv.delimiter", flink=("csv.field-delimiter",), problem=some_sign),
    Option("csv.null", flink=("csv.null-literal",)),
    Option("csv.quote", flink=("csv.quote-character",), problem=one_sign),
    Option("csv.escape", flink=("csv.escape-character",), problem=one_sign),
)
SENDING: Final = (
    Option("sink.parallelism", "integer", least=1),
    Option("sink.transactional-id-prefix"),
    Option("max_retries", "integer", least=0),
)
METADATA: Final = (
    Metadata("topic", t.STRING),
    Metadata("partition", t.INT),
    Metadata("offset", t.BIGINT),
    # Spark's own writer, which sends at least once, sends no times.
    Metadata("timestamp", t.Timestamp(3), writable=True, only_once=True),
    Metadata("timestamp-type", t.STRING),
    Metadata("key", t.BINARY, nullable=True),
    Metadata("headers", t.Map(t.STRING, t.BINARY), writable=True),
)

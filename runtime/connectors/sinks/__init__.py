"""Sinks by the name of their connector. To add one: one file, one line here."""

from __future__ import annotations

from collections.abc import Callable

from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, Writer
from runtime.connectors.sinks.blackhole import BlackholeWriter
from runtime.connectors.sinks.console import ConsoleWriter
from runtime.connectors.sinks.delta import DeltaWriter
from runtime.connectors.sinks.filesystem import FilesystemWriter
from runtime.connectors.sinks.jdbc import jdbc_writer
from runtime.connectors.sinks.kafka import kafka_writer
from runtime.connectors.sinks.memory import MemoryWriter
from runtime.connectors.sinks.webhook import WebhookWriter

SINKS: dict[str, Callable[[Sink, SinkContext], Writer]] = {
    "filesystem": FilesystemWriter,
    "delta": DeltaWriter,
    "jdbc": jdbc_writer,
    "http": WebhookWriter,
    "kafka": kafka_writer,
    "upsert-kafka": kafka_writer,
    "console": ConsoleWriter,
    "memory": MemoryWriter,
    "blackhole": BlackholeWriter,
}

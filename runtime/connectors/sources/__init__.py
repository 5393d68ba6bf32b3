"""Sources by the name of their connector. To add one: one file, one line here."""

from __future__ import annotations

from runtime.connectors.sources.base import Source
from runtime.connectors.sources.datagen import DatagenSource
from runtime.connectors.sources.delta import DeltaSource
from runtime.connectors.sources.filesystem import FilesystemSource
from runtime.connectors.sources.jdbc import JdbcSource
from runtime.connectors.sources.kafka import KafkaSource

SOURCES: dict[str, Source] = {
    "datagen": DatagenSource(),
    "delta": DeltaSource(),
    "filesystem": FilesystemSource(),
    "jdbc": JdbcSource(),
    "kafka": KafkaSource(),
    "upsert-kafka": KafkaSource(),
}

"""Sources by the name of their connector. To add one: one file, one line here."""

from __future__ import annotations

from runtime.connectors.sources.base import RereadableSource, Source
from runtime.connectors.sources.datagen import DatagenSource
from runtime.connectors.sources.delta import DeltaSource
from runtime.connectors.sources.filesystem import FilesystemSource
from runtime.connectors.sources.jdbc import JdbcSource
from runtime.connectors.sources.kafka import KafkaSource

REREADABLE: dict[str, RereadableSource] = {
    "filesystem": FilesystemSource(),
    "kafka": KafkaSource(),
}
"""Those that can give what an epoch has read once more."""

SOURCES: dict[str, Source] = {
    "datagen": DatagenSource(),
    "delta": DeltaSource(),
    **REREADABLE,
    "jdbc": JdbcSource(),
    "upsert-kafka": KafkaSource(),
}

"""The connectors that the compiler knows, one a file. A new one is a file here and a line in this list."""

from compiler.connectors import (
    blackhole,
    console,
    datagen,
    delta,
    filesystem,
    jdbc,
    kafka,
    upsert_kafka,
    webhook,
)
from compiler.connectors.spec import Connector, Option

CONNECTORS: tuple[Connector, ...] = (
    filesystem.CONNECTOR,
    delta.CONNECTOR,
    jdbc.CONNECTOR,
    webhook.CONNECTOR,
    kafka.CONNECTOR,
    upsert_kafka.CONNECTOR,
    datagen.CONNECTOR,
    console.CONNECTOR,
    blackhole.CONNECTOR,
)

__all__ = ["CONNECTORS", "Connector", "Option"]

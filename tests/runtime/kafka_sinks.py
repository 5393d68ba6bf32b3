"""Sinks of topics, their writers, and what a reader gets of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

from compiler.jobplan import model as m
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext
from runtime.connectors.sinks.kafka import KafkaWriter

KV = (m.Column("k", "STRING"), m.Column("v", "INT"))


def values(kafka: str, topic: str, partitions: int = 1) -> list[str]:
    """The values of all messages that a reader gets who waits for commits."""
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": "test", "isolation.level": "read_committed",
         "enable.partition.eof": True, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    found: list[str] = []
    ends = 0
    while ends < partitions:
        message = consumer.poll(20)
        assert message is not None
        if message.error():
            ends += 1
        else:
            found.append((message.value() or b"").decode())
    consumer.close()
    return sorted(found)


def sink(
    kafka: str,
    topic: str,
    more: m.Options | None = None,
    columns: tuple[m.Column, ...] = KV,
    source: str = "x",
) -> m.Sink:
    given: dict[str, Any] = {
        "topic": topic,
        "properties.bootstrap.servers": kafka,
        "format": "csv",
        "sink.parallelism": 3,
    }
    return m.Sink("out", source, "kafka", {**given, **(more or {})}, columns, "exactly_once")


def writer(
    session: SparkSession, made: m.Sink, incarnation: str = "one", begun: int = -1, done: int | None = None
) -> KafkaWriter:
    last_committed = begun if done is None else done
    found = SINKS["kafka"](made, SinkContext(session, "shop", Path(), print, last_committed))
    assert isinstance(found, KafkaWriter)
    found.prepare(incarnation, begun)
    return found

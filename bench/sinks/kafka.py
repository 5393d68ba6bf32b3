"""Kafka: transactions with an epoch's number, beside Spark's own writer, which delivers at least once."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench.sinks.base import Comparison, writer
from compiler.jobplan.model import Options
from pipelines.services.kafka import KAFKA
from runtime.connectors.packages import PACKAGES

_LIMIT = 0.9
_PARTITIONS = 4


class KafkaBench:
    """JSON, without a key and with one."""

    name = "kafka"
    packages: tuple[str, ...] = PACKAGES["kafka"]

    @contextmanager
    def comparisons(
        self, session: SparkSession, rows: DataFrame, folder: Path
    ) -> Iterator[Sequence[Comparison]]:
        """Starts a broker for the while."""
        place = Path(tempfile.mkdtemp(prefix="headrace-bench-"))
        try:
            broker = KAFKA.start(place)
            yield (
                _comparison("kafka / Spark's own", broker, session, rows, folder, None),
                _comparison("kafka by key / Spark's own", broker, session, rows, folder, "id"),
            )
        finally:
            KAFKA.stop(place)
            shutil.rmtree(place, ignore_errors=True)


def _comparison(
    name: str, broker: str, session: SparkSession, rows: DataFrame, folder: Path, key: str | None
) -> Comparison:
    ours, theirs = (f"{'keyed' if key else 'plain'}-{whose}" for whose in ("ours", "theirs"))
    admin = AdminClient({"bootstrap.servers": broker})
    for made in admin.create_topics([NewTopic(topic, _PARTITIONS) for topic in (ours, theirs)]).values():
        made.result(30)
    options: Options = {"topic": ours, "properties.bootstrap.servers": broker, "format": "json"}
    if key:
        options["key.fields"] = key
    once = writer(session, folder, "kafka", options, rows)

    def by_spark(_: int) -> None:
        parts = [F.to_json(F.struct("*")).alias("value")]
        if key:
            parts.append(F.to_json(F.struct(key)).alias("key"))
        rows.select(*parts).write.format("kafka").options(
            **{"kafka.bootstrap.servers": broker, "topic": theirs}
        ).save()

    return Comparison(name, _LIMIT, lambda number: once.write(number, rows), by_spark)

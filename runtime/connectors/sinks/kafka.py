"""Topics of Kafka, by Spark's own sink: at least once."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.formats import client_options, file_format, spark_options
from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, columns_of
from runtime.spark.context import quote


class KafkaWriter:
    """Sends each row as a message; a replayed epoch sends its messages again.

    A message that the broker does not take fails the epoch, once Kafka's client has given up.
    """

    # Spark's writer for Kafka does not tell how many rows it sent, so they are counted apart.
    passes = 2

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self.location = f"topic {sink.options['topic']}"
        self.rows_written = 0

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Nothing to claim: a topic may have many writers."""

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Sends the epoch."""
        options = self._sink.options
        rows = columns_of(self._sink, batch)
        keys = [name for name in str(options.get("key.fields", "")).split(";") if name]
        parts = [_encoded(rows.columns, self._sink, file_format(options)).alias("value")]
        if keys:
            form = str(options.get("key.format", file_format(options)))
            parts.append(_encoded(keys, self._sink, form).alias("key"))
        writer = rows.select(*parts).write.format("kafka").mode("append").options(**client_options(options))
        writer.option("topic", str(options["topic"])).save()
        self.rows_written += batch.count()
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """Messages that were sent stay."""


def _encoded(names: list[str], sink: Sink, form: str) -> Column:
    """Columns as a message's key or value."""
    if form == "raw":
        return F.col(quote(names[0]))
    row = F.struct(*(F.col(quote(name)) for name in names))
    options = spark_options({**sink.options, "format": form})
    if form == "csv":
        return F.to_csv(row, options)
    # As Flink's JSON: a field without a value is there, as null.
    return F.to_json(row, {**options, "ignoreNullFields": "false"})

"""Topics of Kafka, by Spark's own sink: at least once."""

from __future__ import annotations

from pyspark.sql import DataFrame

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import Sink
from runtime.connectors.kafka.messages import as_messages, message_rows
from runtime.connectors.kafka.security import BadOption, bad_option, for_java
from runtime.connectors.sinks.base import SinkContext


class ResendingKafkaWriter:
    """Sends each row as a message; a replayed epoch sends its messages again.

    A message that the broker does not take fails the epoch, once Kafka's client has given up.
    """

    # Spark's writer for Kafka does not tell how many rows it sent, nor do observed metrics come out of it, so
    # they are counted apart.
    passes = 2

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self.location = f"topic {sink.options['topic']}"
        self.rows_written = 0
        try:
            self._client = for_java(sink.options)
        except BadOption as error:
            raise DiagnosticError(bad_option(f"sink {sink.uid}", error)) from error

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Nothing to claim: a topic may have many writers."""

    def has(self, epoch: int) -> bool:
        """At least once: nothing is remembered."""
        return False

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Sends the epoch."""
        options = self._sink.options
        messages = as_messages(self._sink, message_rows(self._sink, epoch, batch))
        writer = messages.write.format("kafka").mode("append").options(**self._client)
        writer.option("topic", str(options["topic"])).save()
        self.rows_written += batch.count()
        return True

    def check_empty(self) -> None:
        """Nothing can stand in the way."""

    def empty(self) -> None:
        """Messages that were sent stay."""

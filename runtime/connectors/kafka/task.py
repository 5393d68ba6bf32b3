"""What a task of Spark does with its part of an epoch."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from pyspark import TaskContext

from runtime.connectors.kafka.client import failed, producer_conf, transaction_seconds
from runtime.connectors.kafka.ledger import Ledger, Record, commit_epoch, committed, group_of

_log = logging.getLogger(__name__)

RESULT: Final = "task INT, taken BOOLEAN, written BIGINT, problem STRING, detail STRING"
_RESULT: Final = pa.schema(
    [
        ("task", pa.int32()), ("taken", pa.bool_()), ("written", pa.int64()), ("problem", pa.string()),
        ("detail", pa.string()),
    ]
)  # fmt: skip

# Beside what the broker says.
FORGOTTEN, SUPERSEDED = "forgotten", "superseded"
_QUEUE_SECONDS: Final = 0.05


class _Superseded(Exception):
    """The group is another checkpoint's now."""


class _Forgotten(Exception):
    """The group is gone."""


@dataclass(frozen=True)
class Part:
    """What a task is told of the epoch that it sends a part of.

    Args:
        ledger: of the sink.
        record: what the task's group says once its part is there.
    """

    ledger: Ledger
    record: Record

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sends the messages of a task, and yields one row of `RESULT`.

        What goes wrong at the broker is told in it: an exception would come out as Spark's stack trace.
        """
        context = TaskContext.get()
        task = context.partitionId() if context else 0
        taken, written, problem, detail = False, 0, "", ""
        try:
            written = self._send(task, batches)
            taken = written >= 0
        except _Superseded:
            problem = SUPERSEDED
        except _Forgotten:
            problem = FORGOTTEN
        except KafkaException as error:
            found = failed(error)
            problem, detail = found.kind, found.detail
        yield pa.RecordBatch.from_arrays(
            [pa.array([value]) for value in (task, taken, max(written, 0), problem, detail)],
            names=_RESULT.names,
        ).cast(_RESULT)

    def _send(self, task: int, batches: Iterator[pa.RecordBatch]) -> int:
        """Sends the part in one transaction; gives the number of messages, -1 if they were there.

        The order makes it sound. Once its transactions are initialised nobody of the same id can commit any
        more, and what was committed is settled; so what the group says then is true until we change it.
        """
        ledger = self.ledger
        # Errors of single messages come here; the transaction's own only says that there were some.
        rejected: list[KafkaError] = []

        def remember(error: KafkaError | None, _message: Message) -> None:
            if error is not None and not rejected:
                rejected.append(error)

        conf = {
            **producer_conf(ledger.conf, ledger.id(task)),
            "on_delivery": remember,
            "delivery.report.only.error": True,
        }
        producer = Producer(conf, logger=_log)
        producer.init_transactions(ledger.seconds)
        consumer = group_of(ledger.conf, ledger.id(task))
        try:
            found = committed(consumer, ledger)
            if found is None:
                raise _Forgotten
            if found.incarnation != self.record.incarnation:
                raise _Superseded
            if found.epoch >= self.record.epoch:
                return -1
            return self._transact(producer, consumer, batches, rejected)
        finally:
            consumer.close()

    def _transact(
        self,
        producer: Producer,
        consumer: Consumer,
        batches: Iterator[pa.RecordBatch],
        rejected: list[KafkaError],
    ) -> int:
        seconds = transaction_seconds(self.ledger.conf)
        producer.begin_transaction()
        try:
            rows = _produce(producer, self.ledger.topic, batches)
            commit_epoch(producer, consumer, self.ledger, self.record)
            producer.flush(seconds)
            if rejected:
                raise KafkaException(rejected[0])
            producer.commit_transaction(seconds)
        except BaseException as error:
            # What is given up now is rejected, too.
            first = rejected[0] if rejected else None
            # Not to be told of: what counts is why. The next producer of the id aborts it in any case.
            with suppress(KafkaException):
                producer.purge()
                producer.abort_transaction(self.ledger.seconds)
            if first is not None and isinstance(error, KafkaException):
                raise KafkaException(first) from error
            raise
        return rows


def _produce(producer: Producer, topic: str, batches: Iterator[pa.RecordBatch]) -> int:
    """Hands all messages to the producer, and waits where its queue is full."""
    rows = 0
    produce = producer.produce
    for batch in batches:
        rows += batch.num_rows
        for arguments in _arguments(batch):
            while True:
                try:
                    produce(topic, *arguments)
                    break
                except BufferError:
                    producer.poll(_QUEUE_SECONDS)
        # Serves what was rejected, so that a queue does not fill with it.
        producer.poll(0)
    return rows


# What `produce` takes by position after the topic, and what stands for a column that is not there.
_DEFAULTS: Final = {
    "value": None, "key": None, "partition": -1, "callback": None, "on_delivery": None, "timestamp": 0,
    "headers": (),
}  # fmt: skip


def _arguments(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """The arguments of `produce` for each row; by position, and no more than needed, which is fastest."""
    names = set(batch.schema.names)
    order = list(_DEFAULTS)
    while order[-1] not in names:
        order.pop()
    columns: list[Iterable[Any]] = [
        _values(name, batch) if name in names else repeat(_DEFAULTS[name]) for name in order
    ]
    return zip(*columns, strict=False)  # a default is there for as many rows as there are


def _values(name: str, batch: pa.RecordBatch) -> Iterable[Any]:
    values: list[Any] = batch.column(name).to_pylist()
    if name == "headers":
        return [[(header["key"], header["value"]) for header in row or ()] for row in values]
    default = _DEFAULTS[name]
    return values if default is None else [default if value is None else value for value in values]

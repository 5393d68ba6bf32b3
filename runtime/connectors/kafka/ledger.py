"""Which epochs of a sink a topic has: offsets of groups at the broker.

Each task of an epoch has a transactional id, and a group of the same name. Its transaction commits, with
the messages, the offset epoch + 1 of partition 0 of the topic in that group; the offset's metadata say
under which checkpoint, and into how many tasks epochs are split. Names are without the checkpoint's id, so
that whoever comes later fences those before. A group is written before the first epoch: one that is missing
afterwards has been forgotten by the broker (`offsets.retention.minutes`, seven days), never empty.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from runtime.connectors.kafka.client import (
    LOGIN,
    TOPIC,
    UNREACHABLE,
    Conf,
    Failed,
    call_seconds,
    failed,
    producer_conf,
)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

_METADATA: Final = re.compile(r"headrace incarnation=(\S+) epoch=(-?\d+) tasks=(\d+)")
_LOOK_SECONDS: Final = 1.0
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Record:
    """What a task's group says: the last epoch of which the topic has the task's part; -1 is none."""

    incarnation: str
    epoch: int
    tasks: int


class Taken(Exception):
    """Another checkpoint's epochs are there."""


@dataclass(frozen=True)
class Ledger:
    """The groups of one sink in one topic. Its text shows nothing of the login.

    Args:
        conf: of the clients.
        topic: where the messages go.
        name: of the sink, the same for all of its checkpoints.
    """

    conf: Conf = field(repr=False)
    topic: str
    name: str

    def id(self, task: int | str) -> str:
        """The transactional id of a task, and the name of its group; of no task, what all begin with."""
        return f"{self.name}/{self.topic}/{task}"

    @property
    def seconds(self) -> float:
        """How long a single question to the broker may take."""
        return call_seconds(self.conf)

    def check_topic(self) -> int:
        """The number of the topic's partitions.

        Raises:
            Failed: it does not exist, or the broker does not answer.
        """
        problems: list[KafkaError] = []
        conf: Conf = {**self.conf, "error_cb": problems.append}
        admin = AdminClient(conf, logger=_log)
        end = time.monotonic() + self.seconds
        while True:
            try:
                found = admin.list_topics(self.topic, timeout=_LOOK_SECONDS).topics[self.topic]
            except KafkaException as error:
                # The call only says that its time is over; why, the connections know.
                admin.poll(0)
                told = _told(problems)
                if told is not None or time.monotonic() > end:
                    raise told or failed(error) from error
                continue
            if found.error is not None:
                raise Failed(TOPIC, str(found.error.str()))
            return len(found.partitions)

    def peek(self) -> tuple[Record | None, ...]:
        """As `read`, but disturbs nobody: what an open transaction is about to say is left out.

        Raises:
            KafkaException: the broker does not answer.
        """
        return self._all(partial(self._record, settled=False))

    def read(self) -> tuple[Record | None, ...]:
        """The records of all tasks, of which the first one knows the number; empty if it is not there.

        Whoever wrote before is fenced first: a killed run's transaction that has sent its offset and is not
        committed would hold the answer back until it times out.

        Raises:
            KafkaException: the broker does not answer.
        """

        def fenced(task: int) -> Record | None:
            self._fence(task)
            return self._record(task)

        return self._all(fenced)

    def claim(self, record: Record, over: bool) -> None:
        """Fences whoever wrote before, and writes the groups of all tasks, the first one's last.

        A group that says of a later epoch of the same checkpoint is left as it is.

        Args:
            record: what they are to say.
            over: whether epochs of another checkpoint may be there.

        Raises:
            Taken: they are there.
            KafkaException: the broker does not answer.
        """
        self._at_once(lambda task: self._claim(task, record, over), range(1, record.tasks))
        self._claim(0, record, over)

    def forget(self) -> None:
        """Fences whoever wrote before, and deletes the groups.

        All that the broker lists go, whatever the first one says, and one that is gone is passed over: so it
        can be done again after it was cut off.

        Raises:
            KafkaException: the broker does not answer, or keeps a group.
        """
        admin = AdminClient(self.conf, logger=_log)
        listed = admin.list_consumer_groups(request_timeout=self.seconds).result()
        if listed.errors:
            raise listed.errors[0]
        prefix = self.id("")
        numbers = (group.group_id.removeprefix(prefix) for group in listed.valid)
        tasks = sorted(int(number) for number in numbers if number.isdecimal())
        self._at_once(self._fence, tasks)
        names = [self.id(task) for task in tasks]
        deletions = admin.delete_consumer_groups(names, request_timeout=self.seconds) if names else {}
        for deletion in deletions.values():
            try:
                deletion.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                    raise

    def _all(self, look: Callable[[int], Record | None]) -> tuple[Record | None, ...]:
        first = look(0)
        return () if first is None else (first, *self._at_once(look, range(1, first.tasks)))

    def _at_once(self, step: Callable[[int], _T], tasks: Sequence[int]) -> list[_T]:
        # Librdkafka 2.16's ListConsumerGroupOffsets would ask as many at once, but kills the process if the
        # broker answers with an error, as one does that has just come up.
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            return list(pool.map(step, tasks))

    def _fence(self, task: int) -> Producer:
        """A producer that ends the transactions of all others with the task's id."""
        producer = Producer(producer_conf(self.conf, self.id(task)), logger=_log)
        producer.init_transactions(self.seconds)
        return producer

    def _record(self, task: int, *, settled: bool = True) -> Record | None:
        consumer = group_of(self.conf, self.id(task), settled=settled)
        try:
            return committed(consumer, self)
        finally:
            consumer.close()

    def _claim(self, task: int, record: Record, over: bool) -> None:
        producer = self._fence(task)
        consumer = group_of(self.conf, self.id(task))
        try:
            found = committed(consumer, self)
            if found and found.incarnation == record.incarnation:
                if found == record or found.epoch > record.epoch:
                    return
            elif found and found.epoch >= 0 and not over:
                raise Taken
            producer.begin_transaction()
            commit_epoch(producer, consumer, self, record)
            producer.commit_transaction(self.seconds)
        finally:
            consumer.close()


def group_of(conf: Conf, name: str, *, settled: bool = True) -> Consumer:
    """A consumer that joins no group and reads nothing, but stands for a group in calls about its offsets.

    If it is not `settled`, it does not wait for open transactions.
    """
    level = "read_committed" if settled else "read_uncommitted"
    ours = {"group.id": name, "enable.auto.commit": False, "isolation.level": level}
    return Consumer({**conf, **ours}, logger=_log)


def committed(consumer: Consumer, ledger: Ledger) -> Record | None:
    """The record of a consumer's group."""
    (found,) = consumer.committed([TopicPartition(ledger.topic, 0)], timeout=ledger.seconds)
    if found.error is not None:
        raise KafkaException(found.error)
    return record_of(found)


def commit_epoch(producer: Producer, consumer: Consumer, ledger: Ledger, record: Record) -> None:
    """Writes a record as part of the producer's open transaction."""
    metadata = f"headrace incarnation={record.incarnation} epoch={record.epoch} tasks={record.tasks}"
    place = TopicPartition(ledger.topic, 0, record.epoch + 1, metadata=metadata)
    producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), ledger.seconds)


def record_of(place: TopicPartition) -> Record | None:
    """What an offset's metadata say."""
    found = _METADATA.fullmatch(place.metadata or "")
    if place.offset < 0 or found is None:
        return None
    return Record(found[1], place.offset - 1, int(found[3]))


def _told(problems: list[KafkaError]) -> Failed | None:
    """What connections have failed on, once it is clear that asking on is of no use."""
    judged = [failed(KafkaException(problem)) for problem in problems]
    login = next((problem for problem in judged if problem.kind == LOGIN), None)
    if login is None and any(problem.code() == KafkaError._ALL_BROKERS_DOWN for problem in problems):
        return Failed(UNREACHABLE, judged[0].detail)
    return login

"""Topics of Kafka, each row once: an epoch's parts are transactions that also commit the epoch's number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.diagnostics.codes import (
    FORGOTTEN_EPOCHS,
    NO_TOPIC,
    OTHER_INCARNATION,
    UNREACHABLE,
    UNSENDABLE_ROW,
)
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from runtime.connectors.kafka import client
from runtime.connectors.kafka import task as tasks
from runtime.connectors.kafka.client import Conf, Failed, client_conf, retried
from runtime.connectors.kafka.ledger import Ledger, Record, Taken
from runtime.connectors.kafka.messages import as_messages, message_rows, settles
from runtime.connectors.kafka.security import bad_option
from runtime.connectors.sinks import ownership
from runtime.connectors.sinks.base import SinkContext, Writer, placed_by
from runtime.connectors.sinks.kafka_resent import ResendingKafkaWriter

_T = TypeVar("_T")
_RETRIES = 5
_MOST_TASKS = 8
# Options that name the groups of a ledger. Not the brokers, of which one may be spelled in many ways.
_LEDGER = ("topic", "sink.transactional-id-prefix")


def kafka_writer(sink: Sink, ctx: SinkContext) -> Writer:
    """The writer that keeps the sink's promise."""
    kind = KafkaWriter if sink.delivery == "exactly_once" else ResendingKafkaWriter
    return kind(sink, ctx)


class KafkaWriter:
    """Sends an epoch in one transaction a task, each of which also commits the epoch's number (`Ledger`).

    Rows are placed by what a replay gives alike (`placed_by`), so that it splits the epoch into the same
    parts; into how many is kept at the broker. Readers at `read_committed` see each row once.
    """

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._ctx = ctx
        self._topic = str(sink.options["topic"])
        prefix = str(sink.options.get("sink.transactional-id-prefix", f"headrace/{ctx.project}"))
        self._ledger = Ledger(self._conf(), self._topic, f"{prefix}/{sink.uid}")
        self._retries = int(sink.options.get("max_retries", _RETRIES))
        self._replays = bool(sink.primary_key) or sink.upsert
        self.location = f"topic {self._topic}"
        self.rows_written = 0
        self.passes = 2 if settles(sink) else 1
        self._incarnation = ""
        self._last_epoch = -1
        self._done = self._begun = -1
        # The number of tasks that the broker knows; 0 if it knows nothing under this checkpoint.
        self._tasks = 0

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Looks for the topic, refuses epochs of a checkpoint that is gone, and fences who wrote before."""
        self._incarnation, self._last_epoch = incarnation, last_epoch
        self._guarded(self._ledger.check_topic)
        # Looked at before anything is changed: a run that is refused must not disturb another one.
        self._refuse_others(self._guarded(self._ledger.peek))
        records = self._guarded(self._ledger.read)
        self._refuse_others(records)
        epochs = [record.epoch for record in records if record and record.incarnation == incarnation]
        if epochs and max(epochs) > last_epoch:
            raise ownership.newer_than_state(self._sink.uid, self.location, max(epochs), last_epoch)
        if epochs and len(epochs) == len(records):
            self._tasks, self._done, self._begun = len(epochs), min(epochs), max(epochs)
        if last_epoch <= self._ctx.last_committed:
            self._claim(last_epoch + 1)
        elif not self._tasks and self._is_elsewhere():
            self._claim(last_epoch)

    def has(self, epoch: int) -> bool:
        """Whether the topic has rows of the epoch, or may have: what the broker forgot counts as there."""
        return epoch <= self._begun or (not self._tasks and epoch <= self._last_epoch)

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Sends the parts of the epoch that the topic does not have."""
        if epoch <= self._done:
            return False
        if epoch > self._last_epoch:
            self._claim(epoch)
        elif not self._tasks:
            raise DiagnosticError(self._forgotten(epoch))
        messages = self._placed(message_rows(self._sink, epoch, batch))
        part = tasks.Part(self._ledger, Record(self._incarnation, epoch, self._tasks))
        self._guarded(lambda: self._send(epoch, messages, part))
        self._done = self._begun = epoch
        return True

    def check_empty(self) -> None:
        """The topic must be there, and the broker tell of its groups."""
        self._guarded(self._ledger.check_topic)
        self._guarded(self._ledger.peek)

    def empty(self) -> None:
        """Forgets the epochs; messages that were sent stay."""
        self._guarded(self._ledger.forget)

    # --- an epoch

    def _claim(self, epoch: int) -> None:
        """Makes the broker know this checkpoint and the number of its tasks, before `epoch` begins."""
        cores = self._ctx.session.sparkContext.defaultParallelism
        wanted = int(self._sink.options.get("sink.parallelism", min(cores, _MOST_TASKS)))
        if self._tasks == wanted:
            return
        self._note(epoch - 1, wanted)
        self._tasks = wanted

    def _is_elsewhere(self) -> bool:
        """Whether the epoch in flight was begun with another ledger, so that this one never knew of it."""
        before = self._ctx.begun.get(self._sink.uid)
        return before is not None and any(before.options.get(n) != self._sink.options.get(n) for n in _LEDGER)

    def _note(self, epoch: int, count: int) -> None:
        record = Record(self._incarnation, epoch, count)
        try:
            self._guarded(lambda: self._ledger.claim(record, over=self._replays))
        except Taken:
            raise DiagnosticError(self._of_another()) from None

    def _refuse_others(self, records: Sequence[Record | None]) -> None:
        others = (r for r in records if r and r.incarnation != self._incarnation and r.epoch >= 0)
        if not self._replays and any(others):
            raise DiagnosticError(self._of_another())

    def _send(self, epoch: int, messages: DataFrame, part: tasks.Part, *, noted: bool = False) -> None:
        results = messages.mapInArrow(part, tasks.RESULT).collect()
        self.rows_written += sum(result["written"] for result in results)
        problems = {result["problem"]: result["detail"] for result in results if result["problem"]}
        if tasks.SUPERSEDED in problems:
            raise DiagnosticError(self._superseded(epoch))
        if tasks.FORGOTTEN in problems:
            if noted or epoch <= self._last_epoch:
                raise DiagnosticError(self._forgotten(epoch))
            # This run was idle for so long that groups are gone; nobody has begun this epoch before it, so
            # what is not noted was not sent.
            self._note(epoch - 1, part.record.tasks)
            self._send(epoch, messages, part, noted=True)
            return
        if client.MESSAGE in problems:
            raise DiagnosticError(self._unsendable(epoch, problems[client.MESSAGE]))
        # What does not pass goes before what may.
        for kind in (client.LOGIN, client.TOPIC, client.OTHER, client.UNREACHABLE):
            if kind in problems:
                raise Failed(kind, problems[kind])

    def _placed(self, rows: DataFrame) -> DataFrame:
        """The rows as messages, each in the task that sends it."""
        placed = rows.repartition(self._tasks, *placed_by(self._sink))
        return _binary(as_messages(self._sink, placed))

    # --- what goes wrong

    def _conf(self) -> Conf:
        try:
            return client_conf(self._sink.options)
        except ValueError as error:
            raise DiagnosticError(self._bad_option(error)) from error

    def _guarded(self, step: Callable[[], _T]) -> _T:
        try:
            return retried(self._retries, step)
        except Failed as error:
            raise DiagnosticError(self._diagnostic(error)) from error

    def _diagnostic(self, error: Failed) -> Diagnostic:
        sink, says = self._sink.uid, f"the broker says: {error.detail}"
        if "configuration property" in error.detail:
            return self._bad_option(ValueError(error.detail))
        if error.kind == client.TOPIC:
            problem = f"{self.location} of sink {sink} does not exist"
            return Diagnostic(NO_TOPIC, problem, cause=says, fix="create it, or correct the option topic")
        problem = f"sink {sink} cannot write to {self.location}"
        if error.kind == client.UNREACHABLE:
            fix = (
                "start the broker, or correct the option properties.bootstrap.servers; it was tried "
                f"{self._retries + 1} times, and the next run goes on where this one ended"
            )
            return Diagnostic(UNREACHABLE, problem, cause=f"Kafka's client says: {error.detail}", fix=fix)
        fix = (
            "correct the options of the login, or grant the sink's user what is missing"
            if error.kind == client.LOGIN
            else "correct what the broker minds; the next run goes on where this one ended"
        )
        return Diagnostic(UNREACHABLE, problem, cause=says, fix=fix)

    def _bad_option(self, error: ValueError) -> Diagnostic:
        fix = "correct or drop it; with delivery = 'at_least_once' the client is Java's"
        return bad_option(f"sink {self._sink.uid}", error, fix)

    def _unsendable(self, epoch: int, detail: str) -> Diagnostic:
        return Diagnostic(
            UNSENDABLE_ROW,
            f"{self.location} of sink {self._sink.uid} does not take a row of epoch {epoch}",
            cause=detail,
            fix="make the row smaller, or raise properties.max.request.size and the topic's "
            "max.message.bytes; nothing of this part was sent, and the epoch runs again",
        )

    def _of_another(self) -> Diagnostic:
        return Diagnostic(
            OTHER_INCARNATION,
            f"{self.location} holds epochs of sink {self._sink.uid} whose state is gone",
            cause="the query starts from the beginning, so readers would get its rows twice",
            fix="bring the old state root back; or run with --full-refresh, which starts over and leaves the "
            "messages that were sent; or give the sink another topic",
        )

    def _superseded(self, epoch: int) -> Diagnostic:
        return Diagnostic(
            OTHER_INCARNATION,
            f"sink {self._sink.uid} cannot send epoch {epoch}: another run has taken {self.location} over",
            cause="a run of this pipeline with another state root writes there now; nothing was sent twice",
            fix="end one of the two, or give one of them another topic",
        )

    def _forgotten(self, epoch: int) -> Diagnostic:
        return Diagnostic(
            FORGOTTEN_EPOCHS,
            f"the broker has forgotten whether {self.location} has epoch {epoch} of sink {self._sink.uid}",
            cause="the run was cut off in this epoch, and the groups that know of it are gone: Kafka deletes "
            "offsets that stand still for offsets.retention.minutes, seven days by default",
            fix="look for the epoch's rows in the topic; to send them (again), run once with delivery = "
            "'at_least_once' and then without; to begin anew, run with --full-refresh",
        )


def _binary(messages: DataFrame) -> DataFrame:
    """Messages as Arrow hands them over best: bytes, and milliseconds."""
    kinds = {"value": "BINARY", "key": "BINARY"}
    columns = [
        F.unix_millis("timestamp").alias("timestamp")
        if name == "timestamp"
        else F.col(name).cast(kinds[name]).alias(name)
        if name in kinds
        else F.col(name)
        for name in messages.columns
    ]
    return messages.select(*columns)

"""One query: started, watched, and its epochs handed to the sinks."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StateOperatorProgress, StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from compiler.diagnostics.codes import LATE_ROWS, STATE_CLOSED
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Query, Scan, Watermark
from runtime.connectors.sinks.base import Writer
from runtime.jobs.events import EpochCompleted
from runtime.jobs.idle import IdleWatch
from runtime.jobs.open_groups import closes_by_time
from runtime.spark.ahead import Ahead
from runtime.spark.context import Context
from runtime.spark.counters import seen_times, set_aside
from runtime.spark.epoch_source import EpochSource
from runtime.spark.lowering import below_trunk, lower_epoch, lower_trunk
from runtime.spark.operators.scan import counted, epoch_source
from runtime.state.checkpoint import Checkpoint

_log = logging.getLogger(__name__)

# What rows depend on, or what must be on from the first epoch of a checkpoint.
QUERY_CONF = {
    "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
    # A pushed filter would let a bad record pass if another column of it says no.
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "100",
    # The default goes through Hadoop's FileContext, which starts some fifty `readlink` and `chmod` an epoch
    # on a local disk. Its atomic rename between two writers is not needed: the state root is locked.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}


@dataclass
class Execution:
    """A query of a plan on its checkpoint. `query` has its options resolved.

    `held_back` says that it ended because it was to begin no further epoch.
    """

    query: Query
    timezone: str
    context: Context
    checkpoint: Checkpoint
    writers: Mapping[str, Writer]
    error: BaseException | None = None
    epochs: int = 0
    input_rows: int = 0
    late_rows_dropped: int = 0
    state_rows: int | None = None
    open_groups: int | None = None
    held_back: bool = False
    set_aside: Counter[tuple[str, str]] = field(default_factory=Counter)
    _running: StreamingQuery | None = None
    _held: bool = False
    _told: int = -1
    _closed_at: int | None = None

    def __post_init__(self) -> None:
        self._live = tuple(sink for sink in self.query.sinks if not sink.removed)
        self._stateful = bool(self.query.state)
        self._source: EpochSource | None = None
        panes = self.query.ahead
        self._ahead = Ahead(self.query, panes, self.context) if panes is not None else None
        # Sinks beside the trunk have rows of their own, which are kept in any case.
        self._beside = self.query.beside
        passes = sum(writer.passes for uid, writer in self.writers.items() if uid not in self._beside)
        trunk = self.query.trunk
        uses = sum(op.inputs.count(trunk) for op in self.query.operators)
        uses += sum(sink.input == trunk for sink in self._live)
        # Below a stateful trunk, Spark may prove that an epoch has no rows and not compute it, which its
        # state does not survive. Persisted, the epoch can be computed to its end without doing it twice.
        kinds = set(below_trunk(self.query)) - {"project"}
        folder = self.context.query_folder if self.context.watches_times else None
        self._idle = IdleWatch(self.query, folder) if folder is not None else None
        limits = [op.max_late_rows for op in self.query.operators if isinstance(op, Watermark)]
        self._max_late = min((limit for limit in limits if limit is not None), default=None)
        self._persist = passes > 1 or uses > 1 or (self._stateful and bool(kinds))

    def start(self, trigger: Mapping[str, Any]) -> None:
        """Starts the query; what goes wrong at that is kept in `error`."""
        self._told = self.checkpoint.last_committed
        self._closed_at = self.checkpoint.closed_at if self._stateful else None
        session = self.context.session
        try:
            for key, value in self._conf().items():
                session.conf.set(key, value)
            self._running = (
                lower_trunk(self.query, self.context, self._own_reads())
                .writeStream.queryName(self.query.uid)
                .outputMode(self.query.output_mode)
                .option("checkpointLocation", str(self.checkpoint.path))
                .trigger(**trigger)
                .foreachBatch(self._epoch)
                .start()
            )
        except Exception as error:  # noqa: BLE001  # whatever Spark says against the plan ends this query, not the run
            self._fail(error)

    def _own_reads(self) -> dict[str, DataFrame]:
        """The stream of the read whose rows an epoch has before they enter, by the operator that gives it."""
        kept, ahead = self.query.kept, self._ahead
        if kept is None and ahead is None:
            return {}
        scan = next(op for op in self.query.operators if isinstance(op, Scan) and kept in (None, op.id))
        source = self._source = epoch_source(
            scan,
            self.context,
            self.checkpoint,
            self._fail,
            keep=kept is not None,
            shape=ahead.shape if ahead is not None else None,
        )
        if ahead is not None:
            return {ahead.op.id: ahead.stream(source.stream)}
        return {scan.id: counted(scan, source.stream)}

    @property
    def active(self) -> bool:
        """Whether the query runs."""
        return self._running is not None and self._running.isActive

    def progress(self) -> Iterator[EpochCompleted]:
        """The epochs that were completed since the last call."""
        yield from self._completed()
        if self._idle is not None and self.active:
            # One that has begun and is not told yet may have rows of any source.
            self._idle.move(running=self.checkpoint.last_begun > self._told)

    def _completed(self) -> Iterator[EpochCompleted]:
        # The commit log is asked first: a look into a folder, where Spark's answer is JSON through a socket.
        if self._running is None or self.checkpoint.last_committed <= self._told:
            return
        last = self._running.lastProgress
        if last is None or last.batchId <= self._told:
            return
        # The whole list only if epochs were faster than this loop: it is parsed anew each time.
        is_next = last.batchId == self._told + 1 and "addBatch" in last.durationMs
        for epoch in [last] if is_next else self._running.recentProgress:
            # Spark also reports that there was nothing to do; only an epoch hands rows over.
            if epoch.batchId <= self._told or "addBatch" not in epoch.durationMs:
                continue
            self._told = epoch.batchId
            operators = epoch.stateOperators
            late = sum(op.numRowsDroppedByWatermark for op in operators)
            self.state_rows = sum(op.numRowsTotal for op in operators)
            self.open_groups = self._open_groups(operators)
            self.epochs += 1
            rows = self._input_rows(epoch)
            self.input_rows += rows
            self.late_rows_dropped += late
            metrics = epoch.observedMetrics
            aside = tuple(found for found in set_aside(metrics) if found.rows)
            for found in aside:
                self.set_aside[found.source, found.reason] += found.rows
            if self._idle is not None:
                begun = datetime.fromisoformat(epoch.timestamp).timestamp()
                self._idle.saw(seen_times(metrics), max(0.0, time.time() - begun))
            yield EpochCompleted(
                query=self.query.uid,
                epoch=epoch.batchId,
                input_rows=rows,
                rows_per_second=_number(epoch.processedRowsPerSecond) * _share(rows, epoch.numInputRows),
                watermark=(epoch.eventTime or {}).get("watermark"),
                state_rows=self.state_rows,
                late_rows_dropped=late,
                set_aside=aside,
                duration_ms=int(epoch.durationMs.get("triggerExecution", 0)),
            )
        self._judge_late_rows()

    def _open_groups(self, operators: Sequence[StateOperatorProgress]) -> int | None:
        """How many groups an epoch has left open; None if Spark counts the operators in another way."""
        if len(operators) != len(self.query.state):
            return None
        by_id = {op.id: op for op in self.query.operators}
        pairs = zip(operators, self.query.state, strict=True)
        return sum(found.numRowsTotal for found, of in pairs if closes_by_time(by_id[of.operator]))

    def _input_rows(self, epoch: StreamingQueryProgress) -> int:
        """How many rows an epoch has read; what enters the stream may be less."""
        told = self._ahead.saw(epoch.observedMetrics) if self._ahead is not None else None
        return int(epoch.numInputRows) if told is None else told

    def _judge_late_rows(self) -> None:
        """Ends a query that has dropped more late rows than its sources allow."""
        if self._max_late is not None and self.late_rows_dropped > self._max_late and self.error is None:
            self._fail(DiagnosticError(_too_late(self.query.uid, self.late_rows_dropped, self._max_late)))
            self.stop()

    def settle(self) -> None:
        """Looks at how a query that is no longer active has ended."""
        if self._running is not None and self.error is None and not self.held_back:
            error = self._running.exception()
            if error is not None:
                self._fail(error)

    def hold(self) -> None:
        """Lets the epoch in flight be finished and no other begin."""
        self._held = True

    @property
    def busy(self) -> bool:
        """Whether an epoch is in flight in a query that runs."""
        return self.active and self.checkpoint.in_flight

    def stop(self) -> None:
        """Ends the query; an epoch in flight stays so, and the next run finishes it."""
        if self._running is not None:
            try:
                if self._running.isActive:
                    self._running.stop()
                if self._source is not None:
                    self._source.release()
            except Exception as error:  # noqa: BLE001  # it ends all the same; the run must go on to stop the others
                _log.warning("query %s did not stop cleanly", self.query.uid, exc_info=error)

    def _conf(self) -> dict[str, str]:
        return {
            **QUERY_CONF,
            "spark.sql.session.timeZone": self.timezone,
            "spark.sql.shuffle.partitions": str(self.query.parallelism),
        }

    def _fail(self, error: BaseException) -> None:
        _log.error("query %s failed", self.query.uid, exc_info=error)
        # The first is the cause: Spark wraps what comes out of the callback.
        self.error = self.error or error

    def _epoch(self, batch: DataFrame, epoch: int) -> None:
        if self._held:
            # Spark began it before it could be stopped; no sink has seen anything of it.
            self.held_back = True
            raise _Held
        try:
            self._write(batch, epoch)
        except BaseException as error:
            self._fail(error)
            raise

    def _write(self, batch: DataFrame, epoch: int) -> None:
        if self._closed_at is not None and epoch > self._closed_at:
            raise DiagnosticError(_closed(self.query.uid))
        session: SparkSession = batch.sparkSession
        context = Context(
            session,
            self.context.project_dir,
            self.context.plan_dir,
            streaming=False,
            query_folder=self.context.query_folder,
            epoch=epoch,
        )
        if self._persist:
            # In memory as long as there is room, so that each sink is spared the way through a file.
            batch = batch.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            kept = self._source.rows(session) if self._source is not None and self.query.kept else None
            rows = lower_epoch(self.query, batch, self._live, context, kept)
            computed = {sink.uid: self.writers[sink.uid].write(epoch, rows[sink.uid]) for sink in self._live}
            passed = any(done for uid, done in computed.items() if uid not in self._beside)
            if self._stateful and (self._persist or not passed):
                # A stateful epoch must be computed to its end or its state cannot be committed.
                batch.write.format("noop").mode("append").save()
        finally:
            if self._persist:
                batch.unpersist()
            if self._source is not None:
                self._source.release()


class _Held(Exception):
    """Ends a query that is to begin no further epoch."""


def _closed(query: str) -> Diagnostic:
    return Diagnostic(
        STATE_CLOSED,
        f"query {query} was closed at the end of a bounded run, and there is new input",
        cause="all its windows have been written, so every new row would be late; nothing has been written",
        fix="run with --full-refresh to compute all of it again; to go on from run to run, leave the state "
        "open (--on-end leave_open)",
    )


def _too_late(query: str, dropped: int, allowed: int) -> Diagnostic:
    return Diagnostic(
        LATE_ROWS,
        f"query {query} dropped {dropped} late rows, and {allowed} are allowed",
        cause="rows came after the watermark had passed their window; what is written lacks them",
        fix="give the watermark a longer delay and run with --full-refresh, or allow more with max_late_rows",
    )


def _share(rows: int, entered: int) -> float:
    return rows / entered if entered else 1.0


def _number(value: float | None) -> float:
    # Spark divides by a duration of zero.
    return float(value) if value is not None and math.isfinite(value) else 0.0

# ruff: noqa: N802  # methods that Spark calls have its names
"""A source of Spark's whose rows an epoch has as a batch, before they enter the stream.

Spark hands out nothing of an epoch but what has passed all of its stream, and groups nothing in a stream but
with a state. So the stream reads from a source of ours: how far an epoch goes is asked of the real source,
which keeps its own log in the checkpoint as ever. Its rows are read as a batch, by the same offsets. They are
kept, where sinks beside the state take them too; and they are put together, where that is less for the stream
to do. A replay reads the same.

To Spark it is an `org.apache.spark.sql.execution.streaming.Source`, called back through py4j on the query's
thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar

from pyspark import StorageLevel
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

Read = Callable[[SparkSession, "str | None", str], "DataFrame | None"]
"""Gives what an epoch reads, from where to where, as the real source writes its offsets; None for nothing."""

Shape = Callable[[DataFrame], DataFrame]
"""Makes what enters the stream of what an epoch has read; always the same columns."""

_RUNTIME: Final = "org.apache.spark.sql.execution.streaming.runtime"
_CLASSIC: Final = "org.apache.spark.sql.classic"


class EpochSource:
    """Stands before the real source of a stream, and has an epoch's rows from its begin to `release`.

    Args:
        session: the session of the run.
        real: a stream over one source, with the columns that `read` gives.
        name: the source's name in the checkpoint.
        log: the folder that the checkpoint has for the source's own log.
        read: reads an epoch as a batch.
        in_flight: whether an epoch has begun and not ended.
        failed: told what goes wrong, before it ends the query.
        keep: whether `rows` will be asked for.
        shape: what is made of the rows, None if they enter the stream as they are.
    """

    def __init__(
        self,
        session: SparkSession,
        real: DataFrame,
        name: str,
        log: Path,
        read: Read,
        in_flight: Callable[[], bool],
        failed: Callable[[BaseException], None],
        *,
        keep: bool,
        shape: Shape | None,
    ) -> None:
        self._session = session
        self._keep = keep
        self._shape = shape
        self._read = read
        self._in_flight = in_flight
        self._schema = real.schema
        self._kept: DataFrame | None = None
        # PySpark has no words for sources, so this is all done with Spark's own classes.
        self._jvm: Any = session._jvm
        context: Any = session.sparkContext
        start_callbacks: Any = ensure_callback_server_started
        start_callbacks(context._gateway)
        frame: Any = real._jdf
        self._real = _real_source(_leaf(frame.queryExecution().analyzed()), log)
        java: Any = session._jsparkSession
        if shape is not None:
            frame = shape(session.createDataFrame([], self._schema))._jdf
        relation = self._class(_RUNTIME, "StreamingExecutionRelation")(
            _Proxy(self, frame.schema(), failed),
            frame.queryExecution().analyzed().output(),
            self._class("scala", "Option").empty(),
            self._class("org.apache.spark.sql.catalyst.streaming", "UserProvided")(name),
            java,
        )
        self.stream = DataFrame(self._class(_CLASSIC, "Dataset").ofRows(java, relation), session)

    def rows(self, session: SparkSession) -> DataFrame:
        """What the epoch in flight has read; nothing, if it has no input."""
        return self._kept if self._kept is not None else session.createDataFrame([], self._schema)

    def release(self) -> None:
        """Lets go of the rows of the epoch in flight."""
        if self._kept is not None:
            self._kept.unpersist()
            self._kept = None

    @property
    def real(self) -> _RealSource:
        """The source that knows how far an epoch goes."""
        return self._real

    def offset(self, written: str) -> Any:
        """An offset of Spark's that says no more than its text."""
        return self._class(_RUNTIME, "SerializedOffset")(written)

    def begin(self, before: str | None, after: str) -> Any:
        """The rows between two offsets as a batch that counts as a stream's, kept if they are to be."""
        self.release()
        java = self._class(_CLASSIC, "SparkSession").active()
        session = SparkSession(self._session.sparkContext, java)
        rows = None
        # A query that goes on asks for its last epoch once more, and takes no rows of it (4.2.0).
        if self._in_flight():
            self._real.check(before, after)
            rows = self._read(session, before, after)
        if rows is None:
            rows = session.createDataFrame([], self._schema)
        elif self._keep:
            # In memory as long as there is room: it is read by the stream and by each sink beside it.
            rows = self._kept = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        frame: Any = (rows if self._shape is None else self._shape(rows))._jdf
        return java.internalCreateDataFrame(frame.queryExecution().toRdd(), frame.schema(), True)

    def _class(self, package: str, name: str) -> Any:
        found = self._jvm
        for part in (*package.split("."), name):
            found = getattr(found, part)
        return found


class _RealSource(Protocol):
    """The source that knows how far an epoch goes. Offsets are text, as it writes them itself.

    `java` is Spark's own.
    """

    java: Any

    def latest(self, before: str | None, limit: Any) -> str | None:
        """Where an epoch ends that begins at `before`; None if nothing has ever come."""
        ...

    def check(self, before: str | None, after: str) -> None:
        """Fails if what lies between is known to be gone."""
        ...

    def commit(self, after: Any) -> None:
        """Takes note that everything up to there is done."""
        ...


class _Source:
    """A source by Spark's first interface, as files have it."""

    def __init__(self, relation: Any, log: Path) -> None:
        self.java = relation.dataSource().createSource(_place(log))

    def latest(self, before: str | None, limit: Any) -> str | None:
        # Files are numbered by the source's own log; where the epoch before ended does not matter.
        found = self.java.latestOffset(None, limit)
        return None if found is None else str(found.json())

    def check(self, before: str | None, after: str) -> None:
        """What an epoch reads is in the log, and a file that is gone fails as it is read."""

    def commit(self, after: Any) -> None:
        self.java.commit(after)


class _MicroBatchStream:
    """A source by Spark's second interface, as Kafka has it."""

    def __init__(self, relation: Any, log: Path) -> None:
        self.java = (
            relation.table().newScanBuilder(relation.extraOptions()).build().toMicroBatchStream(_place(log))
        )

    def latest(self, before: str | None, limit: Any) -> str | None:
        found = self.java.latestOffset(self._at(before), limit)
        return None if found is None else str(found.json())

    def check(self, before: str | None, after: str) -> None:
        # To lay out its tasks it compares the offsets with what is there.
        self.java.planInputPartitions(self._at(before), self._at(after))

    def commit(self, after: Any) -> None:
        self.java.commit(self._at(after.json()))

    def _at(self, written: str | None) -> Any:
        return self.java.initialOffset() if written is None else self.java.deserializeOffset(written)


def _place(log: Path) -> str:
    # Spark takes it as it is: what a URI escapes would be other characters to it.
    return f"file:{log}"


def _leaf(plan: Any) -> Any:
    """The relation in which a plan over one source ends."""
    while plan.children().size():
        plan = plan.children().apply(0)
    return plan


def _real_source(relation: Any, log: Path) -> _RealSource:
    first = relation.getClass().getSimpleName() == "StreamingRelation"
    return _Source(relation, log) if first else _MicroBatchStream(relation, log)


class _Proxy:
    """The source as Spark calls it, on the query's thread. Spark gets what is raised here as text only."""

    def __init__(self, source: EpochSource, schema: Any, failed: Callable[[BaseException], None]) -> None:
        self._source = source
        self._real = source.real
        self._schema = schema
        self._failed = failed

    def schema(self) -> Any:
        return self._schema

    def getDefaultReadLimit(self) -> Any:
        return self._tell(self._real.java.getDefaultReadLimit)

    def prepareForTriggerAvailableNow(self) -> None:
        self._tell(self._real.java.prepareForTriggerAvailableNow)

    def latestOffset(self, start: Any, limit: Any) -> Any:
        found = self._tell(lambda: self._real.latest(None if start is None else str(start.json()), limit))
        return None if found is None else self._source.offset(found)

    def reportLatestOffset(self) -> Any:
        """Spark shows it with an epoch's progress, which nobody reads."""
        return None

    def getBatch(self, start: Any, end: Any) -> Any:
        before = str(start.get().json()) if start.isDefined() else None
        return self._tell(lambda: self._source.begin(before, str(end.json())))

    def commit(self, end: Any) -> None:
        self._tell(lambda: self._real.commit(end))

    def deserializeOffset(self, json: str) -> Any:
        return self._source.offset(json)

    def stop(self) -> None:
        self._real.java.stop()

    # Spark keeps sources as keys of maps.

    def hashCode(self) -> int:
        return id(self) & 0x7FFFFFFF

    def equals(self, other: object) -> bool:
        return other is self

    def toString(self) -> str:
        return f"rows kept of {self._real.java.toString()}"

    def _tell(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except BaseException as error:
            self._failed(error)
            raise

    class Java:
        """What py4j makes of it."""

        implements: ClassVar = [
            "org.apache.spark.sql.execution.streaming.Source",
            "org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow",
        ]

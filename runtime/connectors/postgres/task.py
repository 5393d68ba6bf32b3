"""What a task of Spark does with its part of an epoch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import psycopg
import pyarrow as pa
from psycopg import sql
from pyspark import TaskContext

from runtime.connectors.postgres.connection import Address, may_pass, one_line
from runtime.connectors.postgres.encode import HEADER, TRAILER, Encoding, UnstorableValue, encode
from runtime.connectors.postgres.ledger import Ledger
from runtime.connectors.postgres.merge import STAGE, AmbiguousRows, Merge
from runtime.connectors.postgres.table import Connection, Table

ATTEMPT: Final = "__headrace_attempt"
RESULT: Final = "task INT, attempt STRING, taken BOOLEAN, written BIGINT, problem STRING, detail STRING"
_RESULT: Final = pa.schema(
    [
        ("task", pa.int32()), ("attempt", pa.string()), ("taken", pa.bool_()), ("written", pa.int64()),
        ("problem", pa.string()), ("detail", pa.string()),
    ]
)  # fmt: skip

UNREACHABLE, VALUE, AMBIGUOUS = "unreachable", "value", "ambiguous"


@dataclass(frozen=True)
class Part:
    """What a task is told of the epoch that it writes a part of.

    Args:
        address: of the database.
        ledger: of the sink.
        incarnation, epoch: which epoch.
        encodings: of the rows' columns, hidden ones included, in order.
        copied: names of these columns.
        merge: how rows get from the stage to their table; None for rows that are only appended.
        target: the table.
        staging: the table that takes rows until the whole epoch is there; None if each task commits its part.
        again: whether a part that is written is written once more, as at-least-once delivery does.
    """

    address: Address
    ledger: Ledger
    incarnation: str
    epoch: int
    encodings: tuple[Encoding, ...]
    copied: tuple[str, ...]
    merge: Merge | None
    target: Table
    staging: Table | None
    again: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Writes the rows of a task, and yields one row of `RESULT`.

        What goes wrong in the database is told in it: an exception would come out as Spark's stack trace.
        """
        context = TaskContext.get()
        task = context.partitionId() if context else 0
        attempt = uuid.uuid4().hex
        taken, written, problem, detail = True, 0, "", ""
        try:
            with self.address.connect() as connection:
                taken, written = self._write(connection, task, attempt, batches)
        except UnstorableValue as error:
            problem, detail = VALUE, str(error)
        except AmbiguousRows as error:
            problem, detail = AMBIGUOUS, str(error)
        except psycopg.Error as error:
            problem = UNREACHABLE if may_pass(error) else VALUE
            detail = one_line(error)
        yield pa.RecordBatch.from_arrays(
            [pa.array([value]) for value in (task, attempt, taken, written, problem, detail)],
            names=_RESULT.names,
        ).cast(_RESULT)

    def _write(
        self, connection: Connection, task: int, attempt: str, batches: Iterator[pa.RecordBatch]
    ) -> tuple[bool, int]:
        if self.staging is not None:
            return True, self._copy(connection, self.staging, batches, attempt)
        if not self.ledger.take(connection, self.incarnation, self.epoch, task, self.again):
            return False, 0
        if self.merge is None:
            rows = self._copy(connection, self.target, batches)
        else:
            connection.execute(self.merge.stage(STAGE, temporary=True))
            rows = self._copy(connection, STAGE, batches)
            if rows:
                self.merge.apply(connection)
        self.ledger.count(connection, self.incarnation, self.epoch, task, rows)
        return True, rows

    def _copy(
        self,
        connection: Connection,
        table: Table,
        batches: Iterator[pa.RecordBatch],
        attempt: str | None = None,
    ) -> int:
        names = [*self.copied, *([ATTEMPT] if attempt else [])]
        encodings = [*self.encodings, *([Encoding("text")] if attempt else [])]
        statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            table.quoted, sql.SQL(", ").join(map(sql.Identifier, names))
        )
        rows = 0
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            copy.write(HEADER)
            for batch in batches:
                if not batch.num_rows:
                    continue
                rows += batch.num_rows
                whole = _with_attempt(batch, attempt) if attempt else batch
                copy.write(encode(whole, encodings))
            copy.write(TRAILER)
        return rows


def _with_attempt(batch: pa.RecordBatch, attempt: str) -> pa.RecordBatch:
    column: Any = pa.repeat(pa.scalar(attempt, pa.string()), batch.num_rows)
    return pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, ATTEMPT])

"""What an output knows of its epochs: a table beside it, written in the transactions that write the rows.

An epoch has a head, the row of task -1, written before any task begins: it says how many tasks the epoch is
split into, and in the end that it is done. A task's row says that its part is there. Whoever writes a part
shares a lock on the head, so that an epoch is not done while a transaction of it is open, and a worker that
outlived its run finds the head done, or gone, and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString

from psycopg import errors, sql

from runtime.connectors.postgres.table import Connection, Table, exists

LEDGER = "headrace_ledger"
_HEAD = -1
_CLAIM = "claim"

_CREATE = """
CREATE TABLE {} (
  sink text NOT NULL, incarnation text NOT NULL, epoch bigint NOT NULL, task integer NOT NULL,
  tasks integer NOT NULL, done boolean NOT NULL, written_rows bigint NOT NULL DEFAULT 0,
  target text NOT NULL, written_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (sink, incarnation, epoch, task)
)
"""

_TAKE = """
INSERT INTO {0} (sink, incarnation, epoch, task, tasks, done, target)
SELECT sink, incarnation, epoch, %s, tasks, true, target FROM {0}
WHERE sink = %s AND incarnation = %s AND epoch = %s AND task = -1 AND NOT done FOR SHARE
ON CONFLICT (sink, incarnation, epoch, task) """


@dataclass(frozen=True, slots=True)
class Written:
    """What a sink has written under one checkpoint: the last epoch that is done, and the last that is begun.

    `begun` counts only epochs of which rows are there. -1 is none.
    """

    done: int
    begun: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of one sink in a ledger.

    Args:
        table: the ledger.
        sink: project and uid.
        target: the table that it writes.
    """

    table: Table
    sink: str
    target: str

    def create(self, connection: Connection) -> None:
        """Makes the ledger if it is not there."""
        if exists(connection, self.table):
            return
        try:
            with connection.transaction():
                connection.execute(sql.SQL(_CREATE).format(self.table.quoted))
        except (errors.DuplicateTable, errors.UniqueViolation):
            pass  # another sink was quicker

    def written(self, connection: Connection, incarnation: str) -> Written:
        """How far the output has come under a checkpoint."""
        row = connection.execute(
            self._sql(
                "SELECT coalesce(max(epoch) FILTER (WHERE task = -1 AND done), -1), "
                "coalesce(max(epoch) FILTER (WHERE task >= 0 OR done), -1) "
                "FROM {} WHERE sink = %s AND incarnation = %s"
            ),
            [self.sink, incarnation],
        ).fetchone()
        assert row is not None
        done, begun = row
        assert isinstance(done, int)
        assert isinstance(begun, int)
        return Written(done, begun)

    def has_other(self, connection: Connection, incarnation: str) -> bool:
        """Whether rows are there that another checkpoint's epochs wrote."""
        row = connection.execute(
            self._sql(
                "SELECT 1 FROM {} WHERE sink = %s AND incarnation NOT IN (%s, %s) AND target = %s "
                "AND (task >= 0 OR done) LIMIT 1"
            ),
            [self.sink, incarnation, _CLAIM, self.target],
        ).fetchone()
        return row is not None

    def claim(self, connection: Connection) -> None:
        """Remembers that the output held no rows of others when this sink came."""
        self._head(connection, _CLAIM, 0, 0, done=True)

    def is_claimed(self, connection: Connection) -> bool:
        """Whether all rows of the output are this sink's, as far as it can know."""
        query = self._sql("SELECT 1 FROM {} WHERE sink = %s AND incarnation = %s AND target = %s")
        return connection.execute(query, [self.sink, _CLAIM, self.target]).fetchone() is not None

    def begin(self, connection: Connection, incarnation: str, epoch: int, tasks: int) -> tuple[int, bool]:
        """Writes an epoch's head, if it is not there.

        Returns:
            The number of tasks that the epoch was first split into, and whether it is done.
        """
        self._head(connection, incarnation, epoch, tasks, done=False)
        row = connection.execute(
            self._sql(
                "SELECT tasks, done FROM {} WHERE sink = %s AND incarnation = %s AND epoch = %s AND task = -1"
            ),
            [self.sink, incarnation, epoch],
        ).fetchone()
        assert row is not None
        first, done = row
        assert isinstance(first, int)
        return first, bool(done)

    def take(self, connection: Connection, incarnation: str, epoch: int, task: int, again: bool) -> bool:
        """Takes a part of an epoch for this transaction; False if it is written, or the epoch is over.

        Waits for another transaction that has taken it. `again` takes what is written once more.
        """
        query = _TAKE + ("DO UPDATE SET written_at = now()" if again else "DO NOTHING") + " RETURNING task"
        found = connection.execute(self._sql(query), [task, self.sink, incarnation, epoch])
        return found.fetchone() is not None

    def count(self, connection: Connection, incarnation: str, epoch: int, task: int, rows: int) -> None:
        """Notes how many rows a part has."""
        connection.execute(
            self._sql(
                "UPDATE {} SET written_rows = %s "
                "WHERE sink = %s AND incarnation = %s AND epoch = %s AND task = %s"
            ),
            [rows, self.sink, incarnation, epoch, task],
        )

    def finish(self, connection: Connection, incarnation: str, epoch: int) -> None:
        """Says that an epoch is done, and forgets those before it, which no checkpoint can ask for again."""
        connection.execute(
            self._sql(
                "UPDATE {} SET done = true, written_at = now() "
                "WHERE sink = %s AND incarnation = %s AND epoch = %s AND task = -1"
            ),
            [self.sink, incarnation, epoch],
        )
        connection.execute(
            self._sql("DELETE FROM {} WHERE sink = %s AND incarnation = %s AND epoch < %s"),
            [self.sink, incarnation, epoch],
        )

    def lock(self, connection: Connection, incarnation: str, epoch: int) -> bool:
        """Takes an epoch as a whole for this transaction; False if it is done."""
        query = self._sql(
            "SELECT done FROM {} WHERE sink = %s AND incarnation = %s AND epoch = %s AND task = -1 FOR UPDATE"
        )
        row = connection.execute(query, [self.sink, incarnation, epoch]).fetchone()
        return row is not None and not row[0]

    def forget(self, connection: Connection) -> None:
        """Deletes all that is known of the sink."""
        connection.execute(self._sql("DELETE FROM {} WHERE sink = %s"), [self.sink])

    def _head(self, connection: Connection, incarnation: str, epoch: int, tasks: int, *, done: bool) -> None:
        connection.execute(
            self._sql(
                "INSERT INTO {} (sink, incarnation, epoch, task, tasks, done, target) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
            ),
            [self.sink, incarnation, epoch, _HEAD, tasks, done, self.target],
        )

    def _sql(self, text: LiteralString) -> sql.Composed:
        return sql.SQL(text).format(self.table.quoted)

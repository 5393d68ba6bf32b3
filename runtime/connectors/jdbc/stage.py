"""A table beside a sink's, into which Spark's tasks write an epoch before one transaction moves it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.jdbc.connection import Connection, Database, DatabaseError
from runtime.spark.changes import DELETE
from runtime.spark.context import quote

_OPERATION: Final = "headrace_op"
_ATTEMPT: Final = "headrace_attempt"
_ROW: Final = "headrace_row"


class StagedTwice(DatabaseError):
    """A task wrote its rows and was run again; the epoch is staged anew."""

    def __init__(self) -> None:
        super().__init__("rows of a task were staged twice", may_pass=True)


@dataclass(frozen=True)
class Stage:
    """The statements around a stage. All of them are SQL that databases have in common.

    Its columns have names of their own, so that a key of the target is not taken for one of the stage in a
    subquery. Each row tells by which attempt at the epoch it was written, and has a number in it: a task
    that outlived its run, or one that Spark ran twice since its end was not heard of, is so told.

    Args:
        database: where it is.
        table: its name as SQL.
        index: name as SQL of its index by the key.
        target: the sink's table, as SQL.
        columns: the sink's columns, each with its name in the table.
        key: those of them that are the primary key.
        replaces: whether rows replace those of their key; without a key, all rows.
        changes: whether rows have their operation.
    """

    database: Database
    table: str
    index: str
    target: str
    columns: dict[str, str]
    key: tuple[str, ...]
    replaces: bool
    changes: bool

    def make(self, connection: Connection) -> None:
        """Makes it anew, with the types of the target."""
        self.drop(connection)
        # Of an outer join all columns may be NULL, so that no rule of the target is taken over.
        named = [f"t.{self._quoted(self.columns[name])} AS {staged}" for name, staged in self._staged()]
        if self.changes:
            named.append(f"CAST('' AS CHAR(2)) AS {self._quoted(_OPERATION)}")
        named.append(f"CAST('' AS CHAR(32)) AS {self._quoted(_ATTEMPT)}")
        named.append(f"CAST(0 AS DECIMAL(19)) AS {self._quoted(_ROW)}")
        source = f"FROM {self.target} s LEFT JOIN {self.target} t ON 1 = 0 WHERE 1 = 0"
        if self.database.product == "sqlserver":
            connection.execute(f"SELECT {', '.join(named)} INTO {self.table} {source}")
        else:
            connection.execute(f"CREATE TABLE {self.table} AS SELECT {', '.join(named)} {source}")
        if self.key:
            staged = dict(self._staged())
            keys = ", ".join(staged[name] for name in self.key)
            # Without it some databases look through the stage for each row of the target; texts without a
            # limit have none, and are right all the same.
            with suppress(DatabaseError):
                connection.execute(f"CREATE INDEX {self.index} ON {self.table} ({keys})")

    def drop(self, connection: Connection) -> None:
        """Removes it, if it is there."""
        try:
            connection.execute(f"DROP TABLE {self.table}")
        except DatabaseError as error:
            if error.may_pass:
                raise

    def fill(self, connection: Connection, rows: DataFrame, attempt: str, connections: int) -> None:
        """Writes the rows of an attempt in place of what is there; each task commits its own.

        Args:
            connection: commits each statement.
            rows: the sink's columns, and `OP_COLUMN` of changes.
            attempt: 32 characters.
            connections: how many tasks may write at once.
        """
        connection.execute(f"DELETE FROM {self.table}")
        named = [F.col(quote(name)).alias(f"headrace_{n}") for n, name in enumerate(self.columns)]
        if self.changes:
            named.append(F.col(OP_COLUMN).alias(_OPERATION))
        named.append(F.lit(attempt).alias(_ATTEMPT))
        named.append(F.monotonically_increasing_id().alias(_ROW))
        self.database.write(rows.select(*named), self.table, connections)

    def move(self, connection: Connection, attempt: str) -> int:
        """Moves an attempt's rows into the target, in the connection's transaction.

        Returns:
            How many rows there were.

        Raises:
            StagedTwice: some are there twice.
        """
        of_attempt = f"{self._quoted(_ATTEMPT)} = ?"
        query = f"SELECT COUNT(*), COUNT(DISTINCT {self._quoted(_ROW)}) FROM {self.table} WHERE {of_attempt}"
        found = connection.row(query, attempt)
        assert found is not None
        if found[0] != found[1]:
            raise StagedTwice
        count = int(found[0] or 0)
        if not count:
            return 0
        if self.replaces:
            self._delete(connection, of_attempt, attempt)
        targets = ", ".join(self._quoted(name) for name in self.columns.values())
        staged = ", ".join(name for _, name in self._staged())
        stays = f" AND {self._quoted(_OPERATION)} <> '{DELETE}'" if self.changes else ""
        inserted = connection.execute(
            f"INSERT INTO {self.target} ({targets}) "
            f"SELECT {staged} FROM {self.table} WHERE {of_attempt}{stays}",
            attempt,
        )
        if not self.changes and inserted != count:
            raise StagedTwice
        return count

    def _delete(self, connection: Connection, of_attempt: str, attempt: str) -> None:
        """Deletes rows whose keys come or go; without a key, the row that is the table."""
        if not self.key:
            connection.execute(f"DELETE FROM {self.target}")
            return
        staged = dict(self._staged())
        same = " AND ".join(f"{staged[name]} = {self._quoted(self.columns[name])}" for name in self.key)
        connection.execute(
            f"DELETE FROM {self.target} WHERE EXISTS "
            f"(SELECT 1 FROM {self.table} WHERE {same} AND {of_attempt})",
            attempt,
        )

    def _staged(self) -> Sequence[tuple[str, str]]:
        return [(name, self._quoted(f"headrace_{n}")) for n, name in enumerate(self.columns)]

    def _quoted(self, name: str) -> str:
        return self.database.quoted(name)

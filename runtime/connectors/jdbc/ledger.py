"""What a database knows of a sink's epochs: a table that is written in the transactions that write the rows.

A sink has one row for each checkpoint it was written under, with the last epoch that is there. An epoch is
taken by raising that number, which locks the row: of two runs that write one epoch the second finds it done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from runtime.connectors.jdbc.connection import Connection, Database, DatabaseError
from runtime.connectors.jdbc.table import exists

LEDGER: Final = "headrace_ledger"
_CLAIM: Final = "claim"
# Types that every database has.
_COLUMNS: Final = (("sink", "VARCHAR(400)"), ("incarnation", "VARCHAR(64)"), ("epoch", "DECIMAL(19)"),
                   ("target", "VARCHAR(400)"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ledger:
    """The rows of one sink in a ledger.

    Args:
        database: where it is.
        table: the ledger's name as SQL.
        sink: project and uid.
        target: the table that it writes.
    """

    database: Database
    table: str
    sink: str
    target: str

    def create(self, connection: Connection) -> None:
        """Makes the ledger if it is not there."""
        if exists(connection, self.table):
            return
        columns = ", ".join(f"{self._name(name)} {kind} NOT NULL" for name, kind in _COLUMNS)
        key = f"PRIMARY KEY ({self._name('sink')}, {self._name('incarnation')})"
        try:
            connection.execute(f"CREATE TABLE {self.table} ({columns}, {key})")
        except DatabaseError:
            # Perhaps another sink was quicker.
            if not exists(connection, self.table):
                raise

    def written(self, connection: Connection, incarnation: str) -> int:
        """The last epoch that is there under a checkpoint; -1 is none."""
        row = self._row(connection, incarnation)
        return -1 if row is None else int(row)

    def has_other(self, connection: Connection, incarnation: str) -> bool:
        """Whether rows are there that another checkpoint's epochs wrote."""
        where = (
            f"{self._of_sink()} AND {self._name('incarnation')} NOT IN (?, ?) AND {self._name('target')} = ?"
        )
        query = f"SELECT COUNT(*) FROM {self.table} WHERE {where} AND {self._name('epoch')} >= 0"
        return connection.row(query, self.sink, incarnation, _CLAIM, self.target) != ("0",)

    def claim(self, connection: Connection) -> None:
        """Remembers that the output held no rows of others when this sink came."""
        if not self.is_claimed(connection):
            # Another table may have been claimed before.
            where = f"{self._of_sink()} AND {self._name('incarnation')} = ?"
            connection.execute(f"DELETE FROM {self.table} WHERE {where}", self.sink, _CLAIM)
            self._insert(connection, _CLAIM)

    def is_claimed(self, connection: Connection) -> bool:
        """Whether all rows of the output are this sink's, as far as it can know."""
        where = f"{self._of_sink()} AND {self._name('incarnation')} = ? AND {self._name('target')} = ?"
        query = f"SELECT COUNT(*) FROM {self.table} WHERE {where}"
        return connection.row(query, self.sink, _CLAIM, self.target) == ("1",)

    def begin(self, connection: Connection, incarnation: str) -> None:
        """Writes the row of a checkpoint, if it is not there."""
        if self._row(connection, incarnation) is None:
            self._insert(connection, incarnation)

    def take(self, connection: Connection, incarnation: str, epoch: int) -> bool:
        """Says, in the connection's transaction, that an epoch is there; False if it was."""
        name = self._name("epoch")
        where = f"{self._of_sink()} AND {self._name('incarnation')} = ? AND {name} < ?"
        statement = f"UPDATE {self.table} SET {name} = ? WHERE {where}"
        return connection.execute(statement, epoch, self.sink, incarnation, epoch) == 1

    def forget(self, connection: Connection) -> None:
        """Deletes all that is known of the sink."""
        connection.execute(f"DELETE FROM {self.table} WHERE {self._of_sink()}", self.sink)

    def _row(self, connection: Connection, incarnation: str) -> str | None:
        where = f"{self._of_sink()} AND {self._name('incarnation')} = ?"
        query = f"SELECT {self._name('epoch')} FROM {self.table} WHERE {where}"
        row = connection.row(query, self.sink, incarnation)
        return row[0] if row else None

    def _insert(self, connection: Connection, incarnation: str) -> None:
        names = ", ".join(self._name(name) for name, _ in _COLUMNS)
        statement = f"INSERT INTO {self.table} ({names}) VALUES (?, ?, ?, ?)"
        connection.execute(statement, self.sink, incarnation, -1, self.target)

    def _of_sink(self) -> str:
        return f"{self._name('sink')} = ?"

    def _name(self, name: str) -> str:
        return self.database.quoted(name)

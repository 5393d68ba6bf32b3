"""From staged changes to the rows of a table: of each key the last one counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import errors, sql

from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.postgres.table import Connection, Table

STAGE = Table(None, "headrace_stage")
_SETTLED = Table(None, "headrace_settled")
# The parts of `SEQUENCE_COLUMN`.
ORDER_COLUMNS = tuple(f"__headrace_order{n}" for n in range(4))
_ORDER_TYPES = (
    "NULL::bigint AS {}",
    'NULL::text COLLATE "C" AS {}',
    "NULL::bigint AS {}",
    "NULL::bigint AS {}",
)


class AmbiguousRows(Exception):
    """Several rows of one key of which none is known to be the last; the message has key and number."""


@dataclass(frozen=True)
class Merge:
    """How staged rows become rows of a table.

    Args:
        target: the table.
        columns: its columns that are written.
        key: its primary key; empty for a table of one row.
        changes: whether rows have their operation in `OP_COLUMN`.
        order: columns of the stage by which a later row is told from an earlier one; empty if none tells.
    """

    target: Table
    columns: tuple[str, ...]
    key: tuple[str, ...]
    changes: bool
    order: tuple[str, ...]

    def stage(self, name: Table, *, temporary: bool, more: Sequence[sql.Composable] = ()) -> sql.Composed:
        """The statement that makes an empty table for changes: with the target's types, not its rules."""
        hidden: list[sql.Composable] = []
        if self.changes:
            hidden.append(sql.SQL("''::text AS {}").format(sql.Identifier(OP_COLUMN)))
        if self.order == ORDER_COLUMNS:
            typed = zip(_ORDER_TYPES, ORDER_COLUMNS, strict=True)
            hidden += [sql.SQL(null).format(sql.Identifier(column)) for null, column in typed]
        return sql.SQL("CREATE {} TABLE {} {} AS SELECT {} FROM {} WITH NO DATA").format(
            sql.SQL("TEMPORARY" if temporary else "UNLOGGED"),
            name.quoted,
            sql.SQL("ON COMMIT DROP" if temporary else ""),
            sql.SQL(", ").join([*map(sql.Identifier, self.columns), *hidden, *more]),
            self.target.quoted,
        )

    def apply(self, connection: Connection) -> None:
        """Merges the rows of `STAGE` into the target, within the connection's transaction.

        Raises:
            AmbiguousRows: a key has several rows, and nothing says which is the last.
        """
        if not self.key:
            self._replace_all(connection)
            return
        if self.changes:
            stage = self._settled(connection) if self._has_twice(connection) else STAGE
            connection.execute(
                sql.SQL("DELETE FROM {} AS t USING {} AS s WHERE {} AND s.{} = '-D'").format(
                    self.target.quoted, stage.quoted, self._same_key(), sql.Identifier(OP_COLUMN)
                )
            )
            self._insert(connection, stage)
            return
        try:
            # Mostly a key comes once in an epoch; PostgreSQL notices if not.
            with connection.transaction():
                self._insert(connection, STAGE)
        except errors.CardinalityViolation:
            self._insert(connection, self._settled(connection))

    def _insert(self, connection: Connection, stage: Table) -> None:
        columns = sql.SQL(", ").join(map(sql.Identifier, self.columns))
        values = [name for name in self.columns if name not in self.key]
        update = sql.SQL(", ").join(
            sql.SQL("{0} = excluded.{0}").format(sql.Identifier(name)) for name in values
        )
        action = sql.SQL("DO UPDATE SET {}").format(update) if values else sql.SQL("DO NOTHING")
        connection.execute(
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} {} ON CONFLICT ({}) {}").format(
                self.target.quoted, columns, columns, stage.quoted, self._stays(), self._keys(), action
            )
        )

    def _replace_all(self, connection: Connection) -> None:
        """A table of one row: the last change is the table."""
        count = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(STAGE.quoted)).fetchone()
        if count == (0,):
            return
        stage = STAGE if count == (1,) else self._settled(connection)
        columns = sql.SQL(", ").join(map(sql.Identifier, self.columns))
        connection.execute(sql.SQL("DELETE FROM {}").format(self.target.quoted))
        connection.execute(
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} {}").format(
                self.target.quoted, columns, columns, stage.quoted, self._stays()
            )
        )

    def _has_twice(self, connection: Connection) -> bool:
        query = sql.SQL("SELECT 1 FROM {} GROUP BY {} HAVING count(*) > 1 LIMIT 1")
        return connection.execute(query.format(STAGE.quoted, self._keys())).fetchone() is not None

    def _settled(self, connection: Connection) -> Table:
        """A table with the last row of each key."""
        by = [*self.key, *self.order] or None
        group = sql.SQL("GROUP BY {}").format(_list(by)) if by else sql.SQL("")
        shown = sql.SQL(", ").join([*map(_as_text, self.key), sql.SQL("count(*)")])
        query = sql.SQL("SELECT {} FROM {} {} HAVING count(*) > 1 LIMIT 1")
        tie = connection.execute(query.format(shown, STAGE.quoted, group)).fetchone()
        if tie is not None:
            *values, count = tie
            key = ", ".join(f"{name} = {value}" for name, value in zip(self.key, values, strict=True))
            raise AmbiguousRows(f"{count} rows" + (f" for {key}" if key else ""))
        latest = sql.SQL(", ").join(
            [*map(sql.Identifier, self.key)]
            + [sql.SQL("{} DESC NULLS LAST").format(sql.Identifier(name)) for name in self.order]
        )
        which = sql.SQL("DISTINCT ON ({})").format(self._keys()) if self.key else sql.SQL("")
        limit = sql.SQL("" if self.key else "LIMIT 1")
        connection.execute(
            sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT {} * FROM {} ORDER BY {} {}").format(
                _SETTLED.quoted, which, STAGE.quoted, latest, limit
            )
        )
        return _SETTLED

    def _stays(self) -> sql.Composable:
        if not self.changes:
            return sql.SQL("")
        return sql.SQL("WHERE {} <> '-D'").format(sql.Identifier(OP_COLUMN))

    def _same_key(self) -> sql.Composable:
        return sql.SQL(" AND ").join(sql.SQL("t.{0} = s.{0}").format(sql.Identifier(k)) for k in self.key)

    def _keys(self) -> sql.Composable:
        return _list(self.key)


def _list(names: Sequence[str]) -> sql.Composable:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _as_text(name: str) -> sql.Composable:
    return sql.SQL("{}::text").format(sql.Identifier(name))

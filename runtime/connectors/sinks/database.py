"""A table of any database that has a driver of JDBC: appends, or changes by primary key."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as t

from compiler.diagnostics.codes import UNREACHABLE, UNSTORABLE_VALUE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from runtime.connectors.jdbc import table as tables
from runtime.connectors.jdbc.connection import (
    Connection,
    Database,
    DatabaseError,
    NoDriver,
    is_mariadb_by_another,
    retried,
)
from runtime.connectors.jdbc.ledger import LEDGER, Ledger
from runtime.connectors.jdbc.stage import Stage
from runtime.connectors.names import split_name
from runtime.connectors.sinks import ownership
from runtime.connectors.sinks.base import SinkContext, columns_of
from runtime.connectors.sinks.settle import settle
from runtime.connectors.table_findings import missing
from runtime.spark.context import quote, struct_of

_RETRIES = 5
_MOST_TASKS = 8


class DatabaseWriter:
    """Writes an epoch by Spark's own writer into a stage, and moves it into the table in one transaction.

    That transaction also notes the epoch in a ledger, and has no DDL in it, which MySQL and Oracle commit by.
    What it took for the move to fail, a replay begins anew: the stage is emptied first. Of a server that is
    lost in the middle of a commit the ledger tells whether the epoch is there.
    """

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._merges = bool(sink.primary_key) or sink.upsert
        self.passes = 2 if self._merges else 1
        self._names = split_name(str(sink.options["table"]))
        self._ledger_schema = str(sink.options.get("ledger_schema") or "") or self._names[0]
        self._database = Database(ctx.session, sink.options)
        self._retries = int(sink.options.get("max_retries", _RETRIES))
        self._ours = f"{ctx.project}/{sink.uid}"
        self.location = f"{self._database.shown} {sink.options['table']}"
        self.rows_written = 0
        self._incarnation = ""
        self._done = -1
        self._stage: Stage | None = None

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Looks whether the table fits, makes what is missing, refuses rows of a checkpoint that is gone."""
        self._incarnation = incarnation
        fields = struct_of(self._sink.columns).fields
        found = list(tables.judge_types(self._sink.uid, fields))
        if found:
            raise DiagnosticError(*found)
        self._with_connection(lambda connection: self._prepare(connection, fields, last_epoch))

    def has(self, epoch: int) -> bool:
        """Whether the table has the rows of the epoch: all of them, or none."""
        return epoch <= self._done

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Writes the epoch, unless the table has it."""
        if epoch <= self._done:
            return False
        rows = settle(self._sink, epoch, batch) if self._merges else columns_of(self._sink, batch)
        rows = _as_stored(rows)

        def attempt(connection: Connection) -> None:
            assert self._stage is not None
            number, moved = uuid.uuid4().hex, 0
            self._stage.fill(connection, rows, number, self._tasks(rows))
            with connection.transaction():
                if self._ledger.take(connection, self._incarnation, epoch):
                    moved = self._stage.move(connection, number)
                elif self._ledger.written(connection, self._incarnation) < epoch:
                    # Someone has emptied the ledger: whether the table has the epoch is not known.
                    raise ownership.other_incarnation(self._sink.uid, self.location, "table")
            self.rows_written += moved

        self._with_connection(attempt, epoch)
        self._done = epoch
        return True

    def check_empty(self) -> None:
        """The table must have been empty, or not there, when this sink came."""
        self._with_connection(self._check_empty)

    def empty(self) -> None:
        """Deletes the table's rows, and what the ledger knows of the sink."""
        self._with_connection(self._empty)

    # --- before the first epoch

    def _prepare(self, connection: Connection, fields: list[t.StructField], last_epoch: int) -> None:
        sink, database = self._sink, self._database
        if is_mariadb_by_another(connection.java.getMetaData()):
            raise DiagnosticError(self._of_mariadb())
        target = tables.find(connection, database, self._names)
        made = target is None
        if target is None:
            target = database.quoted(*self._names)
            statement = tables.create(database, target, fields, sink.primary_key)
            if not sink.options.get("create_table", False):
                raise DiagnosticError(missing(sink.uid, target, statement))
            connection.execute(statement)
        there = tables.columns(connection, target)
        names, found = tables.judge(
            database, sink.uid, target, there, fields, sink.primary_key, replaces=self._merges
        )
        if found:
            raise DiagnosticError(*found)
        ledger = self._ledger
        ledger.create(connection)
        done = ledger.written(connection, self._incarnation)
        # An upsert lands on the rows that it made before; appended rows would be there twice.
        if not self._merges and ledger.has_other(connection, self._incarnation):
            raise ownership.other_incarnation(sink.uid, self.location, "table")
        if done > last_epoch:
            raise ownership.newer_than_state(sink.uid, self.location, done, last_epoch)
        if done < 0 and (made or self._is_empty(connection, target)):
            ledger.claim(connection)
        ledger.begin(connection, self._incarnation)
        name = f"headrace_{hashlib.sha256(self._ours.encode()).hexdigest()[:12]}"
        stage, index = self._beside(name), database.quoted(f"{name}_key")
        self._stage = Stage(
            database, stage, index, target, names, tuple(sink.primary_key), self._merges, sink.upsert
        )
        self._stage.make(connection)
        self._done = done

    @property
    def _ledger(self) -> Ledger:
        return Ledger(self._database, self._beside(LEDGER), self._ours, self._database.quoted(*self._names))

    def _beside(self, name: str) -> str:
        return self._database.quoted(self._ledger_schema, name)

    def _is_empty(self, connection: Connection, table: str) -> bool:
        return connection.row(f"SELECT COUNT(*) FROM {table}") == ("0",)

    # --- an epoch

    def _tasks(self, rows: DataFrame) -> int:
        cores = rows.sparkSession.sparkContext.defaultParallelism
        return int(self._sink.options.get("sink.parallelism", min(cores, _MOST_TASKS)))

    # --- starting over

    def _check_empty(self, connection: Connection) -> None:
        target = tables.find(connection, self._database, self._names)
        if target is None or self._is_empty(connection, target):
            return
        ledger = self._ledger
        if not tables.exists(connection, ledger.table) or not ledger.is_claimed(connection):
            raise ownership.foreign(
                self._sink.uid, self.location, "the table held rows before this sink came", "table"
            )

    def _empty(self, connection: Connection) -> None:
        target = tables.find(connection, self._database, self._names)
        ledger = self._ledger
        known = tables.exists(connection, ledger.table)
        with connection.transaction():
            if target is not None:
                connection.execute(f"DELETE FROM {target}")
            if known:
                ledger.forget(connection)

    # --- what goes wrong

    def _with_connection(self, step: Callable[[Connection], None], epoch: int | None = None) -> None:
        """Does a step, perhaps of an epoch, with a connection."""

        def attempt() -> None:
            with self._database.connect() as connection:
                step(connection)

        try:
            retried(self._retries, attempt)
        except NoDriver as error:
            raise DiagnosticError(self._no_driver(str(error))) from error
        except DatabaseError as error:
            if error.of_value and epoch is not None:
                raise DiagnosticError(self._unstorable(epoch, str(error))) from error
            problem = f"sink {self._sink.uid} cannot write to {self.location}"
            fix = (
                f"start the server, or correct the option url; it was tried {self._retries + 1} times"
                if error.may_pass
                else "correct url, username and password, or grant what is missing"
            )
            raise DiagnosticError(Diagnostic(UNREACHABLE, problem, cause=str(error), fix=fix)) from error

    def _no_driver(self, name: str) -> Diagnostic:
        return Diagnostic(
            WRONG_VALUE,
            f"sink {self._sink.uid} has no driver for {self._database.shown}",
            cause=f"no jar on the class path has the class {name}" if name else "no driver takes this url",
            fix="name the class in the option driver, and its jar in driver.package (group:artifact:version)",
        )

    def _of_mariadb(self) -> Diagnostic:
        return Diagnostic(
            WRONG_VALUE,
            f"sink {self._sink.uid} writes to a server of MariaDB by the driver of MySQL",
            cause="that driver cuts the fractions of seconds off",
            fix="add ?permitMysqlScheme to the url, which MariaDB's driver takes, and leave out driver",
        )

    def _unstorable(self, epoch: int, detail: str) -> Diagnostic:
        table, sink = self._sink.options["table"], self._sink.uid
        return Diagnostic(
            UNSTORABLE_VALUE,
            f"table {table} of sink {sink} does not take a row of epoch {epoch}",
            cause=detail,
            fix="correct the data or the query, or change the table; the epoch runs again",
        )


def _as_stored(rows: DataFrame) -> DataFrame:
    """Rows as drivers take them: what databases have no types for is JSON."""
    return rows.select(
        *(
            F.to_json(F.col(quote(field.name)), {"ignoreNullFields": "false"}).alias(field.name)
            if tables.is_json(field.dataType)
            else F.col(quote(field.name))
            for field in rows.schema.fields
        )
    )

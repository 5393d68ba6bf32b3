"""A PostgreSQL table: appends, or changes by primary key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

import psycopg
from psycopg import sql
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as t

from compiler.diagnostics.codes import PRIMARY_KEY, UNREACHABLE, UNSTORABLE_VALUE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import OP_COLUMN, SEQUENCE_COLUMN
from runtime.connectors.postgres import table as tables
from runtime.connectors.postgres import task as tasks
from runtime.connectors.postgres.connection import Address, BadUrl, address, may_pass, one_line, retried
from runtime.connectors.postgres.encode import Encoding
from runtime.connectors.postgres.ledger import LEDGER, Ledger
from runtime.connectors.postgres.merge import ORDER_COLUMNS, STAGE, AmbiguousRows, Merge
from runtime.connectors.postgres.table import Connection, Table
from runtime.connectors.postgres.types import is_json
from runtime.connectors.sinks import ownership
from runtime.connectors.sinks.base import SinkContext, placed_by
from runtime.connectors.table_findings import missing
from runtime.spark.context import quote, struct_of

_T = TypeVar("_T")
_RETRIES = 5
_MOST_TASKS = 8
_SEQUENCE = ("at", "place", "part", "row")
_SEQUENCE_ENCODINGS = (Encoding("int8"), Encoding("text"), Encoding("int8"), Encoding("int8"))


class _Interrupted(psycopg.OperationalError):
    """A task lost its connection; what it did was rolled back."""


class PostgresWriter:
    """Writes an epoch in one transaction a task, each of which also notes in a ledger that its part is there.

    Rows are placed by what a replay gives alike (`placed_by`), so that it splits the epoch into the same
    parts; into how many is kept in the ledger. With `atomic_epochs` tasks write to a staging table, and one
    transaction takes what the tasks that returned have written: readers see a whole epoch, or none of it.
    """

    passes = 1

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._ctx = ctx
        self._table = tables.parse_table(str(sink.options["table"]))
        schema = str(sink.options["ledger_schema"]) if "ledger_schema" in sink.options else self._table.schema
        self._ledger = Ledger(Table(schema, LEDGER), f"{ctx.project}/{sink.uid}", self._table.text)
        self._atomic = bool(sink.options.get("atomic_epochs", False))
        digest = hashlib.sha256(self._ledger.sink.encode()).hexdigest()[:12]
        self._staging = Table(schema, f"headrace_stage_{digest}")
        self._retries = int(sink.options.get("max_retries", _RETRIES))
        self._merges = bool(sink.primary_key) or sink.upsert
        self._address = self._parse_address()
        self.location = f"{self._address.shown} {self._table.text}"
        self.rows_written = 0
        self._encodings: dict[str, Encoding] = {}
        self._incarnation = ""
        self._done = -1
        self._begun = -1

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Looks whether the table fits, makes what is missing, refuses rows of a checkpoint that is gone."""
        self._incarnation = incarnation
        fields = struct_of(self._sink.columns).fields
        found = list(tables.judge_types(self._sink.uid, fields))
        if found:
            raise DiagnosticError(*found)
        self._with_connection(lambda connection: self._prepare(connection, fields, last_epoch))

    def has(self, epoch: int) -> bool:
        """Whether the table has rows of the epoch; if a run was cut off, perhaps not all of them."""
        return epoch <= max(self._done, self._begun)

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Writes the parts of the epoch that the table does not have."""
        if epoch <= self._done:
            return False
        rows = self._rows(batch)
        try:
            computed = self._guarded(lambda: self._write(epoch, rows))
        except AmbiguousRows as error:
            raise DiagnosticError(self._ambiguous(epoch, str(error))) from error
        self._done = epoch
        return computed

    def check_empty(self) -> None:
        """The table must have been empty, or not there, when this sink came."""
        self._with_connection(self._check_empty)

    def empty(self) -> None:
        """Deletes the table's rows, and what the ledger knows of the sink."""
        self._with_connection(self._empty)

    # --- before the first epoch

    def _prepare(self, connection: Connection, fields: list[t.StructField], last_epoch: int) -> None:
        sink = self._sink
        made = not tables.exists(connection, self._table)
        if made:
            statement = tables.create(self._table, fields, sink.primary_key)
            if not sink.options.get("create_table", False):
                raise DiagnosticError(missing(sink.uid, self._table.text, statement.as_string(None)))
            connection.execute(statement)
        self._encodings, found = tables.judge(connection, sink.uid, self._table, fields, sink.primary_key)
        if found:
            raise DiagnosticError(*found)
        self._ledger.create(connection)
        written = self._ledger.written(connection, self._incarnation)
        # An upsert lands on the rows that it made before; appended rows would be there twice.
        if not self._merges and self._ledger.has_other(connection, self._incarnation):
            raise ownership.other_incarnation(sink.uid, self.location, "table")
        if written.begun > last_epoch:
            raise ownership.newer_than_state(sink.uid, self.location, written.begun, last_epoch)
        self._done, self._begun = written.done, written.begun
        if written.begun < 0 and (made or self._is_empty(connection)):
            self._ledger.claim(connection)
        if self._atomic:
            drop = sql.SQL("DROP TABLE IF EXISTS {}").format(self._staging.quoted)
            connection.execute(drop)
            attempt = sql.SQL("''::text AS {}").format(sql.Identifier(tasks.ATTEMPT))
            connection.execute(self._merge().stage(self._staging, temporary=False, more=[attempt]))

    def _is_empty(self, connection: Connection) -> bool:
        query = sql.SQL("SELECT 1 FROM {} LIMIT 1").format(self._table.quoted)
        return connection.execute(query).fetchone() is None

    # --- an epoch

    def _rows(self, batch: DataFrame) -> DataFrame:
        """What is copied: the sink's columns, of changes their operation, and what orders them."""
        columns: list[Column] = []
        for field in struct_of(self._sink.columns).fields:
            column = F.col(quote(field.name)).cast(field.dataType)
            if is_json(field.dataType):
                column = F.to_json(column, {"ignoreNullFields": "false"})
            columns.append(column.alias(field.name, metadata={}))
        if self._sink.upsert:
            columns.append(F.col(OP_COLUMN))
        if self._merges and SEQUENCE_COLUMN in batch.columns:
            parts = zip(_SEQUENCE, ORDER_COLUMNS, strict=True)
            columns += [F.col(f"{SEQUENCE_COLUMN}.{part}").alias(name) for part, name in parts]
        return batch.select(*columns)

    def _merge(self, rows: DataFrame | None = None) -> Merge:
        """How staged rows are merged. Without rows: as for those that have all hidden columns."""
        sequenced = rows is None or ORDER_COLUMNS[0] in rows.columns
        names = tuple(column.name for column in self._sink.columns)
        order = ORDER_COLUMNS if sequenced else tuple(self._sink.order_by)
        return Merge(self._table, names, tuple(self._sink.primary_key), self._sink.upsert, order)

    def _part(self, epoch: int, rows: DataFrame) -> tasks.Part:
        hidden = {OP_COLUMN: Encoding("text"), **dict(zip(ORDER_COLUMNS, _SEQUENCE_ENCODINGS, strict=True))}
        return tasks.Part(
            address=self._address,
            ledger=self._ledger,
            incarnation=self._incarnation,
            epoch=epoch,
            encodings=tuple(self._encodings.get(name) or hidden[name] for name in rows.columns),
            copied=tuple(rows.columns),
            merge=self._merge(rows) if self._merges else None,
            target=self._table,
            staging=self._staging if self._atomic else None,
            again=self._sink.delivery == "at_least_once",
        )

    def _write(self, epoch: int, rows: DataFrame) -> bool:
        """Writes the epoch; begun anew while the database is away. False if it was there already."""
        computed = False

        def attempt() -> None:
            nonlocal computed
            with self._address.connect() as connection:
                count, done = self._ledger.begin(connection, self._incarnation, epoch, self._tasks(rows))
            if done:
                return
            computed = True
            part = self._part(epoch, rows)
            written = self._run(epoch, part, self._placed(rows, count))
            with self._address.connect() as connection:
                if self._atomic:
                    self._take(connection, epoch, rows, written)
                self._ledger.finish(connection, self._incarnation, epoch)
            self.rows_written += sum(written.values())

        try:
            retried(self._retries, attempt)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            # What tasks have staged, the table does not take.
            raise DiagnosticError(self._unstorable(epoch, one_line(error))) from error
        return computed

    def _run(self, epoch: int, part: tasks.Part, rows: DataFrame) -> dict[str, int]:
        """Runs the tasks; gives the rows that each of their attempts has written."""
        results = rows.mapInArrow(part, tasks.RESULT).collect()
        for result in results:
            if result["problem"] == tasks.VALUE:
                raise DiagnosticError(self._unstorable(epoch, result["detail"]))
            if result["problem"] == tasks.AMBIGUOUS:
                raise DiagnosticError(self._ambiguous(epoch, result["detail"]))
        for result in results:
            if result["problem"]:
                raise _Interrupted(result["detail"])
        return {result["attempt"]: result["written"] for result in results}

    def _tasks(self, rows: DataFrame) -> int:
        if self._merges and not self._sink.primary_key:
            return 1
        cores = rows.sparkSession.sparkContext.defaultParallelism
        return int(self._sink.options.get("sink.parallelism", min(cores, _MOST_TASKS)))

    def _placed(self, rows: DataFrame, count: int) -> DataFrame:
        if self._atomic:
            return rows
        return rows.repartition(count, *placed_by(self._sink))

    def _take(self, connection: Connection, epoch: int, rows: DataFrame, written: dict[str, int]) -> None:
        """Moves what the attempts that returned have staged into the table, and empties the stage."""
        if not self._ledger.lock(connection, self._incarnation, epoch):
            return
        attempts = [list(written)]
        names = list(rows.columns)
        columns = sql.SQL(", ").join(map(sql.Identifier, names))
        staged = sql.SQL("SELECT {} FROM {} WHERE {} = ANY (%s)").format(
            columns, self._staging.quoted, sql.Identifier(tasks.ATTEMPT)
        )
        if self._merges:
            merge = self._merge(rows)
            connection.execute(merge.stage(STAGE, temporary=True))
            into = STAGE
        else:
            into = self._table
        insert = sql.SQL("INSERT INTO {} ({}) {}").format(into.quoted, columns, staged)
        moved = connection.execute(insert, attempts).rowcount
        if moved != sum(written.values()):
            # A crash of the server empties tables that it does not log.
            raise _Interrupted("staged rows are gone")
        if self._merges and moved:
            self._merge(rows).apply(connection)
        connection.execute(sql.SQL("TRUNCATE {}").format(self._staging.quoted))

    # --- starting over

    def _check_empty(self, connection: Connection) -> None:
        if not tables.exists(connection, self._table) or self._is_empty(connection):
            return
        known = tables.exists(connection, self._ledger.table)
        if not known or not self._ledger.is_claimed(connection):
            raise ownership.foreign(
                self._sink.uid, self.location, "the table held rows before this sink came", "table"
            )

    def _empty(self, connection: Connection) -> None:
        if tables.exists(connection, self._table):
            connection.execute(sql.SQL("DELETE FROM {}").format(self._table.quoted))
        if tables.exists(connection, self._ledger.table):
            self._ledger.forget(connection)
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._staging.quoted))

    # --- what goes wrong

    def _parse_address(self) -> Address:
        try:
            return address(self._sink.options)
        except BadUrl as error:
            problem = f"the url of sink {self._sink.uid} cannot be used"
            fix = "write it as jdbc:postgresql://host:5432/database"
            raise DiagnosticError(Diagnostic(WRONG_VALUE, problem, cause=str(error), fix=fix)) from error

    def _with_connection(self, step: Callable[[Connection], None]) -> None:
        def attempt() -> None:
            with self._address.connect() as connection:
                step(connection)

        self._guarded(lambda: retried(self._retries, attempt))

    def _guarded(self, step: Callable[[], _T]) -> _T:
        try:
            return step()
        except psycopg.Error as error:
            passing = may_pass(error)
            problem = f"sink {self._sink.uid} cannot write to {self.location}"
            fix = (
                f"start the server, or correct the option url; it was tried {self._retries + 1} times"
                if passing
                else "correct url, username and password, or grant what is missing"
            )
            raise DiagnosticError(Diagnostic(UNREACHABLE, problem, cause=one_line(error), fix=fix)) from error

    def _unstorable(self, epoch: int, detail: str) -> Diagnostic:
        return Diagnostic(
            UNSTORABLE_VALUE,
            f"table {self._table.text} of sink {self._sink.uid} does not take a row of epoch {epoch}",
            cause=detail,
            fix="correct the data or the query, or change the table; the epoch runs again",
        )

    def _ambiguous(self, epoch: int, detail: str) -> Diagnostic:
        return Diagnostic(
            PRIMARY_KEY,
            f"epoch {epoch} of sink {self._sink.uid} has {detail}",
            cause="neither their arrival nor an event time says which is the last; nothing was written",
            fix="aggregate by the primary key, or keep one row a key, before the sink",
        )

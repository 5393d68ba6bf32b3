"""A Delta table: appends, or changes by primary key."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import types as t

from compiler.diagnostics.codes import TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.sinks import ownership
from runtime.connectors.sinks.base import SinkContext, columns_of
from runtime.connectors.sinks.delta_append import Append
from runtime.connectors.sinks.settle import settle
from runtime.spark.changes import DELETE
from runtime.spark.context import quote, struct_of

_LOG = "_delta_log"
_SINK, _PROJECT = "headrace.sink", "headrace.project"
_TXN = "spark.databricks.delta.write."
_LOOK_BACK = 20


class DeltaWriter:
    """Commits an epoch together with its number, under an application id of sink and checkpoint.

    With a primary key an epoch is merged: rows replace those of their key, and changes may delete them. Of
    several rows of one key the last counts (`settle`). Changes without a key are those of a table of one row.
    """

    def __init__(self, sink: Sink, ctx: SinkContext) -> None:
        self._sink = sink
        self._ctx = ctx
        self.folder = ownership.output_folder(sink, ctx.project_dir)
        self.location = str(sink.options["path"])
        self.rows_written = 0
        self._merges = bool(sink.primary_key) or sink.upsert
        self.passes = 2 if self._merges else 1
        self._incarnation = ""
        self._written = -1
        self._seen = -1
        self._evolves = sink.options.get("schema_evolution") == "add_columns"
        self._fits = False

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Looks for other people's files, and for epochs of a checkpoint that is gone."""
        self._incarnation = incarnation
        if not self._is_table():
            self._check_free()
            return
        epochs = self._epochs()
        others = [app for app in epochs if app.startswith(self._prefix()) and app != self._app()]
        # An upsert lands on the rows that it made before; appended rows would be there twice.
        if others and not self._merges:
            raise ownership.other_incarnation(self._sink.uid, self.folder)
        written = epochs.get(self._app(), -1)
        if written > last_epoch:
            raise ownership.newer_than_state(self._sink.uid, self.folder, written, last_epoch)
        self._written = written

    def has(self, epoch: int) -> bool:
        """Whether the table has the epoch's transaction."""
        return epoch <= self._written

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Commits the epoch, unless the table has it."""
        session = batch.sparkSession
        self._make_ready(session)
        # Nobody else commits under this application while the state root is locked; and if so all the
        # same, it is seen in the log, or Delta itself finds the transaction in its way.
        if self.has(epoch):
            return False
        if not self._merges:
            return self._append(session, epoch, columns_of(self._sink, batch))
        self._merge(session, epoch, settle(self._sink, epoch, batch))
        self._written = epoch
        self.rows_written += self._rows_of(epoch)
        return True

    def _append(self, session: SparkSession, epoch: int, rows: DataFrame) -> bool:
        append = Append(session, self.folder, self._app())
        # Nothing came between mostly; else what came may be ours, of a run that was thought to be dead.
        if append.read_version != self._seen:
            self._written = max(self._written, self._epochs().get(self._app(), -1))
            if self.has(epoch):
                return False
        self._seen = append.commit(epoch, rows, adds_columns=self._evolves)
        self._written = epoch
        self.rows_written += _rows_of(_actions(self.folder / _LOG / f"{self._seen:020}.json"))
        return True

    def check_empty(self) -> None:
        """The table must be made by this sink, and no other application may have committed to it."""
        if not self._is_table():
            self._check_free()
            return
        _, snapshot = _snapshot(self._ctx.session, self.folder)
        properties = snapshot.metadata().configuration()
        owner = tuple(_get(properties, key) for key in (_SINK, _PROJECT))
        if owner != (self._sink.uid, self._ctx.project):
            raise ownership.foreign(self._sink.uid, self.folder, "this sink did not create the table")
        strangers = [app for app in self._epochs() if not app.startswith(self._prefix())]
        if strangers:
            raise ownership.foreign(self._sink.uid, self.folder, f"{strangers[0]} writes to the table too")

    def empty(self) -> None:
        """Removes the table."""
        if not self._is_table():
            return
        # Renamed first, so that a kill leaves the table or nothing under its name.
        grave = self.folder.with_name(f".headrace_gone_{uuid.uuid4()}")
        self.folder.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)
        # Delta remembers tables by their path.
        jvm: Any = self._ctx.session._jvm
        jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def _prefix(self) -> str:
        return f"headrace/{self._ctx.project}/{self._sink.uid}/"

    def _app(self) -> str:
        return self._prefix() + self._incarnation

    def _is_table(self) -> bool:
        """Whether the log has a version; what a kill leaves of the first one has another name."""
        return any((self.folder / _LOG).glob("[0-9]*"))

    def _check_free(self) -> None:
        """The folder must be empty, but for the log of a table whose creation was cut off."""
        log = [entry for entry in (self.folder / _LOG).rglob("*") if entry.is_file()]
        cut_off = all(entry.name.startswith(".") for entry in log)
        if not ownership.is_empty(self.folder, *([_LOG] if cut_off else [])):
            raise ownership.foreign(self._sink.uid, self.folder, "the folder is not a Delta table")

    def _epochs(self) -> dict[str, int]:
        """The newest version of each application that has committed to the table."""
        log = self.folder / _LOG
        if not any(log.glob("*.checkpoint*")):
            # A young table's log is a few small files; Delta would start a Spark job for it.
            actions = [action for commit in sorted(log.glob("*.json")) for action in _actions(commit)]
            return {action["txn"]["appId"]: action["txn"]["version"] for action in actions if "txn" in action}
        jvm, snapshot = _snapshot(self._ctx.session, self.folder)
        found = jvm.scala.jdk.javaapi.CollectionConverters.asJava(snapshot.setTransactions())
        return {txn.appId(): txn.version() for txn in found}

    def _make_ready(self, session: SparkSession) -> None:
        """Creates the table, or looks once whether the one that is there fits."""
        from delta.tables import DeltaTable

        if self._fits:
            return
        self._fits = True
        if self._is_table():
            self._judge(DeltaTable.forPath(session, str(self.folder)).toDF().schema)
            return

        # Delta creates no table in a folder that has anything in it.
        shutil.rmtree(self.folder / _LOG, ignore_errors=True)
        builder = DeltaTable.createIfNotExists(session).location(str(self.folder))
        for column in self._sink.columns:
            builder = builder.addColumn(column.name, column.type)
        if self._sink.partition_by:
            builder = builder.partitionedBy(*self._sink.partition_by)
        builder.property(_SINK, self._sink.uid).property(_PROJECT, self._ctx.project).execute()

    def _judge(self, schema: t.StructType) -> None:
        """Delta would say so too, in other words and once for each column.

        Raises:
            DiagnosticError: columns are missing, or have other types (HR417).
        """
        there = {field.name.lower(): field.dataType for field in schema.fields}
        found: list[Diagnostic] = []
        for column, field in zip(self._sink.columns, struct_of(self._sink.columns).fields, strict=True):
            wanted, has = field.dataType, there.get(column.name.lower())
            if has is None and not self._evolves:
                found.append(
                    self._mismatch(
                        f"no column {column.name}", "schema_evolution = 'add_columns' adds it to the table"
                    )
                )
            elif has is not None and has != wanted:
                held = f"{has.simpleString()} in column {column.name}, not {wanted.simpleString()}"
                found.append(self._mismatch(held, "CAST it in the sink's query, or write to a new table"))
        if found:
            raise DiagnosticError(*found)

    def _mismatch(self, has: str, fix: str) -> Diagnostic:
        return Diagnostic(
            TABLE_MISMATCH, f"table {self.location} of sink {self._sink.uid} has {has}", fix=fix
        )

    def _merge(self, session: SparkSession, epoch: int, rows: DataFrame) -> None:
        from delta.tables import DeltaTable

        # NULL meets NULL: with plain equality each epoch would insert such a row again.
        same = [f"t.{quote(key)} <=> s.{quote(key)}" for key in self._sink.primary_key]
        values: dict[str, str | Column] = {
            quote(column.name): f"s.{quote(column.name)}" for column in self._sink.columns
        }
        stays = f"s.{OP_COLUMN} <> '{DELETE}'" if self._sink.upsert else "true"
        with _transaction(session, self._app(), epoch):
            merge = (
                DeltaTable.forPath(session, str(self.folder))
                .alias("t")
                .merge(rows.alias("s"), " AND ".join(same) or "true")
            )
            if self._evolves:
                merge = merge.withSchemaEvolution()
            if self._sink.upsert:
                merge = merge.whenMatchedDelete(f"s.{OP_COLUMN} = '{DELETE}'")
            merge.whenMatchedUpdate(set=values).whenNotMatchedInsert(stays, values=values).execute()

    def _rows_of(self, epoch: int) -> int:
        """Rows of the epoch, from its commit; others may have committed since."""
        commits = sorted((self.folder / _LOG).glob("*.json"), reverse=True)
        for commit in commits[:_LOOK_BACK]:
            actions = _actions(commit)
            txn = next((action["txn"] for action in actions if "txn" in action), None)
            if txn and (txn["appId"], txn["version"]) == (self._app(), epoch):
                return _rows_of(actions)
        return 0


def _rows_of(actions: list[dict[str, Any]]) -> int:
    """Rows that a commit has written, or of a merge has been given."""
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    metrics = info.get("operationMetrics", {})
    return int(metrics.get("numSourceRows", metrics.get("numOutputRows", 0)))


def _actions(commit: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in commit.read_text().splitlines() if line]


@contextmanager
def _transaction(session: SparkSession, app: str, epoch: int) -> Iterator[None]:
    """MERGE takes its transaction from the session; with autoReset from one statement only."""
    values = {"txnAppId": app, "txnVersion": str(epoch), "txnVersion.autoReset.enabled": "true"}
    for key, value in values.items():
        session.conf.set(_TXN + key, value)
    try:
        yield
    finally:
        for key in values:
            session.conf.unset(_TXN + key)


def _snapshot(session: SparkSession, folder: Path) -> tuple[Any, Any]:
    jvm: Any = session._jvm  # Delta has no Python API for its transactions
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    return jvm, log.forTableWithSnapshot(session._jsparkSession, str(folder))._2()


def _get(mapping: Any, key: str) -> str | None:
    found = mapping.get(key)
    return str(found.get()) if found.isDefined() else None

"""A Delta table as a stream: the rows that it has, then those that are appended."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import types as t

from compiler.diagnostics.codes import MISSING_PATH, TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Scan
from runtime.connectors import paths
from runtime.connectors.sources.base import schema_of
from runtime.spark.context import Context

_OPTIONS = {
    "max_files_per_epoch": "maxFilesPerTrigger",
    "starting_version": "startingVersion",
    "starting_timestamp": "startingTimestamp",
}
_ON_CHANGE = {"skip": "skipChangeCommits"}


class DeltaSource:
    """Delta's own stream. A commit that changes or deletes rows ends it, unless such commits are skipped."""

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """A folder that is no table."""
        found = no_table(scan.source, str(scan.options["path"]), project_dir)
        return [found] if found else []

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """Nothing: the table's own log says what an epoch reads, and Delta fails if it is gone."""
        return []

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The table's columns, of which those that are declared must be there with their types.

        Raises:
            DiagnosticError: they are not (HR417).
        """
        reader = ctx.session.readStream.name(scan.read_name).format("delta")
        for ours, deltas in _OPTIONS.items():
            if ours in scan.options:
                reader = reader.option(deltas, str(scan.options[ours]))
        change = _ON_CHANGE.get(str(scan.options.get("on_change", "fail")))
        if change is not None:
            reader = reader.option(change, "true")
        path = str(scan.options["path"])
        rows = reader.load(path if paths.is_url(path) else str(paths.local(path, ctx.project_dir)))
        found = mismatches(scan.source, schema_of(scan), rows.schema)
        if found:
            raise DiagnosticError(*found)
        return rows


def no_table(source: str, path: str, project_dir: Path) -> Diagnostic | None:
    """HR605 for a local folder that is no table."""
    log = paths.local(path, project_dir) / "_delta_log"
    if paths.is_url(path) or log.is_dir():
        return None
    return Diagnostic(
        MISSING_PATH,
        f"path '{path}' of source {source} is no Delta table",
        cause=f"there is no {log}",
        fix="create the table, or correct the option 'path'",
    )


def mismatches(source: str, ddl: str, schema: t.StructType) -> list[Diagnostic]:
    """HR417 for declared columns that the table has not, or with another type."""
    declared = t.StructType.fromDDL(ddl)
    assert isinstance(declared, t.StructType)
    there = {field.name.lower(): field.dataType for field in schema.fields}
    return [
        Diagnostic(
            TABLE_MISMATCH,
            f"the table of source {source} has {has} {field.name}",
            cause=cause,
            fix="declare the columns as the table has them, and CAST in a model",
        )
        for field in declared.fields
        if (found := there.get(field.name.lower())) != field.dataType
        for has, cause in (
            ("no column", f"its columns are {', '.join(schema.names)}")
            if found is None
            else ("another type of column", f"it is {found.simpleString()}"),
        )
    ]

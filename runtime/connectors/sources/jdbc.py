"""A table of a database as a stream that ends: the rows that it has when the query first starts."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import types as t

from compiler.diagnostics.codes import STATE_BROKEN, TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Scan
from runtime.connectors import paths
from runtime.connectors.lookups.pins import folder_name
from runtime.connectors.postgres import snapshot
from runtime.connectors.postgres.read import arrow_type
from runtime.connectors.sources.base import schema_of
from runtime.files import TEMPORARY, rename_durably
from runtime.spark.context import Context

_FOREVER = "36500d"
# The star stands for the hash of the content, by which a file that is damaged is told.
_ROWS = "rows-*.parquet"


class JdbcSource:
    """Reads the table once for a checkpoint, as Flink's bounded scan does, and keeps what it has read.

    The query streams the kept file: a replay reads it again, and a later run finds nothing new. Before the
    checkpoint has begun an epoch nothing depends on the file, so one that a killed run did not finish is
    taken anew.
    """

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """Nothing: the server is asked when the query starts."""
        return []

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """Nothing: what was read lies beside the log."""
        return []

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The stream of the kept rows.

        Raises:
            DiagnosticError: the table cannot be read, or was read when other columns were declared (HR417),
                or what was kept of it is damaged (HR505).
        """
        assert ctx.query_folder is not None
        schema = schema_of(scan)
        folder = ctx.query_folder / "tables" / folder_name(scan.source)
        file = next(folder.glob(_ROWS), None)
        if file is None:
            taken = folder / f"{TEMPORARY}rows"
            timezone = str(ctx.session.conf.get("spark.sql.session.timeZone"))
            snapshot.take(scan.source, scan.options, schema, timezone, taken)
            file = folder / _ROWS.replace("*", _digest(taken))
            rename_durably(taken, file)
        elif file.name != _ROWS.replace("*", _digest(file)):
            raise DiagnosticError(_damaged(scan.source, file))
        found = _other_columns(scan, schema, file)
        if found:
            raise DiagnosticError(*found)
        reader = ctx.session.readStream.name(scan.read_name).format("parquet").schema(schema)
        return reader.option("maxFileAge", _FOREVER).load(paths.literal(str(folder)))


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _damaged(source: str, file: Path) -> Diagnostic:
    return Diagnostic(
        STATE_BROKEN,
        f"the rows that were read for source {source} are not there as they were written",
        cause=f"{file} has another content than its name says",
        fix="bring the file back from a copy; or run with --full-refresh, which reads the table anew",
    )


def _other_columns(scan: Scan, ddl: str, file: Path) -> list[Diagnostic]:
    kind = t.StructType.fromDDL(ddl)
    assert isinstance(kind, t.StructType)
    kept = {field.name: field.type for field in pq.read_schema(file)}
    return [
        Diagnostic(
            TABLE_MISMATCH,
            f"the rows of source {scan.source} were read without a column {field.name}, "
            f"or not as {field.dataType.simpleString()}",
            cause="a table is read once, with the columns that are declared then",
            fix="run with --full-refresh to read it anew, or declare the columns as they were",
        )
        for field in kind.fields
        if kept.get(field.name) != arrow_type(field)
    ]

"""Tables of a database as tables."""

from __future__ import annotations

import uuid
from pathlib import Path

import psycopg
from pyspark.sql import DataFrame
from pyspark.sql import types as t

from compiler.diagnostics.codes import BAD_RECORD, UNREACHABLE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import LookupTable
from runtime.connectors import paths
from runtime.connectors.lookups.pins import Pins, folder_name, remove_but
from runtime.connectors.postgres import read, table
from runtime.connectors.postgres.connection import Address, BadUrl, address, may_pass, one_line, retried
from runtime.files import TEMPORARY
from runtime.spark.context import Context, quote

_RETRIES = 5


class JdbcLookup:
    """A table of PostgreSQL is read by one statement and kept in the query's folder as a Parquet file.

    So a replay reads what the epoch has read, whatever has happened to the table.
    """

    def read(self, lookup: LookupTable, ctx: Context) -> DataFrame:
        """The rows that were there when the epoch began."""
        assert ctx.query_folder is not None
        assert ctx.epoch is not None
        schema = ", ".join(f"{quote(column.name)} {column.type}" for column in lookup.columns)
        folder = ctx.query_folder / "lookups" / folder_name(lookup.uid)
        copies, pins = folder / "files", Pins(folder)
        timezone = str(ctx.session.conf.get("spark.sql.session.timeZone"))
        parts = pins.of(ctx.epoch, lookup.refresh_ms, lambda: (_saved(lookup, schema, timezone, copies),))
        remove_but(pins.parts(), copies)
        files = [paths.literal(str(copies / name)) for name in parts]
        return ctx.session.read.schema(schema).parquet(*files)


def _saved(lookup: LookupTable, ddl: str, timezone: str, folder: Path) -> str:
    """Reads the table into a file of the folder; gives its name."""
    kind = t.StructType.fromDDL(ddl)
    assert isinstance(kind, t.StructType)
    where = _address(lookup)
    source = table.parse_table(str(lookup.options["table"]))
    retries = int(lookup.options.get("max_retries", _RETRIES))
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{uuid.uuid4().hex}.parquet"
    temporary = folder / f"{TEMPORARY}{name}"

    def attempt() -> None:
        with where.connect() as connection:
            columns = read.columns_of(connection, lookup.uid, source, kind.fields)
            read.save(connection, source, columns, kind.fields, timezone, temporary)

    try:
        retried(retries, attempt)
    except read.UnreadableValue as error:
        problem = f"table {source.text} of source {lookup.uid} has a value that is none of the declared type"
        fix = "declare the column wider, or as STRING"
        raise DiagnosticError(Diagnostic(BAD_RECORD, problem, cause=str(error), fix=fix)) from error
    except psycopg.Error as error:
        fix = (
            f"start the server, or correct the option url; it was tried {retries + 1} times"
            if may_pass(error)
            else "correct url, username and password, or grant what is missing"
        )
        problem = f"source {lookup.uid} cannot read {where.shown} {source.text}"
        raise DiagnosticError(Diagnostic(UNREACHABLE, problem, cause=one_line(error), fix=fix)) from error
    temporary.rename(folder / name)
    return name


def _address(lookup: LookupTable) -> Address:
    try:
        return address(lookup.options)
    except BadUrl as error:
        problem = f"the url of source {lookup.uid} cannot be used"
        fix = "write it as jdbc:postgresql://host:5432/database"
        raise DiagnosticError(Diagnostic(WRONG_VALUE, problem, cause=str(error), fix=fix)) from error

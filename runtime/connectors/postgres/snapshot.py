"""A table of a source, read once and kept as a file in the state root: a replay reads the same rows."""

from __future__ import annotations

from pathlib import Path

import psycopg
from pyspark.sql import types as t

from compiler.diagnostics.codes import BAD_RECORD, UNREACHABLE, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import Options
from runtime.connectors.postgres import read, table
from runtime.connectors.postgres.connection import Address, BadUrl, address, may_pass, one_line, retried
from runtime.files import TEMPORARY, rename_durably

_RETRIES = 5


def take(source: str, options: Options, ddl: str, timezone: str, file: Path) -> None:
    """Writes all rows of the option `table` into a Parquet file, which is there as a whole or not at all.

    Args:
        source: its uid, for messages.
        options: of the source, resolved.
        ddl: the declared columns.
        timezone: in which a timestamp without time zone is a moment.
        file: does not exist yet; its folder is made.

    Raises:
        DiagnosticError: the server does not answer or says no (HR610), the table does not have the columns
            (HR417), a value is none of its declared type (HR406), or the URL is wrong (HR104).
    """
    kind = t.StructType.fromDDL(ddl)
    assert isinstance(kind, t.StructType)
    where = _address(source, options)
    asked = table.parse_table(str(options["table"]))
    retries = int(options.get("max_retries", _RETRIES))
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"{TEMPORARY}{file.name}")

    def attempt() -> None:
        with where.connect() as connection:
            columns = read.columns_of(connection, source, asked, kind.fields)
            read.save(connection, asked, columns, kind.fields, timezone, temporary)

    try:
        retried(retries, attempt)
    except (read.UnreadableValue, psycopg.DataError) as error:
        problem = f"table {asked.text} of source {source} has a value that is none of the declared type"
        fix = "declare the column wider, or as STRING"
        raise DiagnosticError(Diagnostic(BAD_RECORD, problem, cause=one_line(error), fix=fix)) from error
    except psycopg.Error as error:
        fix = (
            f"start the server, or correct the option url; it was tried {retries + 1} times"
            if may_pass(error)
            else "correct url, username and password, or grant what is missing"
        )
        problem = f"source {source} cannot read {where.shown} {asked.text}"
        raise DiagnosticError(Diagnostic(UNREACHABLE, problem, cause=one_line(error), fix=fix)) from error
    rename_durably(temporary, file)


def _address(source: str, options: Options) -> Address:
    try:
        return address(options)
    except BadUrl as error:
        problem = f"the url of source {source} cannot be used"
        fix = "write it as jdbc:postgresql://host:5432/database"
        raise DiagnosticError(Diagnostic(WRONG_VALUE, problem, cause=str(error), fix=fix)) from error

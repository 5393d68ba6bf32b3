"""A table's rows, as of one moment, into a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_type

from compiler.diagnostics.codes import TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from runtime.connectors.postgres import table as tables
from runtime.connectors.postgres.table import Connection, Table, TableColumn
from runtime.connectors.postgres.types import ColumnType
from runtime.spark.buckets.arrow import compute as pc

_ROWS = 10_000

# Columns whose values are all values of Spark's type, too. A STRING takes what PostgreSQL writes as text.
_READABLE: dict[type[t.DataType], tuple[str, ...]] = {
    t.BooleanType: ("bool",),
    t.ShortType: ("int2",),
    t.IntegerType: ("int2", "int4"),
    t.LongType: ("int2", "int4", "int8"),
    t.FloatType: ("float4",),
    t.DoubleType: ("float4", "float8"),
    t.DecimalType: ("numeric", "int2", "int4", "int8"),
    t.DateType: ("date",),
    t.TimestampType: ("timestamptz", "timestamp"),
    t.BinaryType: ("bytea",),
}


def arrow_type(field: t.StructField) -> pa.DataType:
    """The type of a column in the file."""
    return to_arrow_type(field.dataType, timezone="UTC")


class UnreadableValue(ValueError):
    """A value that is there and that the declared type does not have."""


def columns_of(
    connection: Connection, source: str, table: Table, fields: Sequence[t.StructField]
) -> list[TableColumn]:
    """The table's columns for the declared ones.

    Raises:
        DiagnosticError: there is no such table, or column, or it is of another type (HR417).
    """
    if not tables.exists(connection, table):
        raise DiagnosticError(
            Diagnostic(
                TABLE_MISMATCH,
                f"table {table.text} of source {source} does not exist",
                fix="create it, or correct the option table",
            )
        )
    there = {column.name: column for column in tables.find_columns(connection, table) or []}
    found = [problem for field in fields for problem in _problems(source, table, field, there)]
    if found:
        raise DiagnosticError(*found)
    return [there[field.name] for field in fields]


def save(
    connection: Connection,
    table: Table,
    columns: Sequence[TableColumn],
    fields: Sequence[t.StructField],
    timezone: str,
    file: Path,
) -> None:
    """Writes the rows that one statement sees.

    Args:
        connection: in no transaction yet.
        table: which.
        columns: of the table.
        fields: as they are declared.
        timezone: in which a timestamp without time zone is a moment.
        file: a Parquet file, made anew.

    Raises:
        psycopg.Error: the server fails.
        UnreadableValue: a value is none of the declared type.
    """
    chosen = sql.SQL(", ").join(
        sql.SQL("{}::text").format(sql.Identifier(field.name))
        if isinstance(field.dataType, t.StringType)
        else sql.Identifier(field.name)
        for field in fields
    )
    query = sql.SQL("SELECT {} FROM {}").format(chosen, table.quoted)
    schema = pa.schema([(field.name, arrow_type(field)) for field in fields])
    with pq.ParquetWriter(file, schema) as out, connection.cursor("headrace_read") as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(_ROWS):
            arrays = [
                _array(field.name, list(values), column.type, kind, timezone)
                for field, values, column, kind in zip(
                    fields, zip(*rows, strict=True), columns, schema.types, strict=True
                )
            ]
            out.write_batch(pa.record_batch(arrays, schema=schema))


def _array(name: str, values: list[Any], column: ColumnType, kind: pa.DataType, timezone: str) -> pa.Array:
    try:
        if column.name == "timestamp":
            # A time that comes twice is the first, and one that a zone leaps over the next that is.
            moments = pc.assume_timezone(
                pa.array(values, pa.timestamp("us")), timezone, ambiguous="earliest", nonexistent="latest"
            )
            return moments.cast(kind)
        return pa.array(values, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise UnreadableValue(f"column {name}: {error}") from error


def _problems(
    source: str, table: Table, field: t.StructField, there: dict[str, TableColumn]
) -> Iterator[Diagnostic]:
    column = there.get(field.name)
    declared = field.dataType.simpleString()
    if column is None:
        yield Diagnostic(
            TABLE_MISMATCH,
            f"table {table.text} of source {source} has no column {field.name}",
            cause=f"its columns are {', '.join(there)}",
            fix="correct the source's columns",
        )
    elif not _readable(field.dataType, column.type):
        yield Diagnostic(
            TABLE_MISMATCH,
            f"table {table.text} of source {source} has a column {field.name} that is no {declared}",
            cause=f"it is {column.type.shown}",
            fix="declare the column as the table has it, or as STRING, and CAST in a model",
        )


def _readable(kind: t.DataType, column: ColumnType) -> bool:
    if isinstance(kind, t.StringType):
        return True
    if isinstance(kind, t.ArrayType):
        # Of the elements, those of another zone would have to be moved one by one.
        element = column.element
        return element is not None and element.name != "timestamp" and _readable(kind.elementType, element)
    if isinstance(kind, t.DecimalType) and (column.scale or 0) > kind.scale:
        return False
    return column.name in _READABLE.get(type(kind), ())

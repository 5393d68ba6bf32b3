"""The table that a sink writes: looked at, judged, and made if that is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import types as t

from compiler.diagnostics.codes import TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic
from runtime.connectors.jdbc.connection import Connection, Database, DatabaseError
from runtime.connectors.table_findings import mismatch

# Codes of java.sql.Types, and of drivers of their own.
_BITS = (-7, 16)
_INTEGERS = {-6: 3, 5: 5, 4: 10, -5: 19}
_DECIMALS = (2, 3)
_FLOATS = (6, 7, 8, 100, 101)
_DOUBLES = (6, 8, 101)
_TEXTS = (1, 12, -1, -9, -15, -16, 2005, 2011, 1111, 2009)
_BYTES = (-2, -3, -4, 2004)
_TIMES = (93, 2014, -101, -102, -155)
_DIGITS: Final[dict[type[t.DataType], int]] = {
    t.ByteType: 3, t.ShortType: 5, t.IntegerType: 10, t.LongType: 19,
}  # fmt: skip
_SAME: Final[dict[type[t.DataType], tuple[int, ...]]] = {
    t.BooleanType: (*_BITS, *_INTEGERS, *_DECIMALS),
    t.FloatType: _FLOATS,
    t.DoubleType: _DOUBLES,
    t.StringType: _TEXTS,
    t.BinaryType: _BYTES,
    # Oracle's DATE has a time of day, and its driver calls it a timestamp.
    t.DateType: (91, 93),
    t.TimestampType: _TIMES,
}
# Where the type that Spark would make loses or refuses what it writes: fractions of seconds, digits, length.
_NEW: Final[dict[str, dict[type[t.DataType], str]]] = {
    "mysql": {t.TimestampType: "DATETIME(6)", t.BinaryType: "LONGBLOB"},
    "oracle": {t.FloatType: "BINARY_FLOAT", t.DoubleType: "BINARY_DOUBLE"},
    "sqlserver": {t.TimestampType: "DATETIME2(6)"},
}
# A text without a limit cannot be in an index.
_KEY_TEXT: Final = "VARCHAR(255)"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column that is there: its name, its type's code in java.sql.Types, and how a person writes it.

    A decimal without a precision has 0 for it, and takes any number.
    """

    name: str
    code: int
    shown: str
    precision: int
    scale: int


def is_json(kind: t.DataType) -> bool:
    """Whether values of the type are written as JSON."""
    return isinstance(kind, (t.ArrayType, t.MapType, t.StructType, t.VariantType))


def exists(connection: Connection, table: str) -> bool:
    """Whether there is a table, or a view, that can be read."""
    try:
        connection.row(f"SELECT 1 FROM {table} WHERE 1 = 0")
    except DatabaseError as error:
        if error.may_pass:
            raise
        return False
    return True


def find(connection: Connection, database: Database, names: Sequence[str | None]) -> str | None:
    """The name as SQL of a table that is there; None if there is none.

    A database that folds names to capitals has `orders` as ORDERS, unless it was made with quotes.
    """
    exact = database.quoted(*names)
    if exists(connection, exact):
        return exact
    if connection.java.getMetaData().storesUpperCaseIdentifiers():
        folded = database.quoted(*(name.upper() if name else None for name in names))
        if exists(connection, folded):
            return folded
    return None


def columns(connection: Connection, table: str) -> list[TableColumn]:
    """The columns of a table that is there."""
    statement = connection.java.prepareStatement(f"SELECT * FROM {table} WHERE 1 = 0")
    try:
        about = statement.executeQuery().getMetaData()
        return [
            TableColumn(
                str(about.getColumnName(n)),
                int(about.getColumnType(n)),
                str(about.getColumnTypeName(n)),
                int(about.getPrecision(n)),
                int(about.getScale(n)),
            )
            for n in range(1, about.getColumnCount() + 1)
        ]
    finally:
        statement.close()


def new_type(database: Database, field: t.StructField, key: Collection[str]) -> str:
    """The type of a column that is made for a sink's."""
    kind = t.StringType() if is_json(field.dataType) else field.dataType
    if isinstance(kind, t.StringType) and field.name in key:
        return _KEY_TEXT
    own = _NEW.get(database.product, {}).get(type(kind))
    if own:
        return own
    java: Any = database.jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())
    utils = database.jvm.org.apache.spark.sql.execution.datasources.jdbc.JdbcUtils
    return str(utils.getJdbcType(java, database.dialect).databaseTypeDefinition())


def create(database: Database, table: str, fields: Sequence[t.StructField], key: Collection[str]) -> str:
    """The statement that makes a table for a sink."""
    parts = [
        f"{database.quoted(field.name)} {new_type(database, field, key)}"
        + (" NOT NULL" if field.name in key else "")
        for field in fields
    ]
    if key:
        parts.append(f"PRIMARY KEY ({', '.join(map(database.quoted, key))})")
    return f"CREATE TABLE {table} ({', '.join(parts)})"


def judge_types(sink: str, fields: Sequence[t.StructField]) -> Iterator[Diagnostic]:
    """HR417 for columns that no table can hold."""
    for field in fields:
        kind = field.dataType
        if not (is_json(kind) or isinstance(kind, t.DecimalType) or type(kind) in (*_SAME, *_DIGITS)):
            yield Diagnostic(
                TABLE_MISMATCH,
                f"databases have no type for column {field.name} of sink {sink}",
                cause=f"it is {kind.simpleString()}",
                fix=f"write CAST({field.name} AS STRING)",
            )


def judge(
    database: Database,
    sink: str,
    table: str,
    there: Sequence[TableColumn],
    fields: Sequence[t.StructField],
    key: Collection[str],
    *,
    replaces: bool,
) -> tuple[dict[str, str], list[Diagnostic]]:
    """The table's name of each of a sink's columns, and what stands in the way (HR417).

    Args:
        database: of the table.
        sink: its uid.
        table: its name.
        there: the columns that it has.
        fields: the columns that are written.
        key: of the sink.
        replaces: whether the sink replaces rows, and so would empty columns that are not its own.
    """
    exact = {column.name: column for column in there}
    folded = {column.name.lower(): column for column in there}
    names: dict[str, str] = {}
    found: list[Diagnostic] = []
    for field in fields:
        column = exact.get(field.name) or folded.get(field.name.lower())
        wanted = new_type(database, field, key)
        if column is None:
            found.append(
                mismatch(
                    sink, table, f"no column {field.name}",
                    f"its columns are {', '.join(exact)}",
                    f"add one of the type {wanted} to the table, or rename the sink's with AS",
                )
            )  # fmt: skip
        elif not _holds(field.dataType, column):
            found.append(
                mismatch(
                    sink, table, f"a column {column.name} that cannot hold the sink's",
                    f"it is {_text(column)}, its sink's {field.dataType.simpleString()} needs {wanted}",
                    "change the table's column, or CAST the column in the sink's query",
                )
            )  # fmt: skip
        else:
            names[field.name] = column.name
    others = [column.name for column in there if column.name not in names.values()]
    if replaces and others and not found:
        found.append(
            mismatch(
                sink, table, f"a column {others[0]} that is not the sink's",
                "a row is replaced by deleting it and inserting the new one, which would empty that column",
                f"add {', '.join(others)} to the sink, or write to a table without",
            )
        )  # fmt: skip
    return names, found


def _holds(kind: t.DataType, column: TableColumn) -> bool:
    if is_json(kind):
        return column.code in _TEXTS
    digits = _DIGITS.get(type(kind))
    if digits is not None:
        return _INTEGERS.get(column.code, 0) >= digits or _holds_decimal(digits, 0, column)
    if isinstance(kind, t.DecimalType):
        return _holds_decimal(kind.precision, kind.scale, column)
    return column.code in _SAME.get(type(kind), ())


def _holds_decimal(precision: int, scale: int, column: TableColumn) -> bool:
    if column.code not in _DECIMALS:
        return False
    whole = column.precision - column.scale
    return column.precision == 0 or (column.scale >= scale and whole >= precision - scale)


def _text(column: TableColumn) -> str:
    if column.code in _DECIMALS and column.precision:
        return f"{column.shown}({column.precision},{column.scale})"
    return column.shown

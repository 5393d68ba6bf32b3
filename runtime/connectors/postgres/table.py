"""The table that a sink writes: looked at, judged, and made if that is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import sql
from pyspark.sql import types as t

from compiler.diagnostics.codes import TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic
from runtime.connectors.names import split_name
from runtime.connectors.postgres.encode import Encoding
from runtime.connectors.postgres.types import ColumnType, encoding, new_type
from runtime.connectors.table_findings import mismatch

Connection = psycopg.Connection[tuple[object, ...]]

_COLUMNS = """
SELECT a.attname, a.attnotnull, a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '',
       a.attgenerated <> '' OR a.attidentity = 'a', format_type(a.atttypid, a.atttypmod),
       b.typname, b.oid, b.typtype = 'e',
       CASE WHEN y.typtype = 'd' THEN y.typtypmod ELSE a.atttypmod END,
       e.typname, e.oid, e.typtype = 'e'
FROM pg_attribute a
JOIN pg_type y ON y.oid = a.atttypid
JOIN pg_type b ON b.oid = CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE y.oid END
LEFT JOIN pg_type e ON e.oid = b.typelem AND b.typcategory = 'A'
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
# Indexes that ON CONFLICT (…) can use, each with its columns.
_KEYS = """
SELECT array_agg(a.attname::text)
FROM pg_index i
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[:i.indnkeyatts - 1])
WHERE i.indrelid = %s::regclass AND i.indisunique AND i.indimmediate AND i.indisvalid
  AND i.indpred IS NULL AND i.indexprs IS NULL
GROUP BY i.indexrelid
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its schema (None: the first of the search path that has it) and name."""

    schema: str | None
    name: str

    @property
    def quoted(self) -> sql.Identifier:
        """The name as SQL."""
        return sql.Identifier(*filter(None, (self.schema, self.name)))

    @property
    def text(self) -> str:
        """The name as SQL text, for `regclass` and for people."""
        return self.quoted.as_string(None)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column that is there. `filled` says that it has a value without ours, `closed` that it takes none."""

    name: str
    type: ColumnType
    not_null: bool
    filled: bool
    closed: bool


def parse_table(text: str) -> Table:
    """`orders`, `shop.orders`; a name with dots or capitals that matter stands in double quotes."""
    return Table(*split_name(text))


def find_columns(connection: Connection, table: Table) -> list[TableColumn] | None:
    """The table's columns, None if there is no such table."""
    if not exists(connection, table):
        return None
    found = []
    for row in connection.execute(_COLUMNS, [table.text]):
        (name, not_null, filled, closed, shown, type_name, oid, is_enum, typmod, e_name, e_oid, e_enum) = row
        element = (
            ColumnType(str(e_name), str(e_name), is_enum=bool(e_enum), oid=_int(e_oid)) if e_name else None
        )
        precision = scale = None
        if type_name == "numeric" and _int(typmod) >= 0:
            # numeric.c: the precision in the upper half, the scale in eleven bits with a sign.
            packed = _int(typmod) - 4
            precision, scale = packed >> 16 & 0xFFFF, ((packed & 0x7FF) ^ 1024) - 1024
        kind = ColumnType(str(type_name), str(shown), precision, scale, bool(is_enum), element, _int(oid))
        found.append(TableColumn(str(name), kind, bool(not_null), bool(filled), bool(closed)))
    return found


def exists(connection: Connection, table: Table) -> bool:
    """Whether there is a table, or a view, of that name."""
    row = connection.execute("SELECT to_regclass(%s)", [table.text]).fetchone()
    return row is not None and row[0] is not None


def create(table: Table, fields: Sequence[t.StructField], key: Sequence[str]) -> sql.Composed:
    """The statement that makes a table for a sink."""
    columns = [
        sql.SQL("{} {}{}").format(
            sql.Identifier(field.name),
            sql.SQL(new_type(field.dataType) or "text"),  # pyright: ignore[reportArgumentType]  # of a list of ours
            sql.SQL(" NOT NULL" if field.name in key else ""),
        )
        for field in fields
    ]
    if key:
        columns.append(sql.SQL("PRIMARY KEY ({})").format(sql.SQL(", ").join(map(sql.Identifier, key))))
    return sql.SQL("CREATE TABLE {} ({})").format(table.quoted, sql.SQL(", ").join(columns))


def judge_types(sink: str, fields: Sequence[t.StructField]) -> Iterator[Diagnostic]:
    """HR417 for columns that no table can hold."""
    for field in fields:
        if new_type(field.dataType) is None:
            yield Diagnostic(
                TABLE_MISMATCH,
                f"PostgreSQL has no type for column {field.name} of sink {sink}",
                cause=f"it is {field.dataType.simpleString()}",
                fix=f"write CAST({field.name} AS STRING)",
            )


def judge(
    connection: Connection, sink: str, table: Table, fields: Sequence[t.StructField], key: Sequence[str]
) -> tuple[dict[str, Encoding], list[Diagnostic]]:
    """How each column is written into a table that is there, and what stands in the way (HR417)."""
    there = {column.name: column for column in find_columns(connection, table) or []}
    encodings: dict[str, Encoding] = {}
    found: list[Diagnostic] = []
    for field in fields:
        wanted = new_type(field.dataType) or "text"
        column = there.get(field.name)
        how = encoding(field.dataType, column.type) if column else None
        if column is None:
            near = next((name for name in there if name.lower() == field.name.lower()), None)
            fix = f"ALTER TABLE {table.text} ADD COLUMN {_quoted(field.name)} {wanted}"
            found.append(
                mismatch(
                    sink, table.text, f"no column {field.name}", f"its columns are {', '.join(there)}",
                    f"rename it to {near}, with AS" if near else fix,
                )
            )  # fmt: skip
        elif column.closed:
            found.append(mismatch(sink, table.text, f"a column {field.name} that it fills itself",
                                   "it is generated", "leave the column out of the sink"))  # fmt: skip
        elif how is None:
            found.append(
                mismatch(
                    sink, table.text, f"a column {field.name} that cannot hold the sink's",
                    f"it is {column.type.shown}, its sink's {field.dataType.simpleString()} needs {wanted}",
                    f"ALTER TABLE {table.text} ALTER COLUMN {_quoted(field.name)} TYPE {wanted}, "
                    "or CAST the column in the sink's query",
                )
            )  # fmt: skip
        else:
            encodings[field.name] = how
    ours = {field.name for field in fields}
    found += [
        mismatch(
            sink,
            table.text,
            f"a column {column.name} that must have a value, and the sink has none for it",
            "it is NOT NULL and has no default",
            f"add it to the sink, or ALTER TABLE {table.text} ALTER {_quoted(column.name)} DROP NOT NULL",
        )
        for column in there.values()
        if column.name not in ours and column.not_null and not column.filled
    ]
    if key and not found and set(key) not in _unique_keys(connection, table):
        columns = ", ".join(map(_quoted, key))
        found.append(
            mismatch(
                sink, table.text, f"no unique index on ({columns})",
                "the sink finds the row that it replaces by its primary key",
                f"ALTER TABLE {table.text} ADD PRIMARY KEY ({columns})",
            )
        )  # fmt: skip
    return encodings, found


def _unique_keys(connection: Connection, table: Table) -> list[set[str]]:
    rows = connection.execute(_KEYS, [table.text]).fetchall()
    return [set(row[0]) for row in rows if isinstance(row[0], list)]


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string(None)


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value

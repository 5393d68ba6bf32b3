"""Avro in messages, by Spark's own functions, so that a message that cannot be read can be told."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import partial, reduce
from operator import or_
from typing import Any, Final

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError

# What the failure mapper looks for.
UNKNOWN_SCHEMA_MARKER: Final = "[headrace:unknown_schema]"

WHOLE: Final = "__whole"
"""A field beside those of a record, which is NULL if its bytes could not be read."""

_HEADER: Final = 5


def read_avro(data: Column, schema: str) -> Column:
    """Bytes as a struct. `is_broken` tells those that are no record of the schema.

    Spark makes a row of NULLs of them, which a record can be as well. So a field is read that no record has:
    its default stands in each that could be read to its end.
    """
    record = record_in(json.loads(schema))
    mark = {"name": WHOLE, "type": ["boolean", "null"], "default": True}
    # Spark reads no union at the top; a record can be read of one, and null is none.
    wanted = {**record, "fields": [*record["fields"], mark]}
    return from_avro(data, schema, {"mode": "PERMISSIVE", "avroSchema": json.dumps(wanted)})


def record_in(schema: Any) -> dict[str, Any]:
    """The record that a schema describes, by itself or in a union with null; an empty dict if it does not."""
    branches = schema if isinstance(schema, list) else [schema]
    found = [branch for branch in branches if branch not in ("null", {"type": "null"})]
    record = found[0] if len(found) == 1 else None
    return record if isinstance(record, dict) and record.get("type") in ("record", "error") else {}


def nullable(type_: str) -> str:
    """A type all of whose parts may be NULL: Spark refuses a cast of what may be to what may not."""
    return type_.replace(" NOT NULL", "")


def fitted(value: Column, type_: str) -> tuple[Column, Column]:
    """A value in a column's type, and whether it is one that the type does not hold.

    A nested value that does not fit fails the epoch instead: of a part of it nothing could be told.
    """
    if "<" in type_:
        return value.cast(nullable(type_)), F.lit(False)
    found = value.try_cast(nullable(type_))
    return found, value.isNotNull() & found.isNull()


def read_registered(
    data: Column, schemas: Mapping[int, str], columns: Mapping[str, str], source: str
) -> Column:
    """Bytes behind a header, a zero and the number of their schema, as a struct of columns by their types.

    A schema may lack columns, which are NULL then. A number that is not among `schemas` fails the epoch: it
    came after the query began, and who reads them anew knows it. `is_broken` tells what cannot be read.
    NULL in place of bytes gives NULL.
    """
    number = F.conv(F.hex(F.substring(data, 2, 4)), 16, 10).cast("int")
    headed = (F.octet_length(data) > _HEADER) & (F.hex(F.substring(data, 1, 1)) == "00")
    body = F.substring(data, _HEADER + 1, 2**31 - 1)
    unknown = F.concat(F.lit(f"{UNKNOWN_SCHEMA_MARKER} source={source} schema="), number.cast("string"))
    row = F.when(~headed, F.lit(None)).otherwise(F.raise_error(unknown))
    for known, schema in schemas.items():
        # A lambda's parameter is computed once; the call itself would be for each field that is taken of it.
        decoded = F.array(read_avro(body, schema))
        mine = F.transform(decoded, partial(_as_declared, _names(schema), columns)).getItem(0)
        row = F.when(headed & (number == known), mine).otherwise(row)
    # What is not there is no record, neither a good one nor a bad one.
    return F.when(data.isNotNull(), row)


def check_record(schema: str, whose: str) -> None:
    """Looks whether a schema is one of records, which alone have fields for columns.

    Args:
        schema: as a registry has it.
        whose: of what it is, for the message.

    Raises:
        DiagnosticError: it is not (HR104).
    """
    try:
        written = json.loads(schema)
    except ValueError:
        written = None
    if record_in(written):
        return
    kind = written.get("type") if isinstance(written, dict) else written
    raise DiagnosticError(
        Diagnostic(
            WRONG_VALUE,
            f"{whose} is none of an Avro record",
            cause=f"it is of type {json.dumps(kind)}" if kind else "it is not Avro's JSON",
            fix="name a subject whose schemas are records, which have fields for the columns",
        )
    )


def _names(schema: str) -> frozenset[str]:
    return frozenset(str(field["name"]).lower() for field in record_in(json.loads(schema))["fields"])


def _as_declared(fields: Collection[str], columns: Mapping[str, str], record: Column) -> Column:
    values = {n: record.getField(n) if n.lower() in fields else F.lit(None) for n in columns}
    parts = {name: fitted(value, columns[name]) for name, value in values.items()}
    lost = reduce(or_, (lost for _, lost in parts.values()))
    whole = F.when(~lost, record.getField(WHOLE)).alias(WHOLE)
    return F.struct(*(value.alias(name) for name, (value, _) in parts.items()), whole)


def is_broken(record: Column) -> Column:
    """Whether what `read_avro` gives is of bytes that it could not read."""
    return record.getField(WHOLE).isNull()


def clocks_of(schema: str, session: SparkSession) -> dict[str, str]:
    """The types that fields of a schema have in Spark, by their names in lower case, if one is a local time.

    Spark writes such a field of no other type than its own; all else is of the types of its columns already.
    """
    if "local-timestamp-" not in schema:
        return {}
    record = from_avro(F.lit(b""), json.dumps(record_in(json.loads(schema)))).alias("record")
    fields = session.range(0).select(record).select("record.*").schema.fields
    return {field.name.lower(): field.dataType.simpleString() for field in fields}


def write_avro(row: Column, schema: str, number: int | None) -> Column:
    """A struct as bytes, behind a header with the number of its schema if that has one."""
    record = to_avro(row, schema)
    return record if number is None else F.concat(F.unhex(F.lit(f"00{number:08x}")), record)

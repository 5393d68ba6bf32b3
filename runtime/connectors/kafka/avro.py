"""Avro in messages, by Spark's own functions, so that a message that cannot be read can be told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

# What the failure mapper looks for.
UNKNOWN_SCHEMA_MARKER: Final = "[headrace:unknown_schema]"

_WHOLE: Final = "__whole"
_HEADER: Final = 5


def read_avro(data: Column, schema: str) -> Column:
    """Bytes as a struct. `is_broken` tells those that are no record of the schema.

    Spark makes a row of NULLs of them, which a record can be as well. So a field is read that no record has:
    its default stands in each that could be read to its end.
    """
    written = json.loads(schema)
    mark = {"name": _WHOLE, "type": ["boolean", "null"], "default": True}
    wanted = {**written, "fields": [*written["fields"], mark]}
    return from_avro(data, schema, {"mode": "PERMISSIVE", "avroSchema": json.dumps(wanted)})


def nullable(type_: str) -> str:
    """A type all of whose parts may be NULL: Spark refuses a cast of what may be to what may not."""
    return type_.replace(" NOT NULL", "")


def read_registered(
    data: Column, schemas: Mapping[int, str], columns: Mapping[str, str], source: str
) -> Column:
    """Bytes behind a header, a zero and the number of their schema, as a struct of columns by their types.

    A schema may lack columns, which are NULL then. A number that is not among `schemas` fails the epoch: it
    came after the query began, and who reads them anew knows it. `is_broken` tells what cannot be read.
    """
    number = F.conv(F.hex(F.substring(data, 2, 4)), 16, 10).cast("int")
    headed = (F.octet_length(data) > _HEADER) & (F.hex(F.substring(data, 1, 1)) == "00")
    body = F.substring(data, _HEADER + 1, 2**31 - 1)
    unknown = F.concat(F.lit(f"{UNKNOWN_SCHEMA_MARKER} source={source} schema="), number.cast("string"))
    row = F.when(~headed, F.lit(None)).otherwise(F.raise_error(unknown))
    for known, schema in schemas.items():
        record = read_avro(body, schema)
        fields = {str(field["name"]).lower() for field in json.loads(schema).get("fields", ())}
        values = {n: record.getField(n) if n.lower() in fields else F.lit(None) for n in columns}
        parts = [value.cast(nullable(columns[name])).alias(name) for name, value in values.items()]
        mine = F.struct(*parts, record.getField(_WHOLE).alias(_WHOLE))
        row = F.when(headed & (number == known), mine).otherwise(row)
    return row


def is_broken(record: Column) -> Column:
    """Whether what `read_avro` gives is of bytes that it could not read."""
    return record.getField(_WHOLE).isNull()


def write_avro(row: Column, schema: str, number: int | None) -> Column:
    """A struct as bytes, behind a header with the number of its schema if that has one."""
    record = to_avro(row, schema)
    return record if number is None else F.concat(F.unhex(F.lit(f"00{number:08x}")), record)

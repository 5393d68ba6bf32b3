"""Avro in messages, by Spark's own functions, so that a message that cannot be read can be told."""

from __future__ import annotations

import json
from typing import Final

from pyspark.sql import Column
from pyspark.sql.avro.functions import from_avro, to_avro

_WHOLE: Final = "__whole"


def read_avro(data: Column, schema: str) -> Column:
    """Bytes as a struct. `is_broken` tells those that are no record of the schema.

    Spark makes a row of NULLs of them, which a record can be as well. So a field is read that no record has:
    its default stands in each that could be read to its end.
    """
    written = json.loads(schema)
    mark = {"name": _WHOLE, "type": ["boolean", "null"], "default": True}
    wanted = {**written, "fields": [*written["fields"], mark]}
    return from_avro(data, schema, {"mode": "PERMISSIVE", "avroSchema": json.dumps(wanted)})


def is_broken(record: Column) -> Column:
    """Whether what `read_avro` gives is of bytes that it could not read."""
    return record.getField(_WHOLE).isNull()


def write_avro(row: Column, schema: str) -> Column:
    """A struct as bytes."""
    return to_avro(row, schema)

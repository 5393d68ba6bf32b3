"""What Spark knows of the file that a row came from, under Flink's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Scan


def _path(file: Column) -> Column:
    """The path as Flink has it: without scheme and authority, and without the escapes of a URI."""
    path = F.regexp_replace(file.getField("file_path"), "^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?", "")
    # url_decode is for forms, where a plus is a blank.
    return F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))


KEYS: Final[dict[str, Callable[[Column], Column]]] = {
    "file.path": _path,
    "file.name": lambda file: F.element_at(F.split(_path(file), "/"), -1),
    "file.size": lambda file: file.getField("file_size"),
    "file.modification-time": lambda file: file.getField("file_modification_time"),
}


def file_metadata(rows: DataFrame, scan: Scan) -> list[Column]:
    """The metadata columns of a scan, over the rows as the reader gives them."""
    file = file_of(rows)
    return [KEYS[key](file).alias(name) for name, key in scan.metadata.items()]


def file_of(rows: DataFrame) -> Column:
    """Spark's struct of the file that a row came from."""
    # Not by name: a record may have a column of its own called `_metadata`.
    return rows.metadataColumn("_metadata")

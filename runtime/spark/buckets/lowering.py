"""A bucket operator as a DataFrame: pack, distribute, run, unpack."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from compiler.jobplan.model import Sort
from runtime.spark.buckets.operator import BucketOperator
from runtime.spark.buckets.ordering import OrderBy
from runtime.spark.buckets.packing import BUCKET, PACKED, ROWS, packer, unpacker
from runtime.spark.buckets.processor import BucketProcessor
from runtime.spark.context import event_time, quote

# By itself JSON has milliseconds, in the session's zone.
_EXACT = {
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def bucketed(
    operator: BucketOperator,
    inputs: Sequence[tuple[DataFrame, Sequence[Column]]],
    buckets: int,
    output: StructType,
    event_times: dict[str, int] | None = None,
) -> DataFrame:
    """The stream that an operator makes of its inputs.

    Args:
        operator: what runs on each bucket.
        inputs: streams, each with the keys by which its rows are distributed; without a key all rows are in
            one bucket. Keys of the inputs have the same types.
        buckets: how many there are. It is part of the state: a checkpoint is read with the number that it
            was written with.
        output: columns of the result.
        event_times: columns of the result that are event times, with their delay in milliseconds; the
            operators above close, evict and drop by them.
    """
    session = inputs[0][0].sparkSession
    packed = [
        rows.select(_bucket(keys, buckets).alias(BUCKET), "*").mapInArrow(packer(buckets, number), PACKED)
        for number, (rows, keys) in enumerate(inputs)
    ]
    schemas = [arrow_schema(rows.schema, session) for rows, _ in inputs]
    emitted = (
        reduce(DataFrame.union, packed)
        .groupBy(BUCKET)
        .transformWithState(
            BucketProcessor(operator, schemas), f"{ROWS} BINARY", outputMode="append", timeMode="eventTime"
        )
    )
    plain = StructType(list(output))
    rows = emitted.mapInArrow(unpacker(arrow_schema(plain, session)), plain)
    marks = event_times or {}
    return rows.select(
        *(F.col(quote(f.name)).alias(f.name, metadata=event_time(marks.get(f.name))) for f in plain)
    )


def numbered(value: Column, kind: DataType) -> Column:
    """A value that Arrow gives a number to: a nested one becomes its JSON, which is as distinct."""
    return F.to_json(value, _EXACT) if isinstance(kind, (ArrayType, MapType, StructType)) else value


def arrow_schema(schema: StructType, session: SparkSession) -> pa.Schema:
    """Columns of a stream as its operator sees them."""
    zone = session.conf.get("spark.sql.session.timeZone")
    return to_arrow_schema(StructType(list(schema)), timezone=zone)


def key_columns(
    keys: Sequence[str], rows: DataFrame, at_hand: Collection[str] = (), prefix: str = "__key"
) -> tuple[tuple[str, ...], list[Column]]:
    """Hidden columns for expressions that make groups: their names, and what to select.

    Args:
        keys: the expressions.
        rows: what they are of.
        at_hand: columns that are selected anyway: a key that is one of them needs none of its own.
        prefix: of the names of hidden columns.
    """
    hidden = tuple(f"{prefix}_{number}" for number in range(len(keys)))
    types = rows.select(*(F.expr(key).alias(name) for key, name in zip(keys, hidden, strict=True))).schema
    names: list[str] = []
    found: list[Column] = []
    for key, name in zip(keys, hidden, strict=True):
        value = F.expr(key)
        grouped_by = numbered(value, types[name].dataType)
        plain = _plain(key, at_hand) if grouped_by is value else None
        names.append(plain or name)
        if plain is None:
            found.append(grouped_by.alias(name, metadata={}))
    return tuple(names), found


def same_columns(
    columns: Sequence[str], rows: DataFrame, prefix: str = "__same"
) -> tuple[tuple[str, ...], list[Column]]:
    """The columns by which a row is known again, and what to select for them besides the columns."""
    names: list[str] = []
    more: list[Column] = []
    for number, name in enumerate(columns):
        value = F.col(quote(name))
        known_by = numbered(value, rows.schema[name].dataType)
        if known_by is value:
            names.append(name)
        else:
            names.append(f"{prefix}_{number}")
            more.append(known_by.alias(names[-1], metadata={}))
    return tuple(names), more


def order_columns(
    order: Sequence[Sort], at_hand: Collection[str] = ()
) -> tuple[tuple[OrderBy, ...], list[Column]]:
    """Hidden columns for expressions that sort: how, and what to select; `at_hand` as for keys."""
    names = [_plain(sort.sql, at_hand) or f"__order_{number}" for number, sort in enumerate(order)]
    by = tuple(OrderBy(n, sort.descending, sort.nulls_first) for n, sort in zip(names, order, strict=True))
    hidden = [(n, sort) for n, sort in zip(names, order, strict=True) if n not in at_hand]
    return by, [F.expr(sort.sql).alias(n, metadata={}) for n, sort in hidden]


def sort_column(sort: Sort) -> Column:
    """An item of ORDER BY for Spark's own sorting."""
    column = F.expr(sort.sql)
    if sort.descending:
        return column.desc_nulls_first() if sort.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if sort.nulls_first else column.asc_nulls_last()


def _plain(sql: str, columns: Collection[str]) -> str | None:
    """The column that an expression is as it stands, if it is one of these."""
    for name in columns:
        bare = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in ("true", "false", "null")
        if sql == quote(name) or (bare and sql == name):
            return name
    return None


def _bucket(keys: Sequence[Column], buckets: int) -> Column:
    if not keys:
        return F.lit(0)
    return F.pmod(F.hash(*keys), F.lit(buckets)).cast("int")

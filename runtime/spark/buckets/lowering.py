"""A bucket operator as a DataFrame: pack, distribute, run, unpack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from runtime.spark.buckets.operator import BucketOperator
from runtime.spark.buckets.packing import BUCKET, PACKED, ROWS, packer, unpacker
from runtime.spark.buckets.processor import BucketProcessor
from runtime.spark.context import event_time


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
    zone = inputs[0][0].sparkSession.conf.get("spark.sql.session.timeZone")
    packed = [
        rows.select(_bucket(keys, buckets).alias(BUCKET), "*").mapInArrow(packer(buckets, number), PACKED)
        for number, (rows, keys) in enumerate(inputs)
    ]
    schemas = [to_arrow_schema(rows.schema, timezone=zone) for rows, _ in inputs]
    emitted = (
        reduce(DataFrame.union, packed)
        .groupBy(BUCKET)
        .transformWithState(
            BucketProcessor(operator, schemas), f"{ROWS} BINARY", outputMode="append", timeMode="eventTime"
        )
    )
    plain = StructType(list(output))
    rows = emitted.mapInArrow(unpacker(to_arrow_schema(plain, timezone=zone)), plain)
    marks = event_times or {}
    return rows.select(
        *(F.col(_quote(f.name)).alias(f.name, metadata=event_time(marks.get(f.name))) for f in plain)
    )


def _bucket(keys: Sequence[Column], buckets: int) -> Column:
    if not keys:
        return F.lit(0)
    return F.pmod(F.hash(*keys), F.lit(buckets)).cast("int")


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

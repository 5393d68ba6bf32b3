"""What the joins of two streams share."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.stream_join import EventTime, OutputColumn, StreamJoinKind
from runtime.spark.context import event_time, quote

_KINDS: dict[StreamJoinKind, str] = {
    "inner": "inner",
    "left": "left_outer",
    "right": "right_outer",
    "full": "full_outer",
    "semi": "left_semi",
    # Spark has no anti join of two streams. What is left without a partner is known when it leaves.
    "anti": "left_outer",
}
# On the right of an anti join: NULL where there was no partner.
_MATCHED = "__headrace_matched"


def with_event_time(rows: DataFrame, time: EventTime | None) -> DataFrame:
    """The rows with one event time, or none: Spark takes the first column that carries a mark."""
    return rows.select(
        *(
            F.col(quote(name)).alias(
                name,
                metadata=event_time(time.delay_ms if time is not None and name == time.column else None),
            )
            for name in rows.columns
        )
    )


def join(
    left: DataFrame,
    right: DataFrame,
    condition: str,
    kind: StreamJoinKind,
    output: Sequence[OutputColumn],
) -> DataFrame:
    """Joins two sides whose names differ, and marks the event times of the output."""
    if kind == "anti":
        right = right.withColumn(_MATCHED, F.lit(True))
    joined = left.join(right, F.expr(condition), _KINDS[kind])
    if kind == "anti":
        joined = joined.where(F.col(_MATCHED).isNull())
    return joined.select(
        *(
            F.col(quote(column.name)).alias(column.name, metadata=event_time(column.delay_ms))
            for column in output
        )
    )

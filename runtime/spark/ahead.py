"""An epoch's rows, put together before they enter the stream.

Spark groups nothing in a stream but with a state, so this is done to the batch that the query's own source
reads. Whether it makes fewer rows is known of an epoch once it is done. Where it does not, the next epochs
enter row by row, which the state cannot tell, and now and then it is tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Panes, Query, Scan
from runtime.spark.barrier import barrier
from runtime.spark.context import Context
from runtime.spark.lowering import lower_to
from runtime.spark.operators import panes

_METRIC: Final = "headrace ahead"
_ROWS, _PARTS, _TOGETHER = "rows", "parts", "__headrace_together"
# Below this there is nothing to win or to lose, and little to judge by.
_FEW_ROWS: Final = 1000
_LEAST_FEWER: Final = 2
_EPOCHS_BETWEEN_TRIES: Final = 20


class Ahead:
    """What stands before the stream of a query that has panes.

    Args:
        query: the query.
        op: its panes.
        ctx: of the stream.
    """

    def __init__(self, query: Query, op: Panes, ctx: Context) -> None:
        self._query = query
        self.op = op
        self._ctx = ctx
        self._wait = 0

    @property
    def scan(self) -> Scan:
        """The read that it stands behind: the only one of the query."""
        return next(op for op in self._query.operators if isinstance(op, Scan))

    @property
    def puts_together(self) -> bool:
        """Whether the next epoch's rows are put together."""
        return self._wait == 0

    def shape(self, rows: DataFrame) -> DataFrame:
        """What enters the stream of the rows that an epoch has read."""
        ctx = replace(self._ctx, session=rows.sparkSession, streaming=False)
        made = lower_to(self._query, self.op.inputs[0], ctx, {self.scan.id: rows})
        together = self.puts_together
        entered = panes.together(self.op, made) if together else panes.lower(self.op, [made], ctx)
        return entered.withColumn(_TOGETHER, F.lit(together))

    def stream(self, entered: DataFrame) -> DataFrame:
        """The stream of what has entered, with the watermark of the rows that it stands for."""
        op = self.op
        told = entered.observe(
            _METRIC,
            F.coalesce(F.sum(op.rows), F.lit(0)).alias(_ROWS),
            F.count(F.lit(1)).alias(_PARTS),
            F.coalesce(F.bool_and(_TOGETHER), F.lit(False)).alias(_TOGETHER),
        ).drop(_TOGETHER)
        return barrier(told.withWatermark(op.time_column, f"{op.delay_ms} milliseconds"))

    def saw(self, metrics: Mapping[str, Any]) -> int | None:
        """How many rows an epoch has read, by its progress; None if that does not say."""
        found = metrics.get(_METRIC)
        if found is None:
            return None
        rows, parts = int(found[_ROWS]), int(found[_PARTS])
        if not found[_TOGETHER]:
            self._wait = max(0, self._wait - 1)
        elif rows >= _FEW_ROWS and rows < _LEAST_FEWER * parts:
            self._wait = _EPOCHS_BETWEEN_TRIES
        return rows

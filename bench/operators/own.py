"""Operators on state by bucket, and the least that one of them can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from bench.operators.data import DELAY_MS, Lowered, read
from compiler.jobplan import model as job
from compiler.jobplan.operators import match as pattern
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.lowering import bucketed
from runtime.spark.buckets.ordering import ranked
from runtime.spark.context import Context
from runtime.spark.operators import lower

_TTL_MS = 86_400_000
_TIME = (job.Sort("ts", False, True),)


class RunningSum(BucketOperator):
    """The yardstick: a sum for each key, handed on with each row."""

    tables = (StateTable("sums", pa.schema([("k", pa.int64()), ("total", pa.int64())])),)

    def process(self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks) -> pa.Table:
        """Adds the epoch's rows to the sums of their keys."""
        del watermarks
        rows = inputs[0].select(["k", "v"]).rename_columns(["k", "total"])
        held = state.read("sums")
        together = pa.concat_tables([held, rows])
        order = ranked(together, ("k",), ())
        values = together.column("total").to_numpy()[order.rows]
        running = np.cumsum(values)
        begin = np.flatnonzero(order.rank == 1)
        before = np.repeat(running[begin] - values[begin], np.diff(np.append(begin, len(values))))
        totals = running - before
        last = np.append(begin[1:], len(values)) - 1
        keys = together.column("k").take(pa.array(order.rows[last]))
        state.write("sums", pa.table([keys, pa.array(totals[last])], schema=self.tables[0].schema))
        new = order.rows >= held.num_rows
        k = together.column("k").take(pa.array(order.rows[new]))
        return pa.table([k, pa.array(totals[new])], names=["k", "total"])


def running_sum(rows: DataFrame, _ctx: Context) -> DataFrame:
    """The yardstick on a stream."""
    output = StructType([StructField("k", LongType()), StructField("total", LongType())])
    return bucketed(RunningSum(), [(rows, [F.col("k")])], 16, output)


def _top(**more: Any) -> Lowered:
    values: dict[str, Any] = {"keys": ("k",), "order": _TIME, "limit": 1, "ttl_ms": _TTL_MS, **more}
    op = job.TopN("top", "top", ("in",), **values)
    return lambda rows, ctx: lower(op, [rows], ctx)


def _over(**frame: Any) -> Lowered:
    values: dict[str, Any] = {"unit": "rows", "preceding": None, **frame}
    function = job.OverFunction("s", "sum", ("v",), None, type="BIGINT", sql="", **values)
    op = job.Over("over", "over", ("in",), ("k",), _TIME, (function,), "ts", {"ts": DELAY_MS}, _TTL_MS)
    return lambda rows, ctx: lower(op, [rows], ctx)


def _window_top(rows: DataFrame, ctx: Context) -> DataFrame:
    window = job.Window(
        "w", "w", ("in",), "tumble", "ts", 60_000, 60_000, 0, DELAY_MS,
        "window_start", "window_end", "window_time",
    )  # fmt: skip
    top = _top(
        keys=("window_end", "k"), order=(job.Sort("v", True, False),), limit=3, rank="n", emit="closed",
        time_column="window_end", event_times={"window_end": DELAY_MS},
    )  # fmt: skip
    return top(lower(window, [rows], ctx), ctx)


def _temporal(rows: DataFrame, ctx: Context) -> DataFrame:
    # The table changes with each fifth row.
    versions = read(ctx, "versions", 5).selectExpr("ts AS since", "k AS of", "v AS price")
    op = job.TemporalJoin(
        "as_of", "as_of", ("in", "versions"), "inner", (job.KeyPair("k", "of"),), None,
        job.EventTime("ts", DELAY_MS), "since", False,
        (job.OutputColumn("ts", DELAY_MS), *(job.OutputColumn(name, None) for name in ("k", "v", "price"))),
        16,
    )  # fmt: skip
    return lower(op, [rows, versions], ctx)


def _match(rows: DataFrame, ctx: Context) -> DataFrame:
    """A row, rising ones after it, and a fall, within a minute."""
    last, before = (pattern.Navigation("v", "UP", "last", offset, "BIGINT") for offset in (0, 1))
    first = pattern.Navigation("v", "START", "last", 0, "BIGINT")
    down = pattern.Navigation("v", "DOWN", "last", 0, "BIGINT")
    rises = pattern.Apply(">", (last, pattern.Apply("coalesce", (before, first), "BIGINT")), "BOOLEAN")
    up = pattern.Repeat(pattern.Variable("UP"), 1, None, greedy=True)
    op = job.Match(
        "match", "match", ("in",), ("k",), "ts", DELAY_MS, (), (job.Item("v", "v"),),
        pattern.Sequence((pattern.Variable("START"), up, pattern.Variable("DOWN"))),
        (
            pattern.Condition("UP", rises),
            pattern.Condition("DOWN", pattern.Apply("<", (down, last), "BOOLEAN")),
        ),
        pattern.Skip("past_last_row"), 60_000,
        (pattern.Output("n", pattern.Fold("count", None, pattern.ALL_ROWS, "BIGINT")),),
        (job.Item("n", "n"),), 16,
    )  # fmt: skip
    return lower(op, [rows], ctx)


FUNCTIONS = """
import headrace


class Sum(headrace.ProcessFunction):
    output = "total BIGINT"
    total = headrace.value_state("BIGINT")

    def process(self, row, ctx):
        total = (self.total.get() or 0) + row.v
        self.total.set(total)
        yield {"total": total}
"""


def _process(rows: DataFrame, ctx: Context) -> DataFrame:
    """The yardstick's sum, as a user would write it."""
    folder = ctx.plan_dir / "functions"
    folder.mkdir(exist_ok=True)
    (folder / "sums.py").write_text(FUNCTIONS)
    op = job.Process(
        "sum", "sum", ("in",), "sums", "Sum", {}, ("k",), "ts", (job.Item("v", "v"),),
        (job.Column("total", "BIGINT"),), (job.KeptState("total", "value", "BIGINT"),), None, None, "", 16,
    )  # fmt: skip
    return lower(op, [rows], ctx)


def _changes(rows: DataFrame, ctx: Context) -> DataFrame:
    """The rows as changes of a table by `k`: each tenth deletes."""
    coded = rows.selectExpr("k", "v", "CASE WHEN v % 10 = 0 THEN 'd' ELSE 'u' END AS code")
    op = job.FromChangelog("c", "c", ("in",), "code", {"u": "+U", "d": "-D"}, False, ("k", "v"))
    return lower(op, [coded], ctx)


def _normalize(rows: DataFrame, ctx: Context) -> DataFrame:
    return lower(job.Normalize("n", "n", ("c",), ("k",), _TTL_MS), [_changes(rows, ctx)], ctx)


def _change_aggregate(rows: DataFrame, ctx: Context) -> DataFrame:
    sums = (job.Accumulate("n", "count", None, "BIGINT"), job.Accumulate("total", "sum", "v", "BIGINT"))
    op = job.ChangeAggregate("a", "a", ("in",), (job.Item("k", "k"),), sums, _TTL_MS)
    return lower(op, [rows], ctx)


def _change_join(rows: DataFrame, ctx: Context) -> DataFrame:
    """All rows with one in a hundred, so that a row has half a partner."""
    right = read(ctx, "others", 100).selectExpr("ts AS ts_r", "k AS k_r", "v AS v_r")
    op = job.ChangeJoin(
        "j", "j", ("in", "others"), "left", (job.KeyPair("k", "k_r"),), None,
        (("ts", "k", "v"), ("ts_r", "k_r", "v_r")), None, _TTL_MS,
    )  # fmt: skip
    return lower(op, [rows, right], ctx)


YARDSTICK = "running_sum"

OPERATORS: dict[str, Lowered] = {
    YARDSTICK: running_sum,
    "dedup_first": _top(emit="first_by_time", time_column="ts"),
    "dedup_arrival": _top(emit="first_by_arrival"),
    "dedup_last": _top(emit="changes", order=(job.Sort("ts", True, False),), latest=True),
    "window_top_3": _window_top,
    "over_range": _over(unit="range", preceding=60_000),
    "over_rows": _over(preceding=9),
    "over_unbounded": _over(),
    "temporal_join": _temporal,
    "normalize": _normalize,
    "groups_with_ttl": _change_aggregate,
    "join_of_changes": _change_join,
    "top_3_of_changes": _top(emit="retracting", order=(job.Sort("v", True, False),), limit=3, rank="n"),
    "match": _match,
    "process": _process,
}

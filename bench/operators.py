"""Stateful operators: rows a second of each, beside a running sum that is written by hand.

    python -m bench.operators [--rows 1000000] [--keys 20000] [--only dedup_first,over_range]

Each operator reads the same Parquet files, a few an epoch, in a session of its own process, and its rows are
counted, not written. The yardstick is a running sum by key on the same state by bucket, the least that such
an operator can do: it reads its state, adds, writes it back, and hands every row on.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from bench.common import tree_cpu
from compiler.jobplan import model as job
from compiler.jobplan.operators import match as pattern
from runtime.spark.buckets import BucketOperator, BucketState, StateTable, Watermarks
from runtime.spark.buckets.lowering import bucketed
from runtime.spark.buckets.ordering import ranked
from runtime.spark.context import Context
from runtime.spark.operators import lower
from runtime.spark.session import SessionSettings, close_session, open_session

EPOCHS = 10
# A row a millisecond, up to five seconds out of order.
DELAY_MS = 5_000

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


def _top(**more: Any) -> Callable[[DataFrame, Context], DataFrame]:
    values: dict[str, Any] = {"keys": ("k",), "order": _TIME, "limit": 1, "ttl_ms": _TTL_MS, **more}
    op = job.TopN("top", "top", ("in",), **values)
    return lambda rows, ctx: lower(op, [rows], ctx)


def _over(**frame: Any) -> Callable[[DataFrame, Context], DataFrame]:
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
    versions = (
        _read(ctx.session, ctx.project_dir, "versions")
        .where("v % 5 = 0")
        .selectExpr("ts AS since", "k AS of", "v AS price")
    )
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


OPERATORS: dict[str, Callable[[DataFrame, Context], DataFrame]] = {
    "running_sum": running_sum,
    "dedup_first": _top(emit="first_by_time", time_column="ts"),
    "dedup_arrival": _top(emit="first_by_arrival"),
    "dedup_last": _top(emit="changes", order=(job.Sort("ts", True, False),), latest=True),
    "window_top_3": _window_top,
    "over_range": _over(unit="range", preceding=60_000),
    "over_rows": _over(preceding=9),
    "over_unbounded": _over(),
    "temporal_join": _temporal,
    "match": _match,
    "process": _process,
}


def make_input(folder: Path, rows: int, keys: int) -> None:
    """Files of rows whose times rise, a little out of order."""
    random = np.random.default_rng(1)
    for number, part in enumerate(np.array_split(np.arange(rows), EPOCHS)):
        times = part * 1_000 - random.integers(0, DELAY_MS * 1_000, len(part)) + 1_700_000_000_000_000
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "k": random.integers(0, keys, len(part)),
                "v": random.integers(0, 1_000, len(part)),
            }
        )
        path = folder / f"{number:03}.parquet"
        pq.write_table(table, path)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def _read(session: SparkSession, source: Path, name: str) -> DataFrame:
    return (
        session.readStream.name(name)
        .schema("ts TIMESTAMP, k BIGINT, v BIGINT")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(source))
        .withWatermark("ts", f"{DELAY_MS} milliseconds")
    )


def run_one(name: str, session: SparkSession, source: Path, state: Path) -> tuple[int, float]:
    """Runs an operator over all files.

    Returns:
        How many rows came out, and the wall time in seconds.
    """
    stream = _read(session, source, "rows")
    counted = 0

    def count(batch: DataFrame, _epoch: int) -> None:
        nonlocal counted
        counted += batch.count()

    made = OPERATORS[name](stream, Context(session, source, source.parent, streaming=True))
    started = time.monotonic()
    query = (
        made.writeStream.foreachBatch(count)
        .option("checkpointLocation", str(state))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return counted, time.monotonic() - started


def main() -> None:
    """Prints a line for each operator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--only", default="", help="names of operators, with commas")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(OPERATORS)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = root / "in"
        source.mkdir()
        make_input(source, options.rows, options.keys)
        settings = SessionSettings("bench-operators", root / "jvm.log", master="local[2]")
        session = open_session(settings)
        try:
            warm = root / "warm"
            warm.mkdir()
            make_input(warm, 1_000, 10)
            run_one("running_sum", session, warm, root / "state-warm")
            print(f"{'operator':16}{'rows out':>10}{'wall s':>8}{'rows/s':>10}{'CPU s':>8}")
            for name in names:
                before = tree_cpu()
                out, wall = run_one(name, session, source, root / f"state-{name}")
                rate = options.rows / wall
                print(f"{name:16}{out:>10}{wall:>8.1f}{rate:>10,.0f}{tree_cpu() - before:>8.1f}", flush=True)
        finally:
            close_session(session)


if __name__ == "__main__":
    main()

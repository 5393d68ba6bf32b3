"""Operators that Spark has: headrace's lowering of each, and the same query written in PySpark."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from bench.operators.data import DELAY_MS, Lowered, read
from compiler.jobplan import model as job
from runtime.spark.context import Context
from runtime.spark.operators import lower

MINUTE_MS, GAP_MS = 60_000, 30_000
_SUMS = (job.Item("total", "sum(v)"), job.Item("n", "count(*)"))


@dataclass(frozen=True)
class Pair:
    """A query twice, with the same rows for a result."""

    lowered: Lowered
    by_hand: Lowered


def _window(source: str, suffix: str = "", slide_ms: int = MINUTE_MS) -> job.Window:
    return job.Window(
        f"w{suffix}", f"w{suffix}", (source,), "tumble" if slide_ms == MINUTE_MS else "hop",
        f"ts{suffix}", MINUTE_MS, slide_ms, 0, DELAY_MS,
        f"window_start{suffix}", f"window_end{suffix}", f"window_time{suffix}",
    )  # fmt: skip


def _windows(slide_ms: int) -> Pair:
    names = ("window_start", "window_end", "k")
    aggregate = job.Aggregate(
        "a", "a", ("w",), tuple(job.Item(name, name) for name in names), _SUMS,
        (*names, "total", "n"), "window_end", DELAY_MS,
    )  # fmt: skip

    def lowered(rows: DataFrame, ctx: Context) -> DataFrame:
        return lower(aggregate, [lower(_window("in", slide_ms=slide_ms), [rows], ctx)], ctx)

    def by_hand(rows: DataFrame, _ctx: Context) -> DataFrame:
        window = F.window("ts", f"{MINUTE_MS} milliseconds", f"{slide_ms} milliseconds")
        grouped = rows.groupBy(window, "k").agg(F.sum("v").alias("total"), F.count("*").alias("n"))
        return grouped.select("window.start", "window.end", "k", "total", "n")

    return Pair(lowered, by_hand)


def _sessions() -> Pair:
    aggregate = job.SessionAggregate(
        "a", "a", ("in",), (job.Item("k", "k"),), "ts", GAP_MS, DELAY_MS, _SUMS,
        ("window_start", "window_end", "k", "total", "n"), "window_start", "window_end", None,
    )  # fmt: skip

    def by_hand(rows: DataFrame, _ctx: Context) -> DataFrame:
        session = F.session_window("ts", f"{GAP_MS} milliseconds").alias("session")
        grouped = rows.groupBy(session, "k").agg(F.sum("v").alias("total"), F.count("*").alias("n"))
        return grouped.select("session.start", "session.end", "k", "total", "n")

    return Pair(lambda rows, ctx: lower(aggregate, [rows], ctx), by_hand)


def _others(ctx: Context, every: int = 5) -> DataFrame:
    """The right side of joins: one row in some, under other names."""
    return read(ctx, "others", every).selectExpr("ts AS ts_r", "k AS k_r", "v AS v_r")


_SPAN = "k = k_r AND ts >= ts_r AND ts <= ts_r + INTERVAL 30 SECONDS"


def _interval_join() -> Pair:
    output = (job.OutputColumn("ts", DELAY_MS), *(job.OutputColumn(n, None) for n in ("k", "v", "v_r")))
    op = job.IntervalJoin(
        "j", "j", ("in", "others"), "inner", _SPAN,
        job.EventTime("ts", DELAY_MS), job.EventTime("ts_r", DELAY_MS), output,
    )  # fmt: skip
    return Pair(
        lambda rows, ctx: lower(op, [rows, _others(ctx)], ctx),
        lambda rows, ctx: rows.join(_others(ctx), F.expr(_SPAN)).select("ts", "k", "v", "v_r"),
    )


def _window_join() -> Pair:
    output = (
        job.OutputColumn("window_end", DELAY_MS),
        *(job.OutputColumn(n, None) for n in ("k", "v", "v_r")),
    )
    op = job.WindowJoin(
        "j", "j", ("w", "w_r"), "inner",
        "window_start = window_start_r AND window_end = window_end_r AND k = k_r",
        job.EventTime("window_end", DELAY_MS), job.EventTime("window_end_r", DELAY_MS), output,
    )  # fmt: skip

    def lowered(rows: DataFrame, ctx: Context) -> DataFrame:
        sides = [
            lower(_window("in"), [rows], ctx),
            lower(_window("others", "_r"), [_others(ctx)], ctx),
        ]
        return lower(op, sides, ctx)

    def by_hand(rows: DataFrame, ctx: Context) -> DataFrame:
        length = f"{MINUTE_MS} milliseconds"
        left = rows.withColumn("window", F.window("ts", length))
        right = _others(ctx).withColumn("window", F.window("ts_r", length)).withColumnRenamed("k_r", "k")
        return left.join(right, ["window", "k"]).select("window.end", "k", "v", "v_r")

    return Pair(lowered, by_hand)


def _regular_join() -> Pair:
    """Rows with one in a hundred, all of which are kept for good."""
    output = tuple(job.OutputColumn(n, None) for n in ("k", "v", "v_r"))
    op = job.RegularJoin("j", "j", ("in", "others"), "k = k_r", None, output)

    return Pair(
        lambda rows, ctx: lower(op, [rows, _others(ctx, 100)], ctx),
        lambda rows, ctx: rows.join(_others(ctx, 100), F.expr("k = k_r")).select("k", "v", "v_r"),
    )


PAIRS: dict[str, Pair] = {
    "tumble": _windows(MINUTE_MS),
    "hop": _windows(MINUTE_MS // 4),
    "session": _sessions(),
    "interval_join": _interval_join(),
    "window_join": _window_join(),
    "regular_join": _regular_join(),
}

"""Measures the sinks; ends with an error if one is slower than its limit."""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.common import Usage, tree_cpu
from bench.sinks.base import Comparison, SinkBench
from bench.sinks.files import FilesBench
from bench.sinks.kafka import KafkaBench
from bench.sinks.postgres import PostgresBench
from runtime.jobs.execution import QUERY_CONF
from runtime.spark.session import SessionSettings, close_session, open_session

# A sink is a file here and a line in this list.
BENCHES: tuple[SinkBench, ...] = (PostgresBench(), KafkaBench(), FilesBench())

_WARM_UP = 2


def make_rows(session: SparkSession, folder: Path, count: int) -> DataFrame:
    """Orders in Parquet files, so that reading them costs both sides the same, and little."""
    path = str(folder / "rows")
    session.range(0, count, numPartitions=4).selectExpr(
        "id",
        "concat('customer-', id % 20000) AS customer",
        "CAST(id % 100000 / 100 AS DECIMAL(12,2)) AS price",
        "CAST(id % 7 AS INT) AS qty",
        "timestamp_millis(1700000000000 + id) AS at",
        "id * 0.5D AS score",
    ).write.parquet(path)
    return session.read.parquet(path)


def measure(comparison: Comparison, count: int, rounds: int) -> bool:
    """Runs both ways in turn, the first rounds to warm up; prints a line, and says if ours is good enough.

    What counts is rows a second; CPU time, servers included, stands beside it. A ratio is the median of the
    rounds' ratios, since what runs beside a round and how much the JVM has compiled by then concerns both
    ways; behind it stands how far chance may have moved it.
    """
    ours: list[Usage] = []
    theirs: list[Usage] = []
    for number in range(_WARM_UP + rounds):
        # Who goes first changes: what one leaves behind (caches, dirty pages) is not always the other's.
        steps = [(comparison.theirs, theirs), (comparison.ours, ours)]
        for step, used in steps if number % 2 else reversed(steps):
            wall, cpu = time.perf_counter(), tree_cpu()
            step(number)
            if number >= _WARM_UP:
                used.append(Usage(time.perf_counter() - wall, tree_cpu() - cpu))
    wall, their_wall = (statistics.median(u.wall for u in used) for used in (ours, theirs))
    cpu, their_cpu = (statistics.median(u.cpu for u in used) for used in (ours, theirs))
    wall_ratio, wall_noise = _ratio([b.wall / a.wall for a, b in zip(ours, theirs, strict=True)])
    cpu_ratio, cpu_noise = _ratio([b.cpu / a.cpu for a, b in zip(ours, theirs, strict=True)])
    kept = wall_ratio >= comparison.limit
    print(
        f"{comparison.name:46}{count / wall:>10,.0f}{count / their_wall:>10,.0f}"
        f"{wall_ratio:>7.2f}{wall_noise:>6.2f}{comparison.limit:>7.2f}"
        f"{cpu:>7.2f}{their_cpu:>7.2f}{cpu_ratio:>7.2f}{cpu_noise:>6.2f}"
        f"{'' if kept else '  too slow'}",
        flush=True,
    )
    return kept


def _ratio(ratios: list[float]) -> tuple[float, float]:
    """The median, and half the width of its interval of 95 %, as box plots show it."""
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return median, 1.57 * (high - low) / math.sqrt(len(ratios))


def main() -> int:
    """Prints a line for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, help="of each comparison; else as many as it needs")
    parser.add_argument("--only", default="", help="names of benches, with commas")
    options = parser.parse_args()
    chosen = [bench for bench in BENCHES if not options.only or bench.name in options.only.split(",")]
    kept = True
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        packages = tuple(package for bench in chosen for package in bench.packages)
        settings = SessionSettings("bench-sinks", folder / "jvm.log", master="local[2]", packages=packages)
        session = open_session(settings)
        try:
            # As a query of headrace has it. Both sides write with it.
            for key, value in QUERY_CONF.items():
                session.conf.set(key, value)
            rows = make_rows(session, folder, options.rows)
            print(
                f"{'ours / theirs':46}{'rows/s':>10}{'theirs':>10}{'ratio':>7}{'+-':>6}{'limit':>7}"
                f"{'CPU s':>7}{'theirs':>7}{'ratio':>7}{'+-':>6}"
            )
            for bench in chosen:
                with bench.comparisons(session, rows, folder) as comparisons:
                    for comparison in comparisons:
                        rounds = max(2, options.rounds or comparison.rounds)
                        kept = measure(comparison, options.rows, rounds) and kept
        finally:
            close_session(session)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

"""Measures the sinks; ends with an error if one is slower than its limit."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from bench.common import tree_cpu
from bench.sinks.base import Comparison, SinkBench
from bench.sinks.files import FilesBench
from bench.sinks.kafka import KafkaBench
from bench.sinks.postgres import PostgresBench
from runtime.spark.session import SessionSettings, close_session, open_session

# A sink is a file here and a line in this list.
BENCHES: tuple[SinkBench, ...] = (PostgresBench(), KafkaBench(), FilesBench())


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
    """Runs both ways in turn, the first round to warm up; prints a line, and says if ours is good enough.

    What counts is CPU time, servers included: on a shared machine wall time says more about the neighbours.
    """
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        # Who goes first changes: what one leaves behind (caches, dirty pages) is not always the other's.
        steps = [(comparison.theirs, theirs), (comparison.ours, ours)]
        for step, times in steps if number % 2 else reversed(steps):
            wall, cpu = time.perf_counter(), tree_cpu()
            step(number)
            if number:
                times.append((time.perf_counter() - wall, tree_cpu() - cpu))
    (wall, cpu), (their_wall, their_cpu) = (
        tuple(statistics.median(kind) for kind in zip(*times, strict=True)) for times in (ours, theirs)
    )
    kept: bool = their_cpu / cpu >= comparison.limit
    print(
        f"{comparison.name:46}{count / wall:>10,.0f}{count / their_wall:>10,.0f}{their_wall / wall:>7.2f}"
        f"{cpu:>7.1f}{their_cpu:>7.1f}{their_cpu / cpu:>7.2f}{comparison.limit:>7.2f}"
        f"{'' if kept else '  too slow'}",
        flush=True,
    )
    return kept


def main() -> int:
    """Prints a line for each comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
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
            rows = make_rows(session, folder, options.rows)
            print(
                f"{'ours / theirs':46}{'rows/s':>10}{'theirs':>10}{'ratio':>7}"
                f"{'CPU s':>7}{'theirs':>7}{'ratio':>7}{'limit':>7}"
            )
            for bench in chosen:
                with bench.comparisons(session, rows, folder) as comparisons:
                    for comparison in comparisons:
                        kept = measure(comparison, options.rows, options.rounds) and kept
        finally:
            close_session(session)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

"""The input of the bench of operators, and how a query over it is measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from bench.common import tree_cpu
from runtime.spark.context import Context

EPOCHS = 10
# A row a millisecond, up to five seconds out of order.
DELAY_MS = 5_000
# The second input of a join has one row in so many.
SECOND_INPUTS = (5, 100)

Lowered = Callable[[DataFrame, Context], DataFrame]
"""What is measured, over the stream of all rows."""


@dataclass(frozen=True)
class Measured:
    """A run over all rows.

    Args:
        taken: rows of all its inputs.
        given: rows that came out.
        wall, cpu: seconds.
    """

    taken: int
    given: int
    wall: float
    cpu: float

    @property
    def speed(self) -> float:
        """Rows a second, those of all inputs."""
        return self.taken / self.wall


def make_input(folder: Path, rows: int, keys: int) -> Path:
    """Files of rows whose times rise, a little out of order; beside them some of the rows, for joins."""
    for every in (1, *SECOND_INPUTS):
        (folder / str(every)).mkdir(parents=True)
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
        values = table.column("v").to_numpy()
        for every in (1, *SECOND_INPUTS):
            path = folder / str(every) / f"{number:03}.parquet"
            pq.write_table(table.filter(pa.array(values % every == 0)), path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return folder


def read(ctx: Context, name: str, every: int = 1) -> DataFrame:
    """A stream of one row in so many, one file an epoch; all that is read is taken by an operator."""
    return (
        ctx.session.readStream.name(name)
        .schema("ts TIMESTAMP, k BIGINT, v BIGINT")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(ctx.project_dir / str(every)))
        .withWatermark("ts", f"{DELAY_MS} milliseconds")
    )


def run(lowered: Lowered, session: SparkSession, source: Path, checkpoint: Path) -> Measured:
    """Runs a query over all files; its rows are counted, not written."""
    counted = 0

    def count(batch: DataFrame, _epoch: int) -> None:
        nonlocal counted
        counted += batch.count()

    ctx = Context(session, source, source.parent, streaming=True)
    made = lowered(read(ctx, "rows"), ctx)
    cpu, started = tree_cpu(), time.monotonic()
    query = (
        made.writeStream.foreachBatch(count)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    wall, cpu = time.monotonic() - started, tree_cpu() - cpu
    taken = sum(progress.numInputRows for progress in query.recentProgress)
    return Measured(taken, counted, wall, cpu)


def state_bytes(session: SparkSession, checkpoint: Path) -> int:
    """How large the state by bucket of a query is: what its operator has written."""
    slices = (
        session.read.format("statestore")
        .option("path", str(checkpoint))
        .option("stateVarName", "slices")
        .load()
        .selectExpr("coalesce(sum(length(user_map_value.data)), 0) AS size")
    )
    found: int = slices.collect()[0].size
    return found

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

Lowered = Callable[[DataFrame, Context], DataFrame]
"""What is measured, over the stream of all rows."""


@dataclass(frozen=True)
class Measured:
    """A run over all rows: those that came out, seconds of wall and CPU time."""

    rows: int
    wall: float
    cpu: float


def make_input(folder: Path, rows: int, keys: int) -> Path:
    """Files of rows whose times rise, a little out of order."""
    folder.mkdir()
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
    return folder


def read(session: SparkSession, source: Path, name: str) -> DataFrame:
    """A stream of the rows, one file an epoch."""
    return (
        session.readStream.name(name)
        .schema("ts TIMESTAMP, k BIGINT, v BIGINT")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(source))
        .withWatermark("ts", f"{DELAY_MS} milliseconds")
    )


def run(lowered: Lowered, session: SparkSession, source: Path, checkpoint: Path) -> Measured:
    """Runs a query over all files; its rows are counted, not written."""
    counted = 0

    def count(batch: DataFrame, _epoch: int) -> None:
        nonlocal counted
        counted += batch.count()

    made = lowered(read(session, source, "rows"), Context(session, source, source.parent, streaming=True))
    cpu, started = tree_cpu(), time.monotonic()
    query = (
        made.writeStream.foreachBatch(count)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return Measured(counted, time.monotonic() - started, tree_cpu() - cpu)


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

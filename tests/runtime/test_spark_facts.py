"""What Spark does that headrace is built around and that no feature's own test would notice if it changed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from runtime.jobs.environment import Environment
from runtime.jobs.failures import diagnose


def test_aggregates_in_python_are_refused(session: SparkSession, tmp_path: Path) -> None:
    """Were they not, `collect_list` would be no state for a Python aggregate function to have."""

    def total(values: pa.Array) -> int:
        return sum(values.to_pylist())

    # Spark tells by the types themselves what is an aggregate.
    total.__annotations__ = {"values": pa.Array, "return": int}
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1, "v": 2}\n')
    rows = session.readStream.name("rows").schema("k INT, v INT").json(str(tmp_path / "in"))
    made: Any = arrow_udf
    grouped = rows.groupBy("k").agg(made(total, "INT")(F.col("v")).alias("v"))
    query = grouped.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    with pytest.raises(StreamingQueryException, match="doesn't support group aggregate pandas UDF"):
        query.start(checkpointLocation=str(tmp_path / "checkpoint")).processAllAvailable()


def test_a_worker_that_is_killed_is_told(session: SparkSession) -> None:
    def end(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()

    with pytest.raises(Py4JJavaError) as error:
        session.range(1).mapInArrow(end, "id BIGINT").collect()
    found = diagnose("q", error.value, Environment({}))
    assert found.message == "query q failed: a Python worker of it was killed, or crashed"


def test_offsets_with_names_lack_the_number_of_state_partitions(
    session: SparkSession, tmp_path: Path
) -> None:
    """Once they have it, `Checkpoint.arrange` has nothing left to do for a new checkpoint."""
    (tmp_path / "in").mkdir()
    clone = session.newSession()
    clone.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    clone.conf.set("spark.sql.shuffle.partitions", "3")

    def write(rows: DataFrame, _: int) -> None:
        rows.collect()

    def fail(_: DataFrame, epoch: int) -> None:
        raise ValueError(f"at {epoch}")

    def run(version: str, write: Callable[[DataFrame, int], None]) -> tuple[str | None, str]:
        """What the first epoch says of the state's partitions, and its offset."""
        clone.conf.set("spark.sql.streaming.offsetLog.formatVersion", version)
        rows = clone.readStream.name("rows").schema("k INT").json(str(tmp_path / "in"))
        query = rows.groupBy("k").count().writeStream.outputMode("update").trigger(availableNow=True)
        checkpoint = tmp_path / f"checkpoint{version}"
        query.foreachBatch(write).start(checkpointLocation=str(checkpoint)).awaitTermination()
        _, metadata, offset = (checkpoint / "offsets" / "0").read_text().split("\n")
        return json.loads(metadata)["conf"].get("spark.sql.shuffle.partitions"), offset

    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n')
    assert run("1", write) == ("3", '{"logOffset":0}')
    assert run("2", write) == (None, 'rows:{"logOffset":0}')
    (tmp_path / "in" / "2.json").write_text('{"k": 1}\n')
    with pytest.raises(StreamingQueryException, match="at 1"):
        run("2", fail)
    with pytest.raises(StreamingQueryException, match=r"None\.get"):
        run("2", write)


def test_compiled_code_is_kept(session: SparkSession) -> None:
    """With Spark's own setting, 100, a second round over 120 plans would compile each of them again."""
    jvm: Any = session._jvm
    compilations = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def compile_all() -> int:
        before = compilations.getCount()
        for length in range(120):
            plan: Any = session.range(1).selectExpr("id" + " + id" * length)
            plan._jdf.queryExecution().toRdd()
        return int(compilations.getCount() - before)

    assert compile_all() > 100
    assert compile_all() == 0

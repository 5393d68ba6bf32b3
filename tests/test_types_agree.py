"""The compiler and Spark give every column one type: each good compile case is lowered over empty tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from compiler.jobplan import model as job
from runtime.spark.changes import HIDDEN
from runtime.spark.context import Context
from runtime.spark.operators import lower

sys.path.insert(0, str(Path(__file__).parent / "compiler"))

from test_plans import CASES, compile_file

GOOD = [path for path in CASES if not path.name.startswith("wrong")]


def empty(session: SparkSession, op: job.Scan | job.Seed | job.LookupTable) -> DataFrame:
    """A table without rows, every column nullable, as a file gives it, with the marks of bad records."""
    marks = (op.marks or ()) if isinstance(op, job.Scan) else ()
    return session.createDataFrame([], struct((*op.columns, *(job.Column(mark, "STRING") for mark in marks))))


def struct(columns: tuple[job.Column, ...]) -> StructType:
    """The columns as Spark reads their types."""
    found = DataType.fromDDL(", ".join(f"`{column.name}` {column.type}" for column in columns))
    assert isinstance(found, StructType)
    return found


def types(session: SparkSession, query: job.Query, folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Spark's columns of each sink, without those that only changes carry."""
    context = Context(session, folder, folder, streaming=False)
    frames: dict[str, DataFrame] = {}
    for op in query.operators:
        if isinstance(op, (job.Scan, job.Seed, job.LookupTable)):
            frames[op.id] = empty(session, op)
        else:
            frames[op.id] = lower(op, [frames[i] for i in op.inputs], context)
    return {
        sink.uid: [
            (f.name, f.dataType.simpleString()) for f in frames[sink.input].schema if f.name not in HIDDEN
        ]
        for sink in query.sinks
    }


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_spark_gives_the_same_types(session: SparkSession, path: Path, tmp_path: Path) -> None:
    plan = compile_file(path, tmp_path).plan
    if plan is None:
        pytest.fail(f"{path.name} does not compile")
    for query in plan.queries:
        found = types(session, query, tmp_path)
        for sink in query.sinks:
            said = [(f.name, f.dataType.simpleString()) for f in struct(sink.columns)]
            assert found[sink.uid] == said

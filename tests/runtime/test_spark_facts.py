"""What Spark does that headrace is built around and that no feature's own test would notice if it changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf


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

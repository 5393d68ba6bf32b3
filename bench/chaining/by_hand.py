"""PySpark as people write it: a query for each model with files between, or a query for each sink.

python -m bench.chaining.by_hand {per-model|per-sink} WORKLOAD DATA OUT FILES_AN_EPOCH
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from bench.chaining.workloads import COLUMNS, DELAY_S, ROCKSDB, WORKLOADS, Rows, Windows, inputs


class ByHand:
    """One run of a workload."""

    def __init__(self, workload: str, data: str, out: str, files: str) -> None:
        self.workload = WORKLOADS[workload]
        self.data, self.out, self.files = data, out, files
        self.session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", "4g")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
            .config("spark.sql.warehouse.dir", f"{out}/_warehouse")
            .getOrCreate()
        )
        self.session.sparkContext.setLogLevel("ERROR")

    def run(self, *, per_model: bool) -> None:
        """All sinks, until the input is at its end."""
        if not per_model:
            self._wait(self._start(sink.name, self._of_sink(sink), self.out) for sink in self.workload.sinks)
            return
        models = {"parsed": self._source()}
        if len(self.workload.sinks) > 1 or self.workload.models:
            models["parsed"] = self._materialised("parsed", models["parsed"])
        for model in self.workload.models:
            rows = self._rows(models[model.source], model)
            models[model.name] = self._materialised(model.name, rows)
        self._wait(
            self._start(sink.name, self._sink(models[sink.source], sink), self.out)
            for sink in self.workload.sinks
        )

    def _of_sink(self, sink: Windows | Rows) -> DataFrame:
        rows = self._source()
        for model in inputs(self.workload, sink):
            rows = self._rows(rows, model)
        return self._sink(rows, sink)

    def _source(self) -> DataFrame:
        return (
            self.session.readStream.schema(", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items()))
            .option("maxFilesPerTrigger", self.files)
            .json(self.data)
            .withColumn("ts", F.timestamp_millis("ms"))
        )

    def _rows(self, rows: DataFrame, query: Rows) -> DataFrame:
        kept = rows.where(query.condition) if query.condition else rows
        return kept.selectExpr(*query.items)

    def _sink(self, rows: DataFrame, sink: Windows | Rows) -> DataFrame:
        if isinstance(sink, Rows):
            return self._rows(rows, sink)
        slide = sink.slide or sink.seconds
        return (
            rows.withWatermark("ts", f"{DELAY_S} seconds")
            .groupBy(F.window("ts", f"{sink.seconds} seconds", f"{slide} seconds"), *sink.keys)
            .agg(F.sum(sink.value).alias("total"), F.count("*").alias("n"))
            .select(F.col("window.start").alias("window_start"), *sink.keys, "total", "n")
        )

    def _materialised(self, name: str, rows: DataFrame) -> DataFrame:
        self._wait([self._start(name, rows, f"{self.out}/_models")])
        return self.session.readStream.schema(rows.schema).parquet(f"{self.out}/_models/{name}")

    def _start(self, name: str, rows: DataFrame, folder: str) -> StreamingQuery:
        return (
            rows.writeStream.queryName(name)
            .format("parquet")
            .option("checkpointLocation", f"{self.out}/_checkpoints/{name}")
            .trigger(availableNow=True)
            .start(f"{folder}/{name}")
        )

    @staticmethod
    def _wait(queries: Iterable[StreamingQuery]) -> None:
        for query in list(queries):
            query.awaitTermination()


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    ByHand(*rest).run(per_model=mode == "per-model")

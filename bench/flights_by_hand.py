"""The flights pipeline as one would write it for Spark without headrace: what `bench.overhead` compares with.

The same three queries with the same epochs, in a session with the same settings. Aggregates go through
ordinary `writeStream`. The two sinks over one read are what Spark's guide shows for that: `foreachBatch`
over a persisted batch. Unlike headrace's, a replayed epoch would write those two again, and nothing looks
for rows without an event time or for cells that do not fit the schema.

    python -m bench.flights_by_hand DATA OUT [--plain]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TIMEZONE = "America/New_York"
FILES_PER_EPOCH = 30
SEED = Path(__file__).resolve().parent.parent / "pipelines" / "flights" / "seeds" / "airlines.csv"
_SCHEMA = """
year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT,
sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING,
air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP
"""


def main() -> None:
    """Opens a session and runs the queries to the end of the input."""
    parser = argparse.ArgumentParser(description="The flights pipeline, written for Spark by hand.")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--plain", action="store_true", help="let PySpark start its JVM, without an archive")
    given = parser.parse_args()
    spark = _plain_session(given.out) if given.plain else _session(given.out)
    run(spark, given.data, given.out)
    if given.plain:
        spark.stop()
    else:
        from runtime.spark.session import close_session

        close_session(spark)


def run(spark: SparkSession, data: Path, out: Path) -> None:
    """Starts the three queries and waits for them."""
    from pyspark.sql import functions as F

    airlines = F.broadcast(spark.read.csv(str(SEED), header=True, schema="carrier STRING, name STRING"))

    def departures(query: str) -> DataFrame:
        flights = (
            spark.readStream.name(query)
            .schema(_SCHEMA)
            .option("maxFilesPerTrigger", FILES_PER_EPOCH)
            .csv(str(data), header=True, nullValue="NA")
        )
        return (
            flights.withColumn("scheduled_at", F.expr("make_timestamp(year, month, day, hour, minute, 0)"))
            .withWatermark("scheduled_at", "1 hour")
            .where("dest NOT IN ('EWR', 'JFK', 'LGA')")
            .selectExpr(
                "scheduled_at",
                "carrier",
                "flight",
                "tailnum",
                "origin",
                "dest",
                "dep_time IS NULL AS cancelled",
                "dep_delay",
                "arr_delay",
                "scheduled_at + make_dt_interval(0, 0, dep_delay, 0) AS departed_at",
            )
        )

    by_hour = (
        departures("by_hour")
        .groupBy(F.window("scheduled_at", "1 hour").alias("w"), "origin")
        .agg(
            F.count("*").alias("flights"),
            F.expr("count(*) FILTER (WHERE cancelled)").alias("cancelled"),
            F.avg("dep_delay").alias("avg_delay"),
            F.max("dep_delay").alias("max_delay"),
        )
        .selectExpr(
            "w.start AS window_start", "w.end AS window_end", "origin", "flights", "cancelled", "avg_delay",
            "max_delay",
        )
    )  # fmt: skip
    by_carrier = (
        departures("by_carrier")
        .groupBy(F.window("scheduled_at", "3 hours", "1 hour").alias("w"), "carrier")
        .agg(
            F.count("*").alias("flights"),
            F.expr("count(*) FILTER (WHERE cancelled)").alias("cancelled"),
            F.expr("count(*) FILTER (WHERE dep_delay < 15)").alias("on_time"),
            F.avg("dep_delay").alias("avg_delay"),
        )
        .join(airlines, "carrier", "left")
        .selectExpr(
            "w.start AS window_start", "w.end AS window_end", "carrier", "name", "flights", "cancelled",
            "on_time", "avg_delay",
        )
    )  # fmt: skip

    def write_both(batch: DataFrame, _epoch: int) -> None:
        batch.persist()
        named = batch.join(airlines, "carrier", "left").selectExpr(
            "scheduled_at", "departed_at", "carrier", "name AS airline", "flight", "tailnum", "origin",
            "dest", "dep_delay", "arr_delay", "cancelled",
        )  # fmt: skip
        named.write.mode("append").parquet(str(out / "departures"))
        cancelled = batch.where("cancelled").select("scheduled_at", "carrier", "flight", "origin", "dest")
        cancelled.write.mode("append").json(str(out / "cancellations"))
        batch.unpersist()

    writers = (
        by_hour.writeStream.format("delta").option("path", str(out / "airport_delays")),
        by_carrier.writeStream.format("parquet").option("path", str(out / "carrier_punctuality")),
        departures("all").writeStream.foreachBatch(write_both),
    )
    queries = [
        writer.option("checkpointLocation", str(out / "state" / str(number)))
        .trigger(availableNow=True)
        .start()
        for number, writer in enumerate(writers)
    ]
    for query in queries:
        query.awaitTermination()


def _session(out: Path) -> SparkSession:
    from runtime.connectors.packages import PACKAGES
    from runtime.spark.session import SessionSettings, open_session

    return open_session(
        SessionSettings(
            app_name="by hand",
            log_path=out / "jvm.log",
            master="local[2]",
            timezone=TIMEZONE,
            packages=PACKAGES["delta"],
        )
    )


def _plain_session(out: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    from runtime.connectors.packages import PACKAGES
    from runtime.spark.jars import resolve_packages
    from runtime.spark.java import find_java
    from runtime.spark.session import SessionSettings, spark_conf

    settings = SessionSettings(
        app_name="by hand", log_path=out / "jvm.log", master="local[2]", timezone=TIMEZONE,
        packages=PACKAGES["delta"],
    )  # fmt: skip
    jars = resolve_packages(find_java(), settings.packages)
    builder = SparkSession.builder
    for key, value in (spark_conf(settings, jars) | {"spark.jars": ",".join(map(str, jars))}).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main()

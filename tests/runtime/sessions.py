"""The session of a process that is to be killed.

It is started by Spark's own launcher, whose JVM shares the process group and so dies in the same moment.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from runtime.spark.session import EXACTLY_ONCE

DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"


def open_test_session() -> SparkSession:
    """Two cores, compiled by the quick compiler only."""
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("headrace-killed")
        .config("spark.jars.packages", DELTA)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    for key, value in EXACTLY_ONCE.items():
        if value is not None:
            builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session

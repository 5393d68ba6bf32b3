"""The training process of the class-data archive: run as a program by runtime/spark/archive.py.

`make` is the background process that makes an archive; `query` is the run whose classes are archived.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.spark.archive import ArchiveKey, ensure_archive
from runtime.spark.java import Java, examine
from runtime.spark.launcher import LaunchSettings, start_jvm
from runtime.spark.session import SessionSettings, spark_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS = 50
_FILES = 2
_SCHEMA = "at timestamp, key string, value bigint"


def main(arguments: list[str]) -> int:
    """Run one of the two programs.

    Args:
        arguments: `make HOME JAR...`, or `query FOLDER OPTIONS HOME JAR...`.

    Returns:
        The exit code.
    """
    if arguments[0] == "make":
        let_others_go_first()
        home, *jars = arguments[1:]
        return 0 if ensure_archive(ArchiveKey(_java(home), tuple(map(Path, jars))), wait=False) else 1
    folder, options, home, *jars = arguments[1:]
    _query(Path(folder), tuple(json.loads(options)), _java(home), tuple(map(Path, jars)))
    return 0


def let_others_go_first() -> None:
    """Give this process the lowest priority, and what it starts with it."""
    if hasattr(os, "nice"):
        os.nice(19)
    share_priority(os.getpid())


def share_priority(leader: int) -> None:
    """Give a session the priority of this process.

    Linux may share the processors out among sessions first (sched(7), autogroup): the nice value of a process
    then counts within its session only, and each new session begins with a share as large as any other's.

    Args:
        leader: The process that leads the session.
    """
    group = Path(f"/proc/{leader}/autogroup")
    # The kernel takes few such orders a second, and a training that is not the last loses nothing by it.
    with contextlib.suppress(OSError):
        if group.exists():
            group.write_text(str(os.getpriority(os.PRIO_PROCESS, 0)), encoding="ascii")


def _java(home: str) -> Java:
    java = examine(Path(home))
    if isinstance(java, str):
        raise SystemExit(f"{home}: {java}")
    return java


def _query(folder: Path, options: tuple[str, ...], java: Java, jars: tuple[Path, ...]) -> None:
    """Run a pipeline in a JVM that writes down its classes as it exits, and wait for that."""
    folder.mkdir(parents=True)
    settings = SessionSettings(app_name="headrace-training", log_path=folder / "jvm.log", master="local[2]")
    conf = spark_conf(settings, jars) | {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    # Compiled quickly, as in a short run: no compiled code goes into the archive.
    launch = LaunchSettings(
        java,
        settings.log_path,
        conf,
        extra_jars=jars,
        jvm_options=("-XX:TieredStopAtLevel=1", *options),
    )
    jvm = start_jvm(launch)
    share_priority(jvm.process.pid)
    try:
        from pyspark.sql import SparkSession

        jvm.attach()
        builder = SparkSession.builder
        for key, value in conf.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        _write_input(folder / "input")
        _pipeline(spark, folder, "spark.sql.catalog.spark_catalog" in conf)
        spark.stop()
    except BaseException:
        # An archive of half a run is of no use, so the JVM must not get to write it.
        jvm.process.kill()
        raise
    finally:
        jvm.stop(wait=600)


def _write_input(folder: Path) -> None:
    """Write the files of a stream of events."""
    folder.mkdir()
    for file in range(_FILES):
        rows = (
            {"at": f"2024-01-01T00:{file * 10 + i % 10:02d}:00Z", "key": f"k{i % 5}", "value": i}
            for i in range(_ROWS)
        )
        (folder / f"{file}.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def _pipeline(spark: SparkSession, folder: Path, delta: bool) -> None:
    """Touch what pipelines use: sources, state, joins, foreachBatch, and the file formats."""
    from pyspark.sql import functions as f

    def events(name: str = "events") -> DataFrame:
        # Sources must have names, since source evolution is on.
        return (
            spark.readStream.name(name)
            .schema(_SCHEMA)
            .option("maxFilesPerTrigger", 1)
            .json(str(folder / "input"))
            .withWatermark("at", "1 minute")
        )

    def write(epoch: DataFrame, number: int) -> None:
        epoch.persist()
        epoch.write.format("noop").mode("append").save()
        text = epoch.select(f.to_json(f.struct("start", "key", "total")).alias("text"))
        parsed = text.select(f.from_json("text", "start timestamp, key string, total bigint").alias("v"))
        parsed.select("v.*").where("total % 2 = 0").write.mode("append").parquet(str(folder / "parquet"))
        if delta:
            writer = epoch.write.format("delta").option("txnAppId", "training").option("txnVersion", number)
            writer.mode("append").save(str(folder / "delta"))
        epoch.unpersist()

    def run(name: str, frame: DataFrame, sink: Callable[[DataFrame, int], None] | None) -> None:
        stream = frame.writeStream.option("checkpointLocation", str(folder / "state" / name))
        stream = stream.trigger(availableNow=True)
        if sink is None:
            stream = stream.format("parquet").option("path", str(folder / "files" / name))
        else:
            stream = stream.foreachBatch(sink)
        stream.start().awaitTermination()

    window = f.window("at", "5 minutes").alias("w")
    sums = (
        events()
        .groupBy(window, "key")
        .agg(f.count("*").alias("n"), f.sum("value").alias("total"), f.avg("value").alias("mean"))
    )
    run("windows", sums.select("w.start", "w.end", "key", "n", "total", "mean"), write)
    left = events("left").dropDuplicatesWithinWatermark(["key", "value"]).alias("l")
    right = events("right").alias("r")
    joined = left.join(right, f.expr("l.key = r.key AND l.at = r.at AND r.value > 3"), "left_outer")
    run("join", joined.selectExpr("l.at", "l.key", "upper(r.key) AS name", "r.value"), None)
    spark.read.parquet(str(folder / "files" / "join")).createOrReplaceTempView("joined")
    spark.sql("SELECT key, count(*) AS n FROM joined GROUP BY key ORDER BY n DESC LIMIT 5").collect()
    if delta:
        spark.read.format("delta").load(str(folder / "delta")).count()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

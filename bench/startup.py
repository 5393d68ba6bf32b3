"""Measure start-up: a session and the first five epochs, with plain PySpark and with headrace's launcher.

    python bench/startup.py --rounds 5

Each round runs the variants in turn, so that a machine that gets slower or faster hits them alike; medians
are compared. The archive is made first, outside the measurement, as it is for a user's second run.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from runtime.spark.archive import ArchiveKey, ensure_archive  # noqa: E402  (the path is set above)
from runtime.spark.java import find_java  # noqa: E402  (the path is set above)
from runtime.spark.session import SessionSettings, close_session, open_session, spark_conf  # noqa: E402  (as above)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VARIANTS = ("plain", "ours", "short")
TARGETS = {"ours": 0.9, "short": 0.65}
FILES = 5
ROWS = 200
PR_SET_CHILD_SUBREAPER = 36


def run_variant(variant: str, folder: Path) -> None:
    """Open a session, run five epochs, close it: what a measured process does."""
    settings = SessionSettings(
        app_name="startup",
        log_path=folder / "jvm.log",
        master="local[2]",
        short_run=variant == "short",
    )
    if variant == "plain":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder
        for key, value in spark_conf(settings).items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        run_query(spark, folder)
        spark.stop()
    else:
        spark = open_session(settings)
        run_query(spark, folder)
        close_session(spark)


def run_query(spark: SparkSession, folder: Path) -> None:
    """Run one streaming aggregate over five files, one an epoch."""
    from pyspark.sql import functions as f

    def write(epoch: DataFrame, _number: int) -> None:
        epoch.write.format("noop").mode("append").save()

    events = spark.readStream.name("events").schema("at timestamp, key string, value bigint")
    rows = events.option("maxFilesPerTrigger", 1).json(str(folder / "input")).withWatermark("at", "1 minute")
    sums = rows.groupBy(f.window("at", "5 minutes"), "key").agg(f.count("*"), f.sum("value"))
    stream = sums.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "state"))
    query = stream.trigger(availableNow=True).start()
    query.awaitTermination()
    if len(query.recentProgress) < FILES:
        raise SystemExit("The query ran fewer epochs than there are files.")


def write_input(folder: Path) -> None:
    """Write the files of the stream."""
    folder.mkdir()
    for file in range(FILES):
        rows = (
            {"at": f"2024-01-01T00:{file * 5 + i % 5:02d}:00Z", "key": f"k{i % 7}", "value": i}
            for i in range(ROWS)
        )
        (folder / f"{file}.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def wrap(variant: str, folder: Path) -> None:
    """Run a variant in a child, and print its wall time and the CPU time of it and its JVM.

    The JVM outlives its Python by a moment: as a subreaper, this process inherits it and can wait for it.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = [sys.executable, __file__, "--child", variant, "--folder", str(folder)]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    wall = time.perf_counter() - start
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime}))


def measure(variant: str) -> dict[str, float]:
    """Run one variant in fresh processes and a fresh folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_input(folder / "input")
        command = [sys.executable, __file__, "--wrap", variant, "--folder", name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{variant} failed:\n{done.stderr[-4000:]}")
        result: dict[str, float] = json.loads(done.stdout)
        return result


def main() -> int:
    """Measure, print, and say by the exit code whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each variant (3)")
    parser.add_argument("--child", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--wrap", choices=VARIANTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        run_variant(given.child, given.folder)
        return 0
    if given.wrap:
        wrap(given.wrap, given.folder)
        return 0
    java = find_java()
    print(f"Java {java.version} ({java.kind}), {os.cpu_count()} cores")
    start = time.perf_counter()
    if ensure_archive(ArchiveKey(java)) is None:
        raise SystemExit("The archive could not be made.")
    print(f"archive ready after {time.perf_counter() - start:.1f} s")
    variants = [v for v in VARIANTS if not (v == "plain" and java.kind == "wheel")]
    if "plain" not in variants:
        print("Spark's own launcher fails on the wheel's Java, so there is no plain run to compare with.")
    results: dict[str, list[dict[str, float]]] = {variant: [] for variant in variants}
    for number in range(given.rounds):
        for variant in variants:
            figures = measure(variant)
            results[variant].append(figures)
            print(
                f"round {number + 1} {variant:6} wall {figures['wall']:6.2f} s  cpu {figures['cpu']:6.2f} s"
            )
    met = True
    base = results[variants[0]]
    for variant in variants:
        wall, cpu = (median(r[unit] for r in results[variant]) for unit in ("wall", "cpu"))
        ratios = [
            median(r[u] for r in results[variant]) / median(r[u] for r in base) for u in ("wall", "cpu")
        ]
        target = TARGETS.get(variant) if "plain" in variants else None
        met = met and (target is None or ratios[0] <= target)
        note = f"  target {target}" if target else ""
        print(f"{variant:6} median wall {wall:6.2f} s ({ratios[0]:.2f})", end="  ")
        print(f"cpu {cpu:6.2f} s ({ratios[1]:.2f}){note}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())

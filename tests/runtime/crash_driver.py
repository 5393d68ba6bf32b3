"""Runs a plan in a process of its own, which dies at a chosen point.

Usage: crash_driver.py PROJECT PLAN FAULT. Faults live here, not in the product:

    after:SINK:EPOCH  right after a sink has committed an epoch, before Spark hears of it
    files:EPOCH       when an epoch's part files are there, before the manifest lists them
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.sql import DataFrame
from sessions import open_test_session

from compiler.jobplan.codec import plan_from_json
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import Writer
from runtime.connectors.sinks.filesystem import FilesystemWriter
from runtime.jobs.runner import run


def die() -> None:
    """The whole machine goes: this process and its JVM at once."""
    os.killpg(0, signal.SIGKILL)


def die_after(sink_uid: str, epoch: int) -> None:
    for connector, make in list(SINKS.items()):

        def wrapped(sink: object, ctx: object, make: object = make) -> Writer:
            writer: Writer = make(sink, ctx)  # type: ignore[operator]
            write = writer.write

            def write_and_die(number: int, batch: DataFrame) -> bool:
                computed = write(number, batch)
                if (sink.uid, number) == (sink_uid, epoch):  # type: ignore[attr-defined]
                    die()
                return computed

            writer.write = write_and_die  # type: ignore[method-assign, assignment]
            return writer

        SINKS[connector] = wrapped


def die_amid_files(epoch: int) -> None:
    """Tasks of the file sink have ended, and the manifest has not been written."""
    write = FilesystemWriter.write

    def write_and_die(self: FilesystemWriter, number: int, batch: DataFrame) -> bool:
        if number == epoch:
            no_mark = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
            batch.write.mode("append").options(**no_mark).json(str(self.folder))
            die()
        return write(self, number, batch)

    FilesystemWriter.write = write_and_die  # type: ignore[method-assign, assignment]  # for this process only


def main() -> None:
    project, plan, fault = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3].split(":")
    if fault[0] == "after":
        die_after(fault[1], int(fault[2]))
    else:
        die_amid_files(int(fault[1]))
    text = plan_from_json(plan.read_text())
    run(text, project, session=open_test_session(), on_end=sys.argv[4])  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

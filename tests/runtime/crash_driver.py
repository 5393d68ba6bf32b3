"""Runs a plan in a process of its own, which dies at a chosen point.

Usage: crash_driver.py PROJECT PLAN FAULT ON_END. Faults live here, not in the product:

    after:SINK:EPOCH  right after a sink has committed an epoch, before Spark hears of it
    files:EPOCH       when an epoch's part files are there, before the manifest lists them
    task:EPOCH        when one task of an epoch has committed to a database, and the others have not begun
    sent:EPOCH        the same of a topic
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from killable import die, open_killable_session
from pyspark import TaskContext
from pyspark.sql import DataFrame

from compiler.jobplan.codec import plan_from_json
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import Writer
from runtime.connectors.sinks.filesystem import FilesystemWriter
from runtime.jobs.runner import run


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


def only_the_first_of(part: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What the tasks of an epoch do, done by the first of them only."""

    def first(batches: Any) -> Any:
        context = TaskContext.get()
        if context is not None and context.partitionId() == 0:
            yield from part(batches)

    return first


def die_amid_tasks(epoch: int) -> None:
    """One task of a database's sink has committed its part."""
    from runtime.connectors.sinks.postgres import PostgresWriter

    run_tasks = PostgresWriter._run

    def run_one_and_die(self: PostgresWriter, number: int, part: Any, rows: DataFrame) -> dict[str, int]:
        if number == epoch:
            run_tasks(self, number, only_the_first_of(part), rows)  # type: ignore[arg-type]  # called just as a part
            die()
        return run_tasks(self, number, part, rows)

    PostgresWriter._run = run_one_and_die  # type: ignore[method-assign, assignment]  # for this process only


def die_amid_sending(epoch: int) -> None:
    """One task of a topic's sink has committed its part."""
    from runtime.connectors.sinks.kafka import KafkaWriter

    send = KafkaWriter._send

    def send_one_and_die(self: KafkaWriter, number: int, messages: DataFrame, part: Any) -> None:
        if number == epoch:
            send(self, number, messages, only_the_first_of(part))  # type: ignore[arg-type]  # called just as a part
            die()
        send(self, number, messages, part)

    KafkaWriter._send = send_one_and_die  # type: ignore[method-assign, assignment]  # for this process only


def main() -> None:
    project, plan, fault = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3].split(":")
    if fault[0] == "after":
        die_after(fault[1], int(fault[2]))
    elif fault[0] == "task":
        die_amid_tasks(int(fault[1]))
    elif fault[0] == "sent":
        die_amid_sending(int(fault[1]))
    else:
        die_amid_files(int(fault[1]))
    job = plan_from_json(plan.read_text())
    session = open_killable_session(job, project)
    run(job, project, session=session, on_end=sys.argv[4])  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

"""One pipeline into all sinks that keep a promise: its input, its outputs, and how it is killed.

Windows over a topic go to a topic, a table of PostgreSQL, a Delta table and files. Outputs are read without
Spark and without the code under test.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
from confluent_kafka import Consumer, Producer, TopicPartition
from files import rows_of
from postgres_database import Database
from processes import command, descendants

from compiler.jobplan import model as m
from compiler.jobplan.codec import to_json

HERE = Path(__file__).parent
Row = tuple[str, str, int, int]
_PARTITIONS = 2
_WINDOW_SECONDS = 10
_ROWS_A_SECOND = 20
_KEYS = 7


def project(kafka: str, source: str, target: str, database: Database, epoch_rows: int) -> str:
    """The pipeline's text."""
    broker = f"connector = 'kafka', 'properties.bootstrap.servers' = '{kafka}', format = 'json'"
    login = database.options
    sinks = {
        "to_topic": f"{broker}, topic = '{target}', 'key.fields' = 'k', max_retries = 20",
        "to_table": f"connector = 'jdbc', url = '{login['url']}', username = '{login['username']}', "
        f"password = '{login['password']}', table = 'sums', create_table = true, max_retries = 20",
        "to_delta": "connector = 'delta', path = 'delta'",
        "to_files": "connector = 'filesystem', path = 'files', format = 'json'",
    }
    return f"""
        CREATE SOURCE clicks (k STRING, v INT, ts TIMESTAMP(3),
          WATERMARK FOR ts AS ts - INTERVAL '10' SECOND)
          WITH ({broker}, topic = '{source}', max_records_per_epoch = {epoch_rows});
        CREATE MODEL sums AS
          SELECT CAST(window_start AS STRING) AS at, k, COUNT(*) AS n, SUM(v) AS total
          FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '{_WINDOW_SECONDS}' SECONDS)
          GROUP BY window_start, window_end, k;
    """ + "".join(
        f"CREATE SINK {name} WITH ({options}) AS SELECT * FROM sums;" for name, options in sinks.items()
    )


def send(kafka: str, topic: str, first: int, count: int) -> None:
    """Sends rows of which each is a little later than the one before."""
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 50})
    for number in range(first, first + count):
        time_of_day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(number // _ROWS_A_SECOND))
        row = {"k": f"k{number % _KEYS}", "v": number % 1000, "ts": time_of_day}
        while True:
            try:
                producer.produce(topic, json.dumps(row), partition=number % _PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(60) == 0


def expected(count: int) -> list[Row]:
    """What each output has to hold of `count` rows."""
    found: dict[tuple[int, int], list[int]] = {}
    for number in range(count):
        window = number // _ROWS_A_SECOND // _WINDOW_SECONDS * _WINDOW_SECONDS
        found.setdefault((window, number % _KEYS), []).append(number % 1000)
    return sorted(
        (time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(window)), f"k{key}", len(values), sum(values))
        for (window, key), values in found.items()
    )


def outputs(kafka: str, target: str, database: Database, root: Path) -> dict[str, list[Row]]:
    """All rows of each output."""
    return {
        "topic": sorted(_messages(kafka, target)),
        "table": sorted((r[0], r[1], r[2], r[3]) for r in database.rows("SELECT at, k, n, total FROM sums")),
        "delta": sorted(_delta(root / "delta")),
        "files": sorted((row["at"], row["k"], row["n"], row["total"]) for row in rows_of(root / "files")),
    }


def _messages(kafka: str, topic: str) -> Iterator[Row]:
    consumer = Consumer(
        {"bootstrap.servers": kafka, "group.id": "four", "isolation.level": "read_committed",
         "enable.partition.eof": True, "enable.auto.commit": False}
    )  # fmt: skip
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(_PARTITIONS)])
    ends = 0
    while ends < _PARTITIONS:
        message = consumer.poll(30)
        assert message is not None
        if message.error():
            ends += 1
            continue
        row = json.loads(message.value() or b"")
        assert json.loads(message.key() or b"") == {"k": row["k"]}
        yield row["at"], row["k"], row["n"], row["total"]
    consumer.close()


def _delta(folder: Path) -> list[Row]:
    """The rows of the files that the table's log has added; nothing is ever taken from it here."""
    log = sorted((folder / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for commit in log for line in commit.read_text().splitlines()]
    files = [str(folder / action["add"]["path"]) for action in actions if "add" in action]
    return duckdb.execute('SELECT "at", k, n, total FROM read_parquet(?)', [files]).fetchall()


class Victim:
    """A run of a plan in a process of its own, of which parts can be killed."""

    def __init__(self, plan: m.JobPlan, root: Path) -> None:
        (root / "plan.json").write_text(to_json(plan))
        path = filter(None, (str(HERE.parents[1]), str(HERE.parent), os.environ.get("PYTHONPATH")))
        self._log = (root / "run.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, str(HERE.parent / "killed_run.py"), str(root), str(root / "plan.json"),
             "leave_open", "1000000"],
            stdout=self._log, stderr=self._log, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        )  # fmt: skip

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> int:
        """Waits for the run's end; gives its exit code."""
        code = self._process.wait(300)
        self._log.close()
        return code

    def kill(self, what: str) -> bool:
        """Kills the `driver`, the `jvm` or a Python `worker`; False if there is none."""
        return self.alive and kill(self._process.pid, what)


def kill(driver: int, what: str) -> bool:
    """The same of the run that a process drives."""
    below = descendants(driver)
    of_kind = {
        "driver": [driver],
        "jvm": [pid for pid in below if command(pid).split(b"\0")[0].endswith(b"/java")],
        "worker": _workers(below, driver),
    }[what]
    if not of_kind:
        return False
    try:
        os.kill(random.choice(of_kind), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _workers(below: dict[int, int], driver: int) -> list[int]:
    """Forked from the nursery, which their command lines name, or of pyspark's own daemon; not those two."""
    forked = [pid for pid in below if b"workers.server" in command(pid) or b"daemon" in command(pid)]
    return [pid for pid in forked if below[pid] != driver and pid not in below.values()]


def begun(root: Path) -> int:
    """How many epochs have begun, over all queries; Spark keeps the files of the last hundred only."""
    folders = (root / ".headrace/state/queries").glob("*/checkpoint/offsets")
    epochs = ([int(file.name) + 1 for file in folder.glob("[0-9]*")] for folder in folders)
    return sum(max(found, default=0) for found in epochs)


def doubled_or_lost(found: list[Row], wanted: list[Row]) -> tuple[int, int]:
    """How many rows are there too often, and how many are not."""
    there, due = Counter(found), Counter(wanted)
    return (there - due).total(), (due - there).total()

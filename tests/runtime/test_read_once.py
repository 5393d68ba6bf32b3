"""Sinks without state beside one: both take what an epoch has read once, and give their rows as if apart."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Literal

import pytest
import test_kafka_source as topics
import test_policies as policies
from compiling import plan_at
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic
from files import rows_of
from pyspark.sql import SparkSession
from test_crash import killed

from compiler.jobplan.model import JobPlan, Manifest
from runtime.jobs.events import Event
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.state.root import read_manifest

End = Literal["close", "leave_open"]
pytestmark = pytest.mark.usefixtures("interpreted")

SOURCE = """
CREATE SOURCE orders (id INT NOT NULL, customer STRING, amount INT, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1,
  on_bad_record = 'drop', on_null_time = 'drop'{more});
CREATE MODEL big AS SELECT id, upper(customer) AS c, amount * 2 AS a, at FROM orders WHERE amount > 10;
"""
SINKS = {
    "sums": """SELECT window_start, c, sum(a) AS total, count(*) AS n
        FROM TUMBLE(TABLE big, DESCRIPTOR(at), INTERVAL '10' SECONDS) GROUP BY window_start, window_end, c""",
    "large": "SELECT id, c, a, at FROM big WHERE a > 60",
    "all_rows": "SELECT id, customer, at FROM orders",
}


def compiled(
    root: Path,
    names: Collection[str] = tuple(SINKS),
    manifest: Manifest | None = None,
    without: Collection[str] = (),
    more: str = "",
    trigger: str = "available_now",
) -> JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text(
        "name: shop\nversion: '1'\n"
        f"targets: {{dev: {{master: 'local[2]', parallelism: 2, trigger: {trigger}}}}}\n"
    )
    sinks = (
        f"CREATE SINK {name} WITH (connector = 'filesystem', path = 'out/{name}', format = 'json') "
        f"AS {SINKS[name]};\n"
        for name in names
    )
    (root / "all.sql").write_text(SOURCE.format(more=more) + "".join(sinks))
    return plan_at(root, manifest, without)


def put(root: Path, first: int, files: int = 3) -> None:
    """Rows ten seconds a file, with a bad record and a row without a time in each."""
    (root / "in").mkdir(parents=True, exist_ok=True)
    for file in range(first, first + files):
        rows = [
            {"id": 10 * file + n, "customer": "ab"[n % 2], "amount": 7 * n, "at": at(10 * file + n)}
            for n in range(10)
        ]
        rows.append({"id": 1000 + file, "customer": "a", "amount": 99, "at": None})
        lines = [*map(json.dumps, rows), '{"id": "no number"}']
        path = root / "in" / f"{file:03}.json"
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (1_700_000_000 + file, 1_700_000_000 + file))


def at(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02}:{second % 60:02}"


def outputs(root: Path, names: Collection[str] = tuple(SINKS)) -> dict[str, list[str]]:
    return {
        name: sorted(json.dumps(row, sort_keys=True) for row in rows_of(root / "out" / name))
        for name in names
    }


def go(root: Path, plan: JobPlan, session: SparkSession, end: End) -> RunReport:
    report = run(plan, root, session=session, on_end=end)
    assert not report.failures
    return report


def test_the_same_rows_as_apart(session: SparkSession, tmp_path: Path) -> None:
    reports: list[RunReport] = []
    for root, without in ((tmp_path / "once", ()), (tmp_path / "apart", ("read_once",))):
        put(root, 0, files=4)
        plan = compiled(root, without=without)
        assert [(len(query.sinks), query.kept is not None) for query in plan.queries] == (
            [(1, False), (2, False)] if without else [(3, True)]
        )
        reports.append(go(root, plan, session, "close"))
    assert outputs(tmp_path / "once") == outputs(tmp_path / "apart")
    assert all(outputs(tmp_path / "once").values())
    once, apart = reports
    assert once.queries[0].input_rows == apart.queries[0].input_rows
    # What is set aside is told once, though two readers set it aside.
    assert once.queries[0].set_aside == apart.queries[0].set_aside
    assert {found.reason: found.rows for found in once.queries[0].set_aside} == {
        "bad records": 4,
        "rows without an event time": 4,
    }


@pytest.mark.parametrize(
    "fault",
    [
        "after:sums:2",
        pytest.param("after:large:1", marks=pytest.mark.soak),
        pytest.param("after:all_rows:3", marks=pytest.mark.soak),
        pytest.param("files:2", marks=pytest.mark.soak),
    ],
)
def test_killed_between_its_sinks(session: SparkSession, tmp_path: Path, fault: str) -> None:
    """What has an epoch keeps it, what has not gets it; another run adds nothing."""
    root, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    for project in (root, undisturbed):
        put(project, 0, files=4)
    go(undisturbed, compiled(undisturbed), session, "leave_open")
    plan = compiled(root)
    killed(plan, root, fault)
    assert outputs(root) != outputs(undisturbed)
    go(root, plan, session, "leave_open")
    assert outputs(root) == outputs(undisturbed)
    assert go(root, plan, session, "leave_open").rows_written == 0
    put(root, 4)
    put(undisturbed, 4)
    for project in (root, undisturbed):
        go(project, plan, session, "close")
    assert outputs(root) == outputs(undisturbed)


@pytest.mark.parametrize("left", [("large", "all_rows"), ("sums", "all_rows"), ("all_rows",)])
def test_sinks_that_go(session: SparkSession, tmp_path: Path, left: tuple[str, ...]) -> None:
    """Whatever goes, the others go on where they were: without the state, if nobody needs it any more."""
    put(tmp_path, 0)
    go(tmp_path, compiled(tmp_path), session, "leave_open")
    put(tmp_path, 3)
    plan = compiled(tmp_path, left, read_manifest(tmp_path / ".headrace/state"))
    assert [query.uid for query in plan.queries] == ["sums"]
    go(tmp_path, plan, session, "close")
    # What went comes back as a query of its own, over its old output: refused, as ever, until it is emptied.
    all_of_them = compiled(tmp_path, SINKS, read_manifest(tmp_path / ".headrace/state"))
    assert len(all_of_them.queries) == 2

    undisturbed = tmp_path / "undisturbed"
    put(undisturbed, 0, files=6)
    go(undisturbed, compiled(undisturbed), session, "close")
    assert outputs(tmp_path, left) == outputs(undisturbed, left)


def test_a_query_that_runs_keeps_its_sinks(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, 0)
    go(tmp_path, compiled(tmp_path, ["sums"]), session, "leave_open")
    plan = compiled(tmp_path, SINKS, read_manifest(tmp_path / ".headrace/state"))
    assert [[sink.uid for sink in query.sinks] for query in plan.queries] == [["sums"], ["large", "all_rows"]]
    assert all(query.kept is None for query in plan.queries)


def test_beside_a_source_that_may_fall_silent(session: SparkSession, tmp_path: Path) -> None:
    """An idle timeout puts a second source into the stream, with a name and offsets of its own."""
    put(tmp_path, 0)
    plan = compiled(tmp_path, more=", idle_timeout = '1 hour'", trigger="200 ms")
    assert [query.kept is not None for query in plan.queries] == [True]
    stop = threading.Event()
    threading.Timer(90, stop.set).start()

    def feed(_: Event) -> None:
        found = len(rows_of(tmp_path / "out/all_rows"))
        if found == 30 and not (tmp_path / "in/003.json").exists():
            put(tmp_path, 3, files=1)
        elif found == 40:
            stop.set()

    assert not run(plan, tmp_path, session=session, events=feed, stop=stop).failures
    undisturbed = tmp_path / "undisturbed"
    put(undisturbed, 0, files=4)
    go(undisturbed, compiled(undisturbed), session, "leave_open")
    assert outputs(tmp_path, ["large", "all_rows"]) == outputs(undisturbed, ["large", "all_rows"])


def test_an_epoch_without_input_has_read_nothing(session: SparkSession, tmp_path: Path) -> None:
    """Spark asks for the last epoch again where a query goes on, whose files may be gone by then."""
    put(tmp_path, 0)
    plan = compiled(tmp_path)
    go(tmp_path, plan, session, "leave_open")
    before = outputs(tmp_path)
    for file in (tmp_path / "in").iterdir():
        file.unlink()
    go(tmp_path, plan, session, "close")
    after = outputs(tmp_path)
    assert len(after["sums"]) > len(before["sums"])
    assert (after["large"], after["all_rows"]) == (before["large"], before["all_rows"])


TOPIC = """
CREATE SOURCE t (id INT NOT NULL, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '1' SECOND
) WITH (connector = 'kafka', topic = '{topic}', 'properties.bootstrap.servers' = '{kafka}', format = 'json',
  max_records_per_epoch = 2{more});
CREATE SINK sums WITH (connector = 'filesystem', path = 'sums', format = 'json') AS
SELECT window_start, count(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(at), INTERVAL '2' SECONDS)
GROUP BY window_start, window_end;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT id FROM t;
"""


def read_topic(
    root: Path, session: SparkSession, kafka: str, topic: str, more: str = "", end: End = "leave_open"
) -> RunReport:
    plan = policies.compiled(root, TOPIC.format(topic=topic, kafka=kafka, more=more))
    assert [query.kept is not None for query in plan.queries] == [True]
    return run(plan, root, session=session, on_end=end)


def send(kafka: str, topic: str, *ids: int, partition: int = 0) -> None:
    topics.send(kafka, topic, *(json.dumps({"id": i, "at": at(i)}) for i in ids), partition=partition)


def test_a_topic_is_read_once(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    """Epochs are bounded and partitions come, as without a sink beside; what Kafka deleted is missed."""
    topic = topics.make_topic(kafka)
    send(kafka, topic, *range(5))
    report = read_topic(tmp_path, session, kafka, topic)
    assert not report.failures
    assert report.queries[0].input_rows == 5
    assert report.queries[0].epochs >= 3
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    send(kafka, topic, 5, 6, partition=1)
    assert not read_topic(tmp_path, session, kafka, topic).failures
    assert ids(tmp_path) == [0, 1, 2, 3, 4, 5, 6]

    send(kafka, topic, 7, 8, 9)
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 7)]).values()
    deleted.result(30)
    failed = read_topic(tmp_path, session, kafka, topic)
    assert [f.message for f in failed.failures] == [
        "query sums failed: records that it has not read yet are gone"
    ]
    ignoring = ", on_data_loss = 'ignore'"
    assert not read_topic(tmp_path, session, kafka, topic, ignoring, "close").failures
    assert ids(tmp_path) == [0, 1, 2, 3, 4, 5, 6, 9]
    assert [row["n"] for row in rows_of(tmp_path / "sums")] == [1, 1, 2, 2, 2]


def test_a_topic_that_was_made_anew(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topic = topics.make_topic(kafka)
    send(kafka, topic, 0, 1, 2)
    assert not read_topic(tmp_path, session, kafka, topic).failures
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.delete_topics([topic])[topic].result(30)
    failed = read_topic(tmp_path, session, kafka, topic)
    assert failed.failures
    for _ in range(50):
        try:
            admin.create_topics([NewTopic(topic, 1)])[topic].result(30)
            break
        except KafkaException:
            time.sleep(0.2)
    send(kafka, topic, 10)
    failed = read_topic(tmp_path, session, kafka, topic)
    assert [f.message for f in failed.failures] == [
        "query sums failed: records that it has not read yet are gone"
    ]


def ids(root: Path) -> list[int]:
    return sorted(row["id"] for row in rows_of(root / "out"))

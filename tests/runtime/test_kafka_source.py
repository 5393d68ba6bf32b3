"""Topics of a real broker as sources."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic
from files import rows_of
from pyspark.sql import SparkSession
from test_policies import compiled

from pipelines.services.base import free_port
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run

_names = (f"topic_{number}" for number in itertools.count())
COLUMNS = "id INT NOT NULL, v STRING"


def make_topic(kafka: str, partitions: int = 1) -> str:
    name = next(_names)
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(name, partitions)])[name].result(30)
    return name


def send(kafka: str, topic: str, *values: str | bytes | None, partition: int = 0, **more: Any) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    for value in values:
        data = value.encode() if isinstance(value, str) else value
        producer.produce(topic, data, partition=partition, **more)
    assert producer.flush(30) == 0


def project(kafka: str, topic: str, columns: str = COLUMNS, options: str = "", format_: str = "json") -> str:
    return f"""
        CREATE SOURCE t ({columns}) WITH (connector = 'kafka', topic = '{topic}',
          'properties.bootstrap.servers' = '{kafka}', format = '{format_}'{options});
        CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM t;
    """


def go(root: Path, session: SparkSession, sql: str) -> RunReport:
    return run(compiled(root, sql), root, session=session)


def row(number: int, value: str = "a") -> str:
    return json.dumps({"id": number, "v": value})


def test_json_with_all_metadata(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topic = make_topic(kafka, 2)
    headers = [("h", b"first"), ("g", b"x"), ("h", b"last")]
    send(kafka, topic, row(1), key=b"k", headers=headers, timestamp=1_704_067_200_123)
    # A tombstone holds no row.
    send(kafka, topic, row(2, "ü"), None, partition=1, timestamp=1_704_067_201_000)
    columns = (
        f"{COLUMNS}, topic STRING METADATA, p INT METADATA FROM 'partition', `offset` BIGINT METADATA, "
        "ts TIMESTAMP(3) METADATA FROM 'timestamp', kind STRING METADATA FROM 'timestamp-type', "
        "key STRING METADATA, headers MAP<STRING, BINARY> METADATA, h AS CAST(headers['h'] AS STRING)"
    )
    sql = project(kafka, topic, columns).replace(
        "SELECT *", "SELECT id, v, topic, p, `offset`, ts, kind, key, h"
    )
    assert not go(tmp_path, session, sql).failures
    first, second = sorted(rows_of(tmp_path / "out"), key=lambda found: found["id"])
    assert first == {
        "id": 1,
        "v": "a",
        "topic": topic,
        "p": 0,
        "offset": 0,
        "kind": "CreateTime",
        "ts": "2024-01-01T00:00:00.123Z",
        "key": "k",
        "h": "last",
    }
    assert second == {
        "id": 2,
        "v": "ü",
        "topic": topic,
        "p": 1,
        "offset": 0,
        "kind": "CreateTime",
        "ts": "2024-01-01T00:00:01.000Z",
    }


def test_csv_and_raw(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topic = make_topic(kafka)
    send(kafka, topic, "1;a;b", '2;"c;d";')
    sql = project(kafka, topic, "id INT, a STRING, b STRING", ", 'csv.delimiter' = ';'", "csv")
    sql += (
        project(kafka, topic, "line STRING", "", "raw")
        .replace(" t ", " r ")
        .replace("FROM t", "FROM r")
        .replace("SINK out", "SINK lines")
        .replace("'out'", "'lines'")
    )
    assert not go(tmp_path, session, sql).failures
    rows = sorted(rows_of(tmp_path / "out"), key=lambda found: found["id"])
    assert rows == [{"id": 1, "a": "a", "b": "b"}, {"id": 2, "a": "c;d"}]
    assert sorted(found["line"] for found in rows_of(tmp_path / "lines")) == ["1;a;b", '2;"c;d";']


def test_epochs_are_bounded_and_new_partitions_are_read(
    session: SparkSession, kafka: str, tmp_path: Path
) -> None:
    topic = make_topic(kafka)
    send(kafka, topic, *(row(number) for number in range(5)))
    sql = project(kafka, topic, options=", max_records_per_epoch = 2")
    assert sum(query.epochs for query in go(tmp_path, session, sql).queries) == 3
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    send(kafka, topic, row(5), partition=1)
    assert not go(tmp_path, session, sql).failures
    assert sorted(found["id"] for found in rows_of(tmp_path / "out")) == [0, 1, 2, 3, 4, 5]


def test_where_a_query_begins(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topic = make_topic(kafka, 2)
    for number in range(4):
        send(kafka, topic, row(number), timestamp=1_000_000 + number)
    send(kafka, topic, row(9), partition=1, timestamp=5)
    starts = {
        "earliest-offset": ("", [0, 1, 2, 3, 9]),
        "latest": ("", []),
        "timestamp": (", 'scan.startup.timestamp-millis' = '1000002'", [2, 3]),
        "specific-offsets": (
            ", 'scan.startup.specific-offsets' = 'partition:0,offset:3;partition:1,offset:0'",
            [3, 9],
        ),
    }
    for mode, (more, expected) in starts.items():
        root = tmp_path / mode
        report = go(root, session, project(kafka, topic, options=f", 'scan.startup.mode' = '{mode}'{more}"))
        assert not report.failures
        assert sorted(found["id"] for found in rows_of(root / "out")) == expected, mode


def test_a_poison_record_is_named_with_its_position(
    session: SparkSession, kafka: str, tmp_path: Path
) -> None:
    topic = make_topic(kafka)
    send(kafka, topic, row(1), "{broken", "[" + row(2) + "]", '{"v": "no id"}', row(3))
    failed = go(tmp_path / "fail", session, project(kafka, topic))
    assert [failure.code.name for failure in failed.failures] == ["HR406"]
    assert f"{topic}/0/1" in failed.failures[0].message
    assert "{broken" in (failed.failures[0].cause or "")

    letters = (
        project(kafka, topic, options=", on_bad_record = 'dead_letter', dead_letter = 'bad'")
        + "CREATE SINK bad WITH (connector = 'filesystem', path = 'bad', format = 'json');"
    )
    assert not go(tmp_path / "letters", session, letters).failures
    assert sorted(found["id"] for found in rows_of(tmp_path / "letters" / "out")) == [1, 3]
    bad = {found["position"]: found["raw"] for found in rows_of(tmp_path / "letters" / "bad")}
    assert bad == {
        f"{topic}/0/1": "{broken",
        f"{topic}/0/2": "[" + row(2) + "]",
        f"{topic}/0/3": '{"v":"no id"}',
    }


def test_late_records_are_dead_letters(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    """An epoch is read once more between its offsets, with partitions that have come since."""
    topic = make_topic(kafka)
    sql = f"""
        CREATE SOURCE t (id INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECONDS)
        WITH (connector = 'kafka', topic = '{topic}', format = 'json',
          'properties.bootstrap.servers' = '{kafka}', 'properties.metadata.max.age.ms' = '300',
          on_late = 'dead_letter', dead_letter = 'late');
        CREATE SINK late WITH (connector = 'filesystem', path = 'late', format = 'json');
        CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS
        SELECT count(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECONDS)
        GROUP BY window_start, window_end;
    """

    def at(number: int, second: int) -> str:
        return json.dumps({"id": number, "ts": f"2024-01-01T00:00:{second:02}Z"})

    send(kafka, topic, at(1, 5), at(2, 50))
    assert not go(tmp_path, session, sql).failures
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    send(kafka, topic, at(3, 7), at(4, 51))
    send(kafka, topic, at(5, 6), at(6, 52), partition=1)
    assert not go(tmp_path, session, sql).failures
    letters = {found["position"]: json.loads(found["raw"])["id"] for found in rows_of(tmp_path / "late")}
    assert letters == {f"{topic}/0/2": 3, f"{topic}/1/0": 5}
    assert [found["n"] for found in rows_of(tmp_path / "out")] == [1]


def test_a_topic_that_is_not_there_is_named(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    report = go(tmp_path, session, project(kafka, "nobody_made_this"))
    assert report.failures
    assert report.failures[0].message == "query out failed: a Kafka topic of it does not exist"


def test_a_broker_that_is_down_ends_the_query(session: SparkSession, tmp_path: Path) -> None:
    quick = ", 'properties.default.api.timeout.ms' = '1500', 'properties.request.timeout.ms' = '1000'"
    report = go(tmp_path, session, project(f"127.0.0.1:{free_port()}", "t", options=quick))
    assert report.failures[0].message == "query out failed: its Kafka broker does not answer"


def test_records_that_kafka_deleted_are_missed(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topic = make_topic(kafka)
    send(kafka, topic, *(row(number) for number in range(3)))
    assert not go(tmp_path, session, project(kafka, topic)).failures
    send(kafka, topic, *(row(number) for number in range(3, 6)))
    admin = AdminClient({"bootstrap.servers": kafka})
    (deleted,) = admin.delete_records([TopicPartition(topic, 0, 5)]).values()
    deleted.result(30)
    failed = go(tmp_path, session, project(kafka, topic))
    assert failed.failures[0].message == "query out failed: records that it has not read yet are gone"
    assert not go(tmp_path, session, project(kafka, topic, options=", on_data_loss = 'ignore'")).failures
    assert sorted(found["id"] for found in rows_of(tmp_path / "out")) == [0, 1, 2, 5]


def test_credentials_are_written_nowhere(
    session: SparkSession, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    monkeypatch.setenv("JAAS", f'{module} required username="u" password="hunter2";')
    monkeypatch.setenv("TRUST", "trusted2")
    options = (
        ", 'properties.security.protocol' = 'SASL_PLAINTEXT', 'properties.sasl.mechanism' = 'PLAIN'"
        ", 'properties.sasl.jaas.config' = '${env:JAAS}', 'properties.ssl.key.password' = '${env:TRUST}'"
        ", 'properties.default.api.timeout.ms' = '1500', 'properties.request.timeout.ms' = '1000'"
    )
    # The broker knows no logins, so the client that tries to log in fails.
    failed = go(tmp_path, session, project(kafka, make_topic(kafka), options=options))
    said = "".join(f"{failure.message} {failure.cause}" for failure in failed.failures)
    assert said
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"${env:JAAS}" in text for text in written)
    assert not [text for text in (said.encode(), *written) if b"hunter2" in text or b"trusted2" in text]

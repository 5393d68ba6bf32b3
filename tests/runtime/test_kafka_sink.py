"""Topics of a real broker as sinks, and from one topic to another."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from files import rows_of
from protobuf_types import DESCRIPTORS, message
from pyspark.sql import SparkSession
from test_kafka_source import go, make_topic, row, send
from test_policies import compiled

from runtime.jobs.runner import run


def messages(kafka: str, topic: str, count: int) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of the first messages of partition 0, and a look for more."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "test", "isolation.level": "read_committed"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(count, timeout=30)
    found += consumer.consume(1, timeout=0.5)
    consumer.close()
    assert not [sent.error() for sent in found if sent.error()]
    return [(sent.key(), sent.value()) for sent in found]


def project(kafka: str, source: str, *sinks: str) -> str:
    client = f"connector = 'kafka', 'properties.bootstrap.servers' = '{kafka}'"
    declared = f"CREATE SOURCE t (id INT, v STRING) WITH ({client}, topic = '{source}', format = 'json');"
    return declared + "".join(
        f"CREATE SINK s{number} WITH ({client}, {sink};" for number, sink in enumerate(sinks)
    )


def test_from_topic_to_topics(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    source, as_json, as_csv, as_raw = (make_topic(kafka) for _ in range(4))
    send(kafka, source, row(1, "ü"), '{"id": 2}')
    sql = project(
        kafka,
        source,
        f"topic = '{as_json}', format = 'json', 'key.fields' = 'ID') AS SELECT * FROM t",
        f"topic = '{as_csv}', format = 'csv', 'csv.delimiter' = '|', 'key.fields' = 'v', "
        "'key.format' = 'raw') AS SELECT * FROM t",
        f"topic = '{as_raw}', format = 'raw') AS SELECT v FROM t",
    )
    report = go(tmp_path, session, sql)
    assert not report.failures
    assert report.rows_written == 6
    # In no order: each task has a transaction of its own.
    assert dict(messages(kafka, as_json, 2)) == {
        b'{"id":1}': '{"id":1,"v":"ü"}'.encode(),
        b'{"id":2}': b'{"id":2,"v":null}',
    }
    assert dict(messages(kafka, as_csv, 2)) == {"ü".encode(): "1|ü".encode(), None: b"2|"}
    assert set(messages(kafka, as_raw, 2)) == {(None, "ü".encode()), (None, None)}
    # Another run has nothing new to send.
    assert go(tmp_path, session, sql).rows_written == 0


def test_protobuf_from_topic_to_topic(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    source, target = make_topic(kafka), make_topic(kafka)
    at = {"seconds": 1_704_067_200, "nanos": 5_000}
    sales = [message("shop.Sale", id=n, at=at, tags=["a"] * n) for n in (1, 2)]
    send(kafka, source, sales[0], b"\x00broken", sales[1])
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "shop.desc").write_bytes(DESCRIPTORS)
    given = (
        f"connector = 'kafka', 'properties.bootstrap.servers' = '{kafka}', format = 'protobuf', "
        "'protobuf.descriptor' = 'types/shop.desc', 'protobuf.message-name' = 'shop.Sale'"
    )
    key = "'key.format' = 'protobuf', 'key.fields' = 'id', 'key.protobuf.message-name' = 'shop.Key'"
    sql = f"""
        CREATE SOURCE t (id BIGINT NOT NULL, note STRING, at TIMESTAMP, tags ARRAY<STRING>) WITH (
          {given}, topic = '{source}', on_bad_record = 'dead_letter', dead_letter = 'bad');
        CREATE SINK bad WITH (connector = 'filesystem', path = 'bad', format = 'json');
        CREATE SINK s WITH ({given}, topic = '{target}', {key}) AS
          SELECT id, COALESCE(note, 'n') AS note, at, COALESCE(tags, array()) AS tags FROM t;
    """
    # The plan has the type: the file is not needed to run it.
    plan = compiled(tmp_path, sql)
    (tmp_path / "types" / "shop.desc").unlink()
    assert not run(plan, tmp_path, session=session).failures
    assert dict(messages(kafka, target, 2)) == {
        message("shop.Key", id=n): message("shop.Sale", id=n, note="n", at=at, tags=["a"] * n) for n in (1, 2)
    }
    (bad,) = rows_of(tmp_path / "bad")
    assert (bad["position"], bad["raw"]) == (f"{source}/0/1", b64encode(b"\x00broken").decode())


@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_an_oversized_message_loses_nothing(
    session: SparkSession, kafka: str, tmp_path: Path, delivery: str
) -> None:
    source, target = make_topic(kafka), make_topic(kafka)
    send(kafka, source, row(1, "x" * 5000))
    big = f"topic = '{target}', format = 'json', delivery = '{delivery}'%s) AS SELECT * FROM t"
    small = project(kafka, source, big % ", 'properties.max.request.size' = '1000'")
    failed = go(tmp_path, session, small)
    told = failed.failures[0]
    assert told.code.name == ("HR421" if delivery == "exactly_once" else "HR410")
    assert "max.request.size" in f"{told.cause} {told.fix}"
    assert not go(tmp_path, session, project(kafka, source, big % "")).failures
    assert len(messages(kafka, target, 1)) == 1


def test_what_is_promised(tmp_path: Path) -> None:
    sink = "topic = 'x', format = 'json'%s) AS SELECT * FROM t"
    asked = ("", ", 'sink.delivery-guarantee' = 'at-least-once'", ", delivery = 'at_least_once'")
    plan = compiled(tmp_path, project("nowhere:1", "t", *(sink % more for more in asked)))
    promised = {sink.uid: sink.delivery for query in plan.queries for sink in query.sinks}
    assert promised == {"s0": "exactly_once", "s1": "at_least_once", "s2": "at_least_once"}


@pytest.mark.parametrize(
    ("sink", "problem"),
    [
        ("topic = 'x', format = 'raw') AS SELECT * FROM t", "takes one column of type STRING or BINARY"),
        ("topic = 'x', format = 'json', 'key.fields' = 'w') AS SELECT * FROM t", "has no column `w`"),
        ("topic = 'x', format = 'json', 'key.format' = 'csv') AS SELECT * FROM t", "needs key.fields"),
    ],
)
def test_what_a_topic_cannot_take_is_refused(tmp_path: Path, sink: str, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        compiled(tmp_path, project("nowhere:1", "t", sink))

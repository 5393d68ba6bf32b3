"""Topics of a real broker as tables: compacted ones and Debezium's, in and out."""

from __future__ import annotations

import json
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession
from test_kafka_sink import messages
from test_kafka_source import go, make_topic, send


def project(kafka: str, topics: dict[str, str]) -> str:
    def at(name: str) -> str:
        return f"topic = '{topics[name]}', 'properties.bootstrap.servers' = '{kafka}'"

    upsert = "connector = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
    debezium = "connector = 'kafka', format = 'debezium-json'"
    return f"""
        CREATE SOURCE items (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({upsert}, {at("items")});
        CREATE MODEL counts WITH (allow_unbounded = true) AS SELECT v, COUNT(*) AS n FROM items GROUP BY v;
        CREATE TABLE counted (v STRING, n BIGINT, PRIMARY KEY (v) NOT ENFORCED)
          WITH ({upsert}, 'value.fields-include' = 'EXCEPT_KEY', {at("counted")});
        INSERT INTO counted SELECT v, n FROM counts;
        CREATE TABLE kept (id INT, v STRING, at TIMESTAMP(3) METADATA FROM 'timestamp',
          more MAP<STRING, BINARY> METADATA FROM 'headers', PRIMARY KEY (id) NOT ENFORCED)
          WITH ({debezium}, {at("kept")});
        INSERT INTO kept SELECT id, v, CAST('2024-01-01 00:00:00.123' AS TIMESTAMP(3)),
          map('h', CAST('x' AS BINARY))
          FROM items WHERE v <> 'a';

        CREATE SOURCE clients (id INT, v STRING, twice AS id * 2, PRIMARY KEY (id) NOT ENFORCED)
          WITH ({debezium}, {at("clients")}, on_bad_record = 'drop');
        CREATE TABLE copied (id INT, v STRING, twice INT, PRIMARY KEY (id) NOT ENFORCED)
          WITH ({upsert}, {at("copied")});
        INSERT INTO copied SELECT * FROM clients;
    """


def change(op: str, before: object = None, after: object = None) -> str:
    return json.dumps({"op": op, "before": before, "after": after})


def put(kafka: str, topic: str, key: int, value: str | None) -> None:
    row = None if value is None else json.dumps({"id": key, "v": value})
    send(kafka, topic, row, key=json.dumps({"id": key}))


def test_tables_in_topics(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    topics = {name: make_topic(kafka) for name in ("items", "counted", "kept", "clients", "copied")}
    sql = project(kafka, topics)

    def received(name: str, count: int) -> dict[bytes | None, bytes | None]:
        found = messages(kafka, topics[name], count)
        assert len(found) == count, found
        return dict(found)

    for key, value in ((1, "a"), (2, "a"), (1, "b")):
        put(kafka, topics["items"], key, value)
    one, two = {"id": 1, "v": "x"}, {"id": 2, "v": "y"}
    send(kafka, topics["clients"], change("r", None, one), "poison", change("c", None, two))
    assert not go(tmp_path, session, sql).failures
    assert received("counted", 2) == {b'{"v":"a"}': b'{"n":1}', b'{"v":"b"}': b'{"n":1}'}
    assert sorted(str(value) for _, value in messages(kafka, topics["kept"], 2)) == [
        str(b'{"before":null,"after":{"id":1,"v":"b"},"op":"c"}'),
        str(b'{"before":{"id":2,"v":"a"},"after":null,"op":"d"}'),
    ]
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "test"})
    consumer.assign([TopicPartition(topics["kept"], 0, 0)])
    (first,) = consumer.consume(1, timeout=30)
    consumer.close()
    assert (first.timestamp()[1], first.headers()) == (1_704_067_200_123, [("h", b"x")])
    assert received("copied", 2) == {
        b'{"id":1}': b'{"id":1,"v":"x","twice":2}',
        b'{"id":2}': b'{"id":2,"v":"y","twice":4}',
    }

    put(kafka, topics["items"], 2, None)
    send(kafka, topics["clients"], change("u", one, {"id": 3, "v": "z"}), change("d", two), None)
    assert not go(tmp_path, session, sql).failures
    assert received("counted", 3) == {b'{"v":"a"}': None, b'{"v":"b"}': b'{"n":1}'}
    assert received("copied", 5) == {
        b'{"id":1}': None,
        b'{"id":2}': None,
        b'{"id":3}': b'{"id":3,"v":"z","twice":6}',
    }

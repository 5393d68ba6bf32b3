"""Messages as rows and rows as messages, without a broker: what is in key, value and headers."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from protobuf_types import DESCRIPTORS, message
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from test_policies import compiled

from compiler.jobplan.model import FromChangelog, JobPlan, Scan
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.kafka.messages import as_messages, message_rows
from runtime.connectors.kafka.protobuf import read_protobuf, write_protobuf
from runtime.connectors.kafka.records import read_messages
from runtime.jobs.environment import Environment
from runtime.jobs.failures import diagnose
from runtime.spark.operators.changelog_functions import lower_from

MESSAGES = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
Found = dict[str, Any]


def project(tmp_path: Path, columns: str, options: str, connector: str = "kafka") -> JobPlan:
    given = f"connector = '{connector}', 'properties.bootstrap.servers' = 'nowhere:1', {options}"
    return compiled(
        tmp_path,
        f"CREATE SOURCE t ({columns}) WITH ({given}, topic = 'in', on_bad_record = 'drop');"
        f"CREATE TABLE s ({columns}) WITH ({given}, topic = 'out'); INSERT INTO s SELECT * FROM t;",
    )


Message = tuple[str | bytes | None, str | bytes | None]


def sent(session: SparkSession, *pairs: Message) -> DataFrame:
    def data(part: str | bytes | None) -> bytes | None:
        return part.encode() if isinstance(part, str) else part

    rows: list[tuple[Any, ...]] = [
        (data(key), data(value), "in", 0, offset, None, 0, []) for offset, (key, value) in enumerate(pairs)
    ]
    return session.createDataFrame(rows, MESSAGES)


def rows_of(session: SparkSession, plan: JobPlan, *pairs: Message) -> list[Found]:
    """The rows that messages hold; `!` is what a bad record says, `op` the change."""
    operators = plan.queries[0].operators
    scan = next(op for op in operators if isinstance(op, Scan))
    assert scan.marks is not None
    rows = read_messages(sent(session, *pairs), scan)
    changes = next((op for op in operators if isinstance(op, FromChangelog)), None)
    bad = rows.where(f"{scan.marks[0]} IS NOT NULL").selectExpr(f"{scan.marks[0]} AS `!`")
    good = rows.where(f"{scan.marks[0]} IS NULL").drop(*scan.marks)
    if changes is not None:
        good = lower_from(changes, [good], None).withColumnRenamed(OP_COLUMN, "op")  # type: ignore[arg-type]
    found = [row.asDict() for part in (good, bad) for row in part.collect()]
    return [{name: value for name, value in row.items() if not name.startswith("__")} for row in found]


def messages_of(session: SparkSession, plan: JobPlan, rows: DataFrame) -> list[Found]:
    """The messages that rows become; what is text already stays text."""
    (sink,) = plan.queries[0].sinks
    return [row.asDict() for row in as_messages(sink, message_rows(sink, 0, rows)).collect()]


def test_key_and_value_have_columns_of_their_own(session: SparkSession, tmp_path: Path) -> None:
    options = (
        "format = 'csv', 'key.format' = 'json', 'key.fields' = 'k_id;k_at', 'key.fields-prefix' = 'k_', "
        "'value.fields-include' = 'EXCEPT_KEY', 'csv.delimiter' = '|'"
    )
    plan = project(tmp_path, "k_id INT, v STRING, k_at STRING, w INT", options)
    pairs = [
        ('{"id": 1, "at": "x"}', "a|7"),
        (None, "b|8"),
        ("{broken", "c|9"),
        ('{"id": 2}', "d|no number"),
    ]
    assert rows_of(session, plan, *pairs) == [
        {"k_id": 1, "v": "a", "k_at": "x", "w": 7},
        {"k_id": None, "v": "b", "k_at": None, "w": 8},
        {"!": "{broken"},
        {"!": "d|no number"},
    ]
    rows = session.createDataFrame([(1, "a", "x", 7)], "k_id INT, v STRING, k_at STRING, w INT")
    assert messages_of(session, plan, rows) == [{"key": '{"id":1,"at":"x"}', "value": "a|7"}]


def test_headers_and_times_are_written(session: SparkSession, tmp_path: Path) -> None:
    columns = (
        "v STRING, h MAP<STRING, BINARY> METADATA FROM 'headers', `offset` BIGINT METADATA VIRTUAL, "
        "at TIMESTAMP(3) METADATA FROM 'timestamp'"
    )
    given = "connector = 'kafka', 'properties.bootstrap.servers' = 'nowhere:1', format = 'json'"
    plan = compiled(
        tmp_path,
        f"CREATE SOURCE t ({columns}) WITH ({given}, topic = 'in');"
        f"CREATE TABLE s ({columns}) WITH ({given}, topic = 'out'); INSERT INTO s SELECT v, h, at FROM t;",
    )
    at = datetime(2024, 1, 1)  # noqa: DTZ001  # as Spark gives it back, in the session's zone
    ddl = "v STRING, h MAP<STRING, BINARY>, at TIMESTAMP"
    rows = session.createDataFrame([("a", {"x": b"1"}, at), ("b", None, None)], ddl)
    first, second = messages_of(session, plan, rows)
    assert first["value"] == '{"v":"a"}'
    assert [(header["key"], bytes(header["value"])) for header in first["headers"]] == [("x", b"1")]
    assert (first["timestamp"], second["timestamp"], second["headers"]) == (at, None, None)


def test_a_message_without_a_value_deletes(session: SparkSession, tmp_path: Path) -> None:
    plan = project(
        tmp_path,
        "id INT, v STRING NOT NULL, PRIMARY KEY (id) NOT ENFORCED",
        "'key.format' = 'json', 'value.format' = 'json'",
        "upsert-kafka",
    )
    pairs = [
        ('{"id": 1}', '{"id": 1, "v": "a"}'),
        ('{"id": 1}', None),
        (None, '{"id": 3, "v": "c"}'),
        ('{"id": 4}', "null"),
    ]
    assert rows_of(session, plan, *pairs) == [
        {"id": 1, "v": "a", "op": "+U"},
        {"id": 1, "v": None, "op": "-D"},
        {"!": "a message without a key"},
        {"!": "null"},
    ]
    changes = [
        ("+U", 1, "a", 0),
        ("+U", 1, "b", 1),
        ("-D", 2, None, 0),
        ("+U", 3, "c", 0),
        ("-D", 3, None, 1),
    ]
    rows = session.createDataFrame(changes, f"{OP_COLUMN} STRING, id INT, v STRING, __headrace_sequence INT")
    found = sorted(messages_of(session, plan, rows), key=lambda message: str(message["key"]))
    assert found == [
        {"key": '{"id":1}', "value": '{"id":1,"v":"b"}'},
        {"key": '{"id":2}', "value": None},
        {"key": '{"id":3}', "value": None},
    ]


@pytest.mark.parametrize("wrapped", [False, True])
def test_debezium(session: SparkSession, tmp_path: Path, wrapped: bool) -> None:
    plan = project(
        tmp_path,
        "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED",
        f"format = 'debezium-json', 'debezium-json.schema-include' = '{str(wrapped).lower()}'",
    )

    def change(op: str, before: Found | None, after: Found | None) -> str:
        value = {"before": before, "after": after, "op": op, "source": {"table": "t"}, "ts_ms": 5}
        return json.dumps({"schema": {"type": "struct"}, "payload": value} if wrapped else value)

    one, two = {"id": 1, "v": "a"}, {"id": 2, "v": "b"}
    truncated = change("t", None, None)
    pairs = [
        (None, change("r", None, one)),
        (None, change("u", one, {"id": 1, "v": "c"})),
        # An update that gives a row another key.
        (None, change("u", one, two)),
        (None, change("u", None, two)),
        (None, change("d", {"id": 2, "v": None}, None)),
        (None, change("c", None, one)),
        # What follows a deletion in a compacted topic.
        ("k", None),
        (None, truncated),
        (None, "[]"),
    ]
    assert rows_of(session, plan, *pairs) == [
        {"id": 1, "v": "a", "op": "+I"},
        {"id": 1, "v": "c", "op": "+U"},
        {"id": 1, "v": "a", "op": "-D"},
        {"id": 2, "v": "b", "op": "+U"},
        {"id": 2, "v": "b", "op": "+U"},
        {"id": 2, "v": None, "op": "-D"},
        {"id": 1, "v": "a", "op": "+I"},
        {"!": truncated},
        {"!": "[]"},
    ]
    changes = [("+U", 1, "a"), ("-D", 2, None)]
    rows = session.createDataFrame(changes, f"{OP_COLUMN} STRING, id INT, v STRING")
    found = sorted(str(message["value"]) for message in messages_of(session, plan, rows))
    assert found == [
        '{"before":null,"after":{"id":1,"v":"a"},"op":"c"}',
        '{"before":{"id":2,"v":null},"after":null,"op":"d"}',
    ]


ORDER = (
    "a_uint64 DECIMAL(20, 0) NOT NULL, kind STRING NOT NULL, o_int32 TINYINT, one STRING, two BIGINT, "
    "at TIMESTAMP(3), took STRUCT<seconds: BIGINT, nanos: INT>, "
    "w_string STRING, r_int32 ARRAY<INT> NOT NULL, "
    "items ARRAY<STRUCT<sku: STRING, at: TIMESTAMP>> NOT NULL, m_int MAP<STRING, INT> NOT NULL, "
    "parent STRUCT<one: STRING>"
)


def test_protobuf_by_its_descriptor(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "shop.desc").write_bytes(DESCRIPTORS)
    options = (
        "format = 'protobuf', 'protobuf.descriptor' = 'shop.desc', 'protobuf.message-name' = 'shop.Order'"
    )
    plan = project(tmp_path, ORDER, options)
    at = datetime(2024, 7, 1, 12, tzinfo=UTC)
    naive = at.replace(tzinfo=None)
    row = {
        "a_uint64": Decimal(2**64 - 1),
        "kind": "7",
        "o_int32": 0,
        "one": None,
        "two": 5,
        "at": naive,
        "took": Row(seconds=-1, nanos=-7),
        "w_string": "",
        "r_int32": [1, -2],
        "items": [Row(sku="a", at=naive), Row(sku="", at=None)],
        "m_int": {"b": 2, "a": 1},
        "parent": Row(one="c"),
    }
    whole = message(
        "shop.Order",
        a_uint64=2**64 - 1,
        kind=7,
        o_int32=0,
        two=5,
        at=at,
        took={"seconds": -1, "nanos": -7},
        w_string={"value": ""},
        r_int32=[1, -2],
        items=[{"sku": "a", "at": at}, {}],
        m_int={"a": 1, "b": 2},
        parent={"one": "c"},
    )
    (sink,) = plan.queries[0].sinks
    types = ", ".join(f"{column.name} {column.type.replace(' NOT NULL', '')}" for column in sink.columns)
    rows = session.createDataFrame([tuple(row.values())], types)
    (sent_row,) = messages_of(session, plan, rows)
    assert bytes(sent_row["value"]) == whole
    large = message("shop.Order", o_int32=128)
    found = rows_of(session, plan, (None, whole), (None, b""), (None, whole[:-1]), (None, large))
    assert found[0] == row
    default = {"a_uint64": 0, "kind": "NONE", "r_int32": [], "items": [], "m_int": {}}
    assert {name: value for name, value in found[1].items() if value is not None} == default
    # Cut off, and 128 is no TINYINT.
    assert found[2:] == [{"!": b64encode(data).decode()} for data in (whole[:-1], large)]
    # A query may give a span of time, though no column is declared so.
    span = {"took": "INTERVAL DAY TO SECOND"}
    took = write_protobuf(F.expr("struct(INTERVAL '-1.5' SECOND AS took)"), sink.options, "value")
    read = (
        session.range(1)
        .select(took.alias("m"))
        .select("m", read_protobuf(F.col("m"), sink.options, "value", span))
    )
    written, (read_again, _) = read.first() or (b"", (None, None))
    assert bytes(written) == message("shop.Order", took={"seconds": -1, "nanos": -500_000_000})
    assert read_again == timedelta(seconds=-1.5)
    two = session.createDataFrame([tuple({**row, "one": "both"}.values())], types)
    with pytest.raises(Exception, match="UnsendableRow: one: one and two have values") as failed:
        messages_of(session, plan, two)
    told = diagnose("q", failed.value, Environment({}))
    assert (told.code.name, told.cause) == ("HR421", "one and two have values, and are of one oneof")


def test_protobuf_in_a_compacted_topic(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "shop.desc").write_bytes(DESCRIPTORS)
    options = (
        "'key.format' = 'protobuf', 'value.format' = 'protobuf', 'protobuf.descriptor' = 'shop.desc', "
        "'protobuf.message-name' = 'shop.Sale', 'key.protobuf.message-name' = 'shop.Key'"
    )
    columns = "id BIGINT, note STRING, tags ARRAY<STRING> NOT NULL, PRIMARY KEY (id) NOT ENFORCED"
    plan = project(tmp_path, columns, options, "upsert-kafka")
    key, value = message("shop.Key", id=7), message("shop.Sale", id=7, note="a", tags=["x"])
    changes = [("+U", 7, "a", ["x"]), ("-D", 8, None, None)]
    rows = session.createDataFrame(changes, f"{OP_COLUMN} STRING, id BIGINT, note STRING, tags ARRAY<STRING>")
    found = sorted(messages_of(session, plan, rows), key=lambda sent: bytes(sent["key"]))
    assert [(bytes(m["key"]), m["value"] and bytes(m["value"])) for m in found] == [
        (key, value),
        (message("shop.Key", id=8), None),
    ]
    pairs = [(key, value), (key, None), (None, value), (b"\x00", value)]
    assert rows_of(session, plan, *pairs) == [
        {"id": 7, "note": "a", "tags": ["x"], "op": "+U"},
        {"id": 7, "note": None, "tags": None, "op": "-D"},
        {"!": "a message without a key"},
        {"!": "AA=="},
    ]


EXCEPT_KEY = "'value.fields-include' = 'EXCEPT_KEY'"
KEYED = "id INT, v STRING, xs ARRAY<INT>"


LONG = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}'


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        (KEYED, "format = 'json', 'key.fields' = 'w'", "source `t` has no column `w`"),
        (KEYED, "format = 'json', 'key.format' = 'csv'", "key.format needs key.fields"),
        (KEYED, "format = 'json', 'key.fields' = 'id', 'key.fields-prefix' = 'i'", "EXCEPT_KEY"),
        (KEYED, "format = 'csv'", "cannot hold column `xs`"),
        (KEYED, "format = 'json', 'key.format' = 'csv', 'key.fields' = 'id;xs'", "cannot hold column `xs`"),
        (KEYED, "format = 'json', 'key.format' = 'raw', 'key.fields' = 'id'", "one column of type STRING"),
        (
            "id INT",
            f"format = 'json', 'key.fields' = 'id', {EXCEPT_KEY}",
            "no column is left for the value",
        ),
        (
            "k_id INT, v INT",
            f"format = 'json', 'key.fields' = 'k_id;v', 'key.fields-prefix' = 'k_', {EXCEPT_KEY}",
            "column `v` of the key does not begin with the prefix `k_`",
        ),
        (KEYED, "format = 'debezium-json'", "HR316"),
        ("`a b` INT", "format = 'avro'", "letters, digits and _ in a name"),
        ("m MAP<INT, INT>", "format = 'avro'", "Avro has no form for MAP<INT,INT>"),
        (KEYED, "format = 'avro', 'avro.schema' = '{'", "it is not JSON"),
        (KEYED, "format = 'avro-confluent'", "needs avro-confluent.url"),
        ("n INT", f"format = 'avro', 'avro.schema' = '{LONG}'", "a value may be greater than INT can hold"),
        ("o INT", f"format = 'avro', 'avro.schema' = '{LONG}'", "the schema has no field `o`; it has n"),
        (
            f"{KEYED}, PRIMARY KEY (id) NOT ENFORCED",
            "format = 'debezium-json', 'key.fields' = 'id'",
            "is for the value of a message",
        ),
        (f"{KEYED}, PRIMARY KEY (no) NOT ENFORCED", "format = 'debezium-json'", "has no column `no`"),
        ("v STRING, o BIGINT METADATA FROM 'offset'", "format = 'json'", "writes no metadata `offset`"),
        (
            "v STRING, ts TIMESTAMP(3) METADATA FROM 'timestamp'",
            "format = 'json', delivery = 'at_least_once'",
            "only under delivery = 'exactly_once'",
        ),
    ],
)
def test_what_messages_cannot_hold_is_refused(
    tmp_path: Path, columns: str, options: str, problem: str
) -> None:
    with pytest.raises(AssertionError, match=problem):
        project(tmp_path, columns, options)


def test_a_compacted_topic_needs_a_key(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"HR316(?s:.*)HR316"):
        project(tmp_path, "id INT", "'key.format' = 'json', 'value.format' = 'json'", "upsert-kafka")

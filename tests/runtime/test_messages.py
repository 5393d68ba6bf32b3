"""Messages as rows and rows as messages, without a broker: what is in key, value and headers."""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyspark.sql import DataFrame, SparkSession
from test_policies import compiled

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import FromChangelog, JobPlan, Scan
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.kafka.messages import as_messages, message_rows
from runtime.connectors.kafka.records import read_messages
from runtime.spark.operators.changelog_functions import lower_from

MESSAGES = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
Row = dict[str, Any]


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


def rows_of(session: SparkSession, plan: JobPlan, *pairs: Message) -> list[Row]:
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


def messages_of(session: SparkSession, plan: JobPlan, rows: DataFrame) -> list[Row]:
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

    def change(op: str, before: Row | None, after: Row | None) -> str:
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


AVRO = "id INT, v STRING, small SMALLINT, at TIMESTAMP(3), d DECIMAL(5,2), xs ARRAY<INT>, s STRUCT<a: INT>"


def test_avro_as_flink_makes_it(session: SparkSession, tmp_path: Path) -> None:
    options = "'key.format' = 'avro', 'value.format' = 'avro', 'value.fields-include' = 'EXCEPT_KEY'"
    plan = project(tmp_path, f"{AVRO}, PRIMARY KEY (id) NOT ENFORCED", options, "upsert-kafka")
    at = datetime(2024, 1, 1, tzinfo=UTC)
    row = (1, "a", 2, at, Decimal("1.50"), [3, None], (4,))
    changes = [("+U", *row), ("+U", 2, *[None] * 6)]
    rows = session.createDataFrame(changes, f"{OP_COLUMN} STRING, {AVRO.replace('(3)', '')}")
    first, second = sorted(messages_of(session, plan, rows), key=lambda message: bytes(message["key"]))
    # By the format's specification: zigzag numbers, the branch of a union before its value.
    whole = b"".join(
        [
            *(b"\x02\x02a", b"\x02\x04", b"\x02" + zigzag(int(at.timestamp() * 1000))),
            *(b"\x02\x04\x00\x96", b"\x02\x04\x02\x06\x00\x00", b"\x02\x02\x08"),
        ]
    )
    assert (bytes(first["key"]), bytes(first["value"])) == (b"\x02", whole)
    assert bytes(second["value"]) == bytes(6)
    found = rows_of(session, plan, (b"\x02", whole), (b"\x04", whole[:-1]), (b"\x06", None))
    assert [found[0][name] for name in ("op", "id", "v", "small", "d", "xs")] == ["+U", *row[:3], *row[4:6]]
    assert found[0]["s"]["a"] == 4
    assert {name for name, value in found[1].items() if value is not None} == {"op", "id"}
    assert found[2:] == [{"!": b64encode(whole[:-1]).decode()}]


def test_avro_with_a_schema_of_others(session: SparkSession, tmp_path: Path) -> None:
    schema = {
        "type": "record",
        "name": "Sale",
        "fields": [
            {"name": "n", "type": "int"},
            {"name": "kind", "type": ["null", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}]},
            {"name": "other", "type": ["null", "string"], "default": None},
        ],
    }
    options = f"format = 'avro', 'avro.schema' = '{json.dumps(schema)}'"
    plan = project(tmp_path, "n INT NOT NULL, kind STRING", options)
    pairs = [(None, b"\x0e\x02\x02\x00"), (None, b"\x0e\x00\x02\x02x"), (None, b"\x0e\x02")]
    assert rows_of(session, plan, *pairs) == [
        {"n": 7, "kind": "B"},
        {"n": 7, "kind": None},
        {"!": "DgI="},
    ]


class Registry(BaseHTTPRequestHandler):
    """As much of a registry of schemas as is asked for; it wants a login."""

    subjects: ClassVar[dict[str, list[dict[str, Any]]]] = {}

    def do_GET(self) -> None:
        _, _, subject, _, *version = self.path.split("/")
        known = self.subjects.get(subject)
        if known is None or self.headers["Authorization"] != "Basic dTpw":
            self._answer(404, {"message": "no subject"})
        else:
            self._answer(200, known[int(version[0]) - 1] if version else list(range(1, len(known) + 1)))

    def do_POST(self) -> None:
        schema = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["schema"]
        self.subjects.setdefault(self.path.split("/")[2], []).append({"id": 7, "schema": schema})
        self._answer(200, {"id": 7})

    def _answer(self, status: int, body: object) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def registry() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Registry.subjects.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_registry_knows_the_schemas(session: SparkSession, tmp_path: Path, registry: str) -> None:
    options = (
        f"format = 'avro-confluent', 'avro-confluent.url' = '{registry}', "
        "'avro-confluent.basic-auth.user-info' = 'u:p'"
    )
    plan = project(tmp_path, "n BIGINT, s STRING", options)
    with pytest.raises(DiagnosticError, match="no subject `in-value`"):
        rows_of(session, plan)
    older, newer = LONG.replace("long", "int"), json.loads(LONG)
    newer["fields"].append({"name": "s", "type": "string"})
    Registry.subjects["in-value"] = [{"id": 1, "schema": older}, {"id": 258, "schema": json.dumps(newer)}]
    pairs = [
        (None, b"\x00\x00\x00\x00\x01\x02"),
        (None, b"\x00\x00\x00\x01\x02\x04\x02x"),
        (None, b"\x00\x00\x00\x01\x02\x04"),
        (None, b"{}"),
    ]
    assert rows_of(session, plan, *pairs) == [
        {"n": 1, "s": None},
        {"n": 2, "s": "x"},
        {"!": "AAAAAQIE"},
        {"!": "e30="},
    ]
    with pytest.raises(Exception, match=r"\[headrace:unknown_schema\] source=t schema=2\b"):
        rows_of(session, plan, (None, b"\x00\x00\x00\x00\x02\x02"))
    rows = session.createDataFrame([(3, None)], "n BIGINT, s STRING")
    assert bytes(messages_of(session, plan, rows)[0]["value"]) == b"\x00\x00\x00\x00\x07\x02\x06\x00"
    assert json.loads(Registry.subjects["out-value"][0]["schema"])["fields"][0]["name"] == "n"


def zigzag(number: int) -> bytes:
    """A positive number as Avro writes it."""
    rest, found = number << 1, bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes(found) + bytes([rest])


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

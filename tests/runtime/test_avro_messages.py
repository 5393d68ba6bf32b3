"""Messages in Avro, with a schema that is given or of a registry."""

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
from avro_schemas import SOUND
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from test_messages import messages_of, project, rows_of, sent

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import Scan
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.kafka.avro import read_avro
from runtime.connectors.kafka.records import read_messages
from runtime.connectors.kafka.registry import schemas_of

LONG = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}'

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


def test_avro_in_namespaces_unions_and_local_times(session: SparkSession, tmp_path: Path) -> None:
    kind = {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}
    clock = {"type": "long", "logicalType": "local-timestamp-millis"}
    fields = [
        {"name": "kind", "type": kind},
        {"name": "last", "type": ["null", "n.m.Kind"]},
        {"name": "small", "type": "int"},
        {"name": "at", "type": clock},
        {
            "name": "more",
            "type": {"type": "record", "name": "More", "fields": [{"name": "at", "type": clock}]},
        },
    ]
    schema = json.dumps(["null", {"type": "record", "name": "n.m.Sale", "fields": fields}])
    columns = (
        "kind STRING NOT NULL, last STRING, small TINYINT NOT NULL, at TIMESTAMP(3) NOT NULL, "
        "more STRUCT<at: TIMESTAMP(3) NOT NULL> NOT NULL"
    )
    plan = project(tmp_path, columns, f"format = 'avro', 'avro.schema' = '{schema}'")
    at = datetime(2024, 1, 1)  # noqa: DTZ001  # as Spark gives it back, in the session's zone
    row = ("B", "A", 3, at, (at,))
    clocks = 2 * zigzag(int(at.replace(tzinfo=UTC).timestamp() * 1000))
    whole = b"\x02\x02\x02\x00\x06" + clocks
    types = "kind STRING, last STRING, small TINYINT, at TIMESTAMP, more STRUCT<at: TIMESTAMP NOT NULL>"
    assert bytes(messages_of(session, plan, session.createDataFrame([row], types))[0]["value"]) == whole
    large = b"\x02\x02\x00\x90\x03" + clocks
    found = rows_of(session, plan, (None, whole), (None, b"\x00"), (None, large))
    assert tuple(found[0].values()) == row
    # Null is no row, and 200 no TINYINT.
    assert found[1:] == [{"!": b64encode(data).decode()} for data in (b"\x00", large)]


def test_spark_takes_the_schemas_that_the_compiler_takes(session: SparkSession) -> None:
    texts = [json.dumps(schema) for schema, _ in SOUND.values()]
    columns = [read_avro(F.lit(b""), text).alias(name) for name, text in zip(SOUND, texts, strict=True)]
    fields = session.range(0).select(*columns).schema
    for name, (_, declared) in SOUND.items():
        record = fields[name].dataType
        assert isinstance(record, StructType)
        types = [f"{field.name}: {field.dataType.simpleString()}" for field in record.fields[:-1]]
        if " union " not in declared:
            wanted = declared.lower().replace(" time", " time(6)").replace("time(6)stamp", "timestamp_ntz")
            assert ", ".join(types) == wanted, name


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
    older, newer = f'["null", {LONG.replace("long", "int")}]', json.loads(LONG)
    newer["fields"].append({"name": "s", "type": "string"})
    Registry.subjects["in-value"] = [{"id": 1, "schema": older}, {"id": 258, "schema": json.dumps(newer)}]
    pairs = [
        (None, b"\x00\x00\x00\x00\x01\x02\x02"),
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
    scan = next(op for op in plan.queries[0].operators if isinstance(op, Scan))
    executed = read_messages(sent(session), scan)._jdf.queryExecution()
    # Once a schema, however many columns are taken of the record.
    assert str(executed.optimizedPlan().toString()).count("from_avro(") == 2
    rows = session.createDataFrame([(3, None)], "n BIGINT, s STRING")
    assert bytes(messages_of(session, plan, rows)[0]["value"]) == b"\x00\x00\x00\x00\x07\x02\x06\x00"
    assert json.loads(Registry.subjects["out-value"][0]["schema"])["fields"][0]["name"] == "n"


def test_no_bytes_are_no_record_of_a_registry(session: SparkSession, tmp_path: Path, registry: str) -> None:
    """A deletion has no value, and a message may lack its key."""
    options = (
        f"'key.format' = 'avro-confluent', 'value.format' = 'avro-confluent', "
        f"'avro-confluent.url' = '{registry}', 'avro-confluent.basic-auth.user-info' = 'u:p'"
    )
    plan = project(tmp_path, "n BIGINT, s STRING, PRIMARY KEY (n) NOT ENFORCED", options, "upsert-kafka")
    value = json.loads(LONG)
    value["fields"].append({"name": "s", "type": "string"})
    Registry.subjects["in-key"] = [{"id": 1, "schema": LONG}]
    Registry.subjects["in-value"] = [{"id": 2, "schema": json.dumps(value)}]
    key = b"\x00\x00\x00\x00\x01\x02"
    pairs = [(key, b"\x00\x00\x00\x00\x02\x02\x02x"), (key, None), (None, b"\x00\x00\x00\x00\x02\x02\x02x")]
    assert rows_of(session, plan, *pairs) == [
        {"n": 1, "s": "x", "op": "+U"},
        {"n": 1, "s": None, "op": "-D"},
        {"!": "a message without a key"},
    ]


def test_a_registrys_login_may_stand_in_its_url_and_is_not_shown(registry: str) -> None:
    with_login = registry.replace("//", "//u:%70@")
    Registry.subjects["in-value"] = [{"id": 1, "schema": LONG}]
    assert schemas_of({"topic": "in", "avro-confluent.url": with_login}, "value") == {1: LONG}
    for url in ("http://ann:hunter22@127.0.0.1:1/", "http://ann:hunter22@127.0.0.1:wrong"):
        with pytest.raises(DiagnosticError) as error:
            schemas_of({"topic": "in", "avro-confluent.url": url}, "value")
        (found,) = error.value.diagnostics
        assert found.code.name == "HR610"
        assert "http://127.0.0.1:" in found.message
        assert "hunter22" not in f"{found.message} {found.cause} {found.fix}"


@pytest.mark.parametrize(
    ("schema", "cause"),
    [
        ('"string"', 'of type "string"'),
        ('{"type": "enum", "name": "e", "symbols": []}', 'of type "enum"'),
        ('["null", "int"]', 'of type ["null", "int"]'),
        ('syntax = "proto3";', "not Avro's JSON"),
    ],
)
def test_a_schema_that_is_no_record_is_refused(
    session: SparkSession, tmp_path: Path, registry: str, schema: str, cause: str
) -> None:
    options = (
        f"format = 'avro-confluent', 'avro-confluent.url' = '{registry}', "
        "'avro-confluent.basic-auth.user-info' = 'u:p'"
    )
    plan = project(tmp_path, "n BIGINT", options)
    Registry.subjects["in-value"] = [{"id": 3, "schema": LONG}, {"id": 4, "schema": schema}]
    with pytest.raises(DiagnosticError, match="schema 4 of subject `in-value` is none of an Avro") as error:
        rows_of(session, plan)
    assert error.value.diagnostics[0].code.name == "HR104"
    assert cause in (error.value.diagnostics[0].cause or "")


def zigzag(number: int) -> bytes:
    """A positive number as Avro writes it."""
    rest, found = number << 1, bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes(found) + bytes([rest])

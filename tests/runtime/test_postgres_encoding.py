"""Arrow columns through binary COPY into a real PostgreSQL and back: every type, NULL, slices of batches."""

from __future__ import annotations

import datetime as dt
import json
import math
import uuid
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from postgres_database import Database

from runtime.connectors.postgres.encode import HEADER, TRAILER, Encoding, UnstorableValue, encode

UTC = dt.UTC
TEXT = st.text(
    st.characters(exclude_characters="\0", categories=("L", "N", "P", "S", "Z", "Cc")), max_size=20
)
TIMES = st.integers(-62_000_000_000_000_000, 250_000_000_000_000_000).map(
    lambda micros: dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(microseconds=micros)
)


def numbers(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    limit = 10**precision - 1
    return st.integers(-limit, limit).map(lambda n: Decimal(f"{n}E-{scale}"))


# Each: type in the table, Arrow's type, encoding, values.
COLUMNS: dict[str, tuple[str, pa.DataType, Encoding, st.SearchStrategy[Any]]] = {
    "flag": ("boolean", pa.bool_(), Encoding("bool"), st.booleans()),
    "tiny": ("smallint", pa.int8(), Encoding("int2"), st.integers(-128, 127)),
    "small": ("smallint", pa.int16(), Encoding("int2"), st.integers(-(2**15), 2**15 - 1)),
    "whole": ("integer", pa.int32(), Encoding("int4"), st.integers(-(2**31), 2**31 - 1)),
    "wider": ("bigint", pa.int32(), Encoding("int8"), st.integers(-(2**31), 2**31 - 1)),
    "big": ("bigint", pa.int64(), Encoding("int8"), st.integers(-(2**63), 2**63 - 1)),
    "real": ("real", pa.float32(), Encoding("float4"), st.floats(width=32)),
    "double": ("double precision", pa.float64(), Encoding("float8"), st.floats()),
    "money": ("numeric(12,2)", pa.decimal128(12, 2), Encoding("numeric", 2, 12), numbers(12, 2)),
    "most": ("numeric(38,0)", pa.decimal128(38, 0), Encoding("numeric", 0, 38), numbers(38, 0)),
    "least": ("numeric(38,38)", pa.decimal128(38, 38), Encoding("numeric", 38, 38), numbers(38, 38)),
    "edge": ("numeric(18,4)", pa.decimal128(18, 4), Encoding("numeric", 4, 18), numbers(18, 4)),
    "odd": ("numeric", pa.decimal128(18, 5), Encoding("numeric", 5, 18), numbers(18, 5)),
    "count": ("numeric", pa.int64(), Encoding("numeric", 0, 19), st.integers(-(2**63), 2**63 - 1)),
    "day": ("date", pa.date32(), Encoding("date"), st.dates(dt.date(1, 1, 1))),
    "at": ("timestamptz", pa.timestamp("us", "UTC"), Encoding("timestamptz"), TIMES),
    "clock": ("timestamp", pa.timestamp("us", "UTC"), Encoding("timestamp"), TIMES),
    "span": ("interval", pa.duration("us"), Encoding("interval"),
             st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999))),
    "note": ("text", pa.string(), Encoding("text"), TEXT),
    "raw": ("bytea", pa.binary(), Encoding("bytea"), st.binary(max_size=20)),
    "id": ("uuid", pa.string(), Encoding("uuid"), st.uuids().map(str)),
    "doc": ("jsonb", pa.string(), Encoding("jsonb"), st.sampled_from(['{"a": [1, null]}', "[]", "1", '"x"'])),
    "plain": ("json", pa.string(), Encoding("text"), st.sampled_from(['{"a":1}', "[]"])),
    "xs": ("integer[]", pa.list_(pa.int32()), Encoding("array", element=Encoding("int4"), oid=23),
           st.lists(st.none() | st.integers(-9, 9), max_size=4)),
    "names": ("text[]", pa.list_(pa.string()), Encoding("array", element=Encoding("text"), oid=25),
              st.lists(st.none() | TEXT, max_size=4)),
}  # fmt: skip


def read_as(name: str, value: Any) -> Any:
    """A value as psycopg gives it back."""
    if value is None:
        return None
    if name == "id":
        return uuid.UUID(value)
    if name == "clock":
        return value.replace(tzinfo=None)
    if name in ("doc", "plain"):
        return json.loads(value)
    if name == "real":
        # It comes back as the shortest text that is this number among floats of 32 bits.
        return pytest.approx(value, rel=1e-6, nan_ok=True)
    if name == "count":
        return Decimal(value)
    return value


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return bool(a == b)


ROWS = st.lists(st.tuples(*(st.none() | values for *_, values in COLUMNS.values())), min_size=1, max_size=6)


# Without shrinking: for two dozen columns it takes minutes, and the assertion names column and value.
@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(rows=ROWS, cut=st.integers(0, 5))
def test_every_type_comes_back(postgres: Database, rows: list[tuple[Any, ...]], cut: int) -> None:
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, kind) for column, (_, kind, *_) in zip(columns, COLUMNS.values(), strict=True)]
    whole = pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))
    encodings = [how for _, _, how, _ in COLUMNS.values()]
    with psycopg.connect(postgres.server.url(postgres.name), options="-c timezone=UTC") as connection:
        table = ", ".join(f"{name} {kind}" for name, (kind, *_) in COLUMNS.items())
        connection.execute(f"CREATE TEMPORARY TABLE t ({table})")
        with connection.cursor().copy("COPY t FROM STDIN (FORMAT BINARY)") as copy:
            copy.write(HEADER)
            # A batch that does not begin at its buffers' beginning, as Arrow's slices do not.
            for batch in (whole.slice(0, cut), whole.slice(cut)):
                if batch.num_rows:
                    copy.write(encode(batch, encodings))
            copy.write(TRAILER)
        found = connection.execute("SELECT * FROM t").fetchall()
        connection.rollback()
    assert len(found) == len(rows)
    for row, there in zip(rows, found, strict=True):
        for name, value, stored in zip(COLUMNS, row, there, strict=True):
            assert same(read_as(name, value), stored), (name, value, stored)


def test_wall_clock_is_that_of_the_zone() -> None:
    summer = pa.array([dt.datetime(2024, 7, 1, 10, tzinfo=UTC)], pa.timestamp("us", "Europe/Berlin"))
    plain = pa.array([dt.datetime(2024, 7, 1, 12, tzinfo=UTC)], pa.timestamp("us"))
    in_zone = encode(pa.RecordBatch.from_arrays([summer], ["t"]), [Encoding("timestamp")])
    assert in_zone == encode(pa.RecordBatch.from_arrays([plain], ["t"]), [Encoding("timestamp")])


@pytest.mark.parametrize(("value", "how"), [("a\0b", "text"), ("12", "uuid")])
def test_values_that_it_cannot_hold(value: str, how: str) -> None:
    batch = pa.RecordBatch.from_arrays([pa.array(["x" * 36 if how == "text" else None, value])], ["note"])
    with pytest.raises(UnstorableValue, match="column note: "):
        encode(batch, [Encoding(how)])

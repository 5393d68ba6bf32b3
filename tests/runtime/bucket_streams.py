"""Generated streams for bucket operators, and which of their rows are on time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
from buckets import MOMENT, BucketDriver, table
from hypothesis import strategies as st

from runtime.spark.buckets import BucketOperator

DELAY_MS = 20_000

INPUT = pa.schema(
    [
        ("ts", MOMENT),
        ("k", pa.string()),
        ("v", pa.int64()),
        ("x", pa.float64()),
        ("d", pa.decimal128(10, 2)),
        ("id", pa.int64()),
    ]
)

Epoch = list[tuple[Any, ...]]

_ROWS = st.tuples(
    st.integers(0, 200).map(lambda second: second * 1000),
    st.sampled_from(["a", "b", None]),
    st.one_of(st.none(), st.integers(-5, 5)),
    st.one_of(st.none(), st.sampled_from([0.5, -1.25, 3.0, 1e6])),
    st.one_of(st.none(), st.decimals(-99, 99, places=2)),
)


@st.composite
def streams(draw: st.DrawFn) -> list[Epoch]:
    """Epochs of rows whose `id` says in which order they come."""
    epochs = draw(st.lists(st.lists(_ROWS, max_size=8), min_size=1, max_size=6))
    number = iter(range(1000))
    return [[(*row, next(number)) for row in epoch] for epoch in epochs]


@dataclass(frozen=True)
class Ran:
    """What came out, epoch by epoch, and the rows that were not late."""

    emitted: list[list[dict[str, Any]]]
    on_time: pa.Table

    @property
    def all(self) -> list[dict[str, Any]]:
        return [row for epoch in self.emitted for row in epoch]


def run_stream(
    make: Callable[[], BucketOperator],
    schema: pa.Schema,
    epochs: Sequence[Epoch],
    *,
    prepare: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    late_by: Callable[[tuple[Any, ...]], int] = lambda row: row[0],
) -> Ran:
    """Runs a stream, then lets the watermark pass everything.

    Args:
        make: makes the operator.
        schema: of the rows of an epoch.
        epochs: the rows.
        prepare: adds the columns that the operator wants.
        late_by: the time by which a row is late, in milliseconds.
    """
    driver = BucketDriver(make, buckets=2, bucket_of=lambda row: len(row["k"] or "") % 2)
    on_time: Epoch = []
    emitted: list[list[dict[str, Any]]] = []
    late, watermark, newest = 0, 0, 0
    for epoch in epochs:
        emitted.append(driver.epoch(prepare(table(schema, epoch)), watermark_ms=watermark))
        on_time += [row for row in epoch if late_by(row) > late]
        newest = max([newest, *(row[0] for row in epoch)])
        late, watermark = watermark, max(watermark, newest - DELAY_MS)
    emitted += [driver.epoch(watermark_ms=watermark), driver.epoch(watermark_ms=10**9)]
    return Ran(emitted, table(schema, on_time))


def query(sql: str, rows: pa.Table, **others: pa.Table) -> list[tuple[Any, ...]]:
    """What DuckDB makes of the rows, as the table `rows`, and of others by their names."""
    connection = _connection()
    for name, held in {"rows": rows, **others}.items():
        connection.register(name, held)
    return connection.execute(sql).fetchall()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    return connection

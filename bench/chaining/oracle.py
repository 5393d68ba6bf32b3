"""DuckDB says which rows are right."""

from __future__ import annotations

from pathlib import Path

import duckdb

from bench.chaining.workloads import COLUMNS, FAR_MS, Rows, Windows, Workload, inputs

Summary = tuple[object, ...]

_NUMBERS = ("total", "amount", "amount_usd")


def expected(workload: Workload, data: Path) -> dict[str, Summary]:
    """A summary of what each sink must hold."""
    database = duckdb.connect(config={"threads": 2})
    database.execute("SET TimeZone = 'UTC'")
    kinds = ", ".join(f"{name}: '{'VARCHAR' if t == 'STRING' else t}'" for name, t in COLUMNS.items())
    database.execute(
        "CREATE TEMP TABLE parsed AS SELECT *, make_timestamp_ms(ms) AS ts "
        f"FROM read_json('{data}/part-*.json', format = 'newline_delimited', columns = {{{kinds}}})"
    )
    for model in workload.models:
        database.execute(f"CREATE TEMP VIEW {model.name} AS {model.sql}")
    return {sink.name: _summary(database, sink, f"({_query(sink)})") for sink in workload.sinks}


def found(workload: Workload, folder: Path) -> dict[str, Summary]:
    """A summary of what each sink holds as Parquet files under its name."""
    database = duckdb.connect(config={"threads": 2})
    database.execute("SET TimeZone = 'UTC'")
    return {
        sink.name: _summary(database, sink, f"read_parquet('{folder}/{sink.name}/**/*.parquet')")
        for sink in workload.sinks
    }


def differences(want: dict[str, Summary], got: dict[str, Summary]) -> list[str]:
    """What is not as it should be."""
    return [f"{name}: {got[name]}, not {rows}" for name, rows in want.items() if not _same(rows, got[name])]


def _query(sink: Windows | Rows) -> str:
    if isinstance(sink, Rows):
        return sink.sql
    slide = sink.slide or sink.seconds
    start = f"time_bucket(INTERVAL '{slide} seconds', ts) - to_seconds(number * {slide})"
    keys = ", ".join(sink.keys)
    return (
        f"SELECT {start} AS window_start, {keys}, sum({sink.value}) AS total, count(*) AS n "
        f"FROM {sink.source}, range({sink.seconds // slide}) AS numbers(number) GROUP BY ALL"
    )


def _summary(database: duckdb.DuckDBPyConnection, sink: Windows | Rows, rows: str) -> Summary:
    """Number of rows, a hash over the exact columns, and the sums of the others.

    Windows at or after the closing row are left out: one system closes them, another does not.
    """
    time = "window_start" if isinstance(sink, Windows) else "ts"
    exact = [
        f"epoch_ms({name}::TIMESTAMP)" if name == time else f"{name}::VARCHAR"
        for name in sink.columns
        if name not in _NUMBERS
    ]
    sums = [f"sum({name})" for name in sink.columns if name in _NUMBERS]
    found = database.execute(
        f"SELECT {', '.join(['count(*)', _hash(exact), *sums])} FROM {rows} "
        f"WHERE epoch_ms({time}::TIMESTAMP) < {FAR_MS - 3_600_000}"
    ).fetchone()
    assert found is not None
    return tuple(found)


def _hash(columns: list[str]) -> str:
    return f"sum(hash(concat_ws('|', {', '.join(columns)}))::HUGEINT)::VARCHAR"


def _same(want: Summary, got: Summary) -> bool:
    return len(want) == len(got) and all(
        abs(a - b) <= 1e-6 * max(1.0, abs(b)) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(want, got, strict=True)
    )


__all__ = ["Summary", "differences", "expected", "found", "inputs"]

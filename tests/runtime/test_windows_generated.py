"""Windows over generated streams, out of order and with late rows, against plain Python and DuckDB.

Many small streams run through one query, told apart by their key. The reference goes epoch by epoch, since
what is late hangs on the watermark: that of two epochs ago for rows, that of the last epoch for what closes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import plans
import pytest
from compiling import plan_at
from files import rows_of
from pyspark.sql import SparkSession

from runtime.jobs.runner import run

START = datetime(2024, 1, 1, tzinfo=UTC)
DELAY_MS = 5_000
# Times lie on a grid, so that rows touch windows' bounds and gaps exactly.
GRID_MS = 500
EPOCHS = 5

PIPELINE = """
CREATE SOURCE events (
  ts TIMESTAMP(3), k INT, v INT,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in', format = 'csv', 'csv.header' = 'true',
        max_files_per_epoch = 1);

CREATE SINK tumbling WITH (connector = 'filesystem', path = 'tumbling', format = 'json') AS
SELECT window_start, window_end, k, count(*) AS n, COUNT(DISTINCT v) AS kinds, SUM(DISTINCT v) AS total,
  AVG(DISTINCT v) FILTER (WHERE v > 2) AS mean, path(v) AS path, path(v) FILTER (WHERE v > 2) AS high
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECONDS, -INTERVAL '17' SECONDS)
GROUP BY window_start, window_end, k;

CREATE SINK hopping WITH (connector = 'filesystem', path = 'hopping', format = 'json') AS
SELECT window_start, window_end, k, v % 2 AS odd, count(*) AS n, sum(v) AS total, gaps(ts, v) AS gaps
FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '4' SECONDS, INTERVAL '12' SECONDS, INTERVAL '1' SECOND)
GROUP BY window_start, window_end, GROUPING SETS ((k, v % 2), (v % 2), ());

CREATE SINK cumulating WITH (connector = 'filesystem', path = 'cumulating', format = 'json') AS
SELECT window_start, window_end, k, v % 2 AS odd, grouping_id(k, v % 2) AS part, sum(v) AS total,
  path(v) AS path
FROM CUMULATE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '6' SECONDS)
GROUP BY window_start, window_end, ROLLUP (k, v % 2);

CREATE SINK sessions WITH (connector = 'filesystem', path = 'sessions', format = 'json') AS
SELECT window_start, window_end, k, sum(v) AS total, path(v) AS path
FROM SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECONDS)
WHERE v > 2
GROUP BY window_start, window_end, k;

CREATE SINK rows WITH (connector = 'filesystem', path = 'rows', format = 'json') AS
SELECT k, v, ts, window_start, window_end
FROM SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECONDS);

CREATE SINK busy WITH (connector = 'filesystem', path = 'busy', format = 'json') AS
SELECT SESSION_START(ts, INTERVAL '1' SECOND) AS window_start,
  SESSION_END(ts, INTERVAL '1' SECOND) AS window_end, count(*) AS n
FROM events GROUP BY SESSION(ts, INTERVAL '1' SECOND);

CREATE MODEL visits AS
SELECT k, count(*) AS n, window_time AS ended
FROM SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECONDS)
GROUP BY window_start, window_end, window_time, k;

CREATE SINK stacked WITH (connector = 'filesystem', path = 'stacked', format = 'json') AS
SELECT window_start, window_end, count(*) AS visits, sum(n) AS n
FROM CUMULATE(TABLE visits, DESCRIPTOR(ended), INTERVAL '4' SECONDS, INTERVAL '12' SECONDS)
GROUP BY window_start, window_end;
"""

FUNCTIONS = '''
import headrace


@headrace.aggregate(vectorized=False)
def path(values: int) -> str:
    """The values in the order in which they come."""
    return "".join(map(str, values))


@headrace.aggregate
def gaps(at: "TIMESTAMP(3)", weight: int) -> int:
    """Milliseconds between rows, weighed; NULL of one row."""
    if len(at) < 2:
        return None
    return int((at.diff().dt.total_seconds() * 1000 * weight)[1:].sum())
'''


@dataclass(frozen=True)
class Event:
    """A row: its time in milliseconds since `START`, its stream and its value."""

    ms: int
    k: int
    v: int


def generate(seed: int) -> list[list[Event]]:
    """Epochs of thirty streams, which go on by some ten seconds each; some rows are far behind."""
    source = random.Random(seed)  # the same streams at each run
    epochs = []
    for epoch in range(EPOCHS):
        rows = []
        for k in range(30):
            for _ in range(source.randrange(4)):
                behind = source.choice((4_000, 8_000, 30_000))
                ms = 40_000 + epoch * 10_000 - source.randrange(behind)
                rows.append(Event(ms // GRID_MS * GRID_MS, k, source.randrange(6)))
        epochs.append(rows)
    return epochs


def watermarks(epochs: list[list[Event]]) -> Iterator[tuple[int, int, list[Event]]]:
    """Each epoch with the watermark by which rows are late, and that by which windows close."""
    known = [-1, -1]
    for rows in epochs:
        yield known[-2], known[-1], rows
        known.append(max([known[-1], *(row.ms - DELAY_MS for row in rows)]))


def kept_in_windows(
    epochs: list[list[Event]], size: int, offset: int, step: int
) -> Iterator[tuple[int, int, Event]]:
    """Start, end and row of each window that a row is not late for."""
    for late, _, rows in watermarks(epochs):
        for row in rows:
            start = (row.ms - offset) // size * size + offset
            for end in range(start + step, start + size + 1, step):
                if end > row.ms and end > late:
                    yield start, end, row


@dataclass
class Session:
    """Rows of which each is at most the gap behind one before it."""

    start: int
    end: int
    rows: list[Event] = field(default_factory=list)


def sessions_of(epochs: list[list[Event]], gap: int, by_key: bool) -> list[Session]:
    """The sessions that are closed, in the course of the stream or at its end."""
    open_: dict[int, list[Session]] = {}
    closed: list[Session] = []
    for late, passed, rows in watermarks(epochs):
        for row in rows:
            if row.ms + gap > late:
                found = open_.setdefault(row.k if by_key else 0, [])
                found.append(Session(row.ms, row.ms + gap, [row]))
        for key, found in open_.items():
            merged = list(merge(found))
            closed += [session for session in merged if session.end <= passed]
            open_[key] = [session for session in merged if session.end > passed]
    return closed + [session for found in open_.values() for session in found]


def merge(sessions: Iterable[Session]) -> Iterator[Session]:
    """Sessions that overlap or touch, put together."""
    last: Session | None = None
    for session in sorted(sessions, key=lambda s: s.start):
        if last is not None and session.start <= last.end:
            last = Session(last.start, max(last.end, session.end), last.rows + session.rows)
            continue
        if last is not None:
            yield last
        last = session
    if last is not None:
        yield last


def at(ms: int) -> str:
    """A time as the JSON sink writes it."""
    moment = START + timedelta(milliseconds=ms)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def in_order(rows: Iterable[Event]) -> list[int]:
    """The values of a group as an aggregate function is handed them."""
    return [row.v for row in sorted(rows, key=lambda row: (row.ms, row.v))]


def path(values: Iterable[int]) -> str:
    """As the function of that name does it."""
    return "".join(map(str, values))


def tumbling(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    groups: dict[tuple[int, int, int], list[Event]] = {}
    for start, end, row in kept_in_windows(epochs, 10_000, 3_000, 10_000):
        groups.setdefault((start, end, row.k), []).append(row)
    found: Counter[tuple[Any, ...]] = Counter()
    for (start, end, k), rows in groups.items():
        values = in_order(rows)
        kinds = set(values)
        large = [v for v in kinds if v > 2]
        mean = sum(large) / len(large) if large else None
        high = path(v for v in values if v > 2)
        found[at(start), at(end), k, len(values), len(kinds), sum(kinds), mean, path(values), high] += 1
    return found


def cumulating(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    """DuckDB's aggregates over the rows that are not late."""
    windows = windows_in_duckdb(6_000, slide=6_000, step=2_000)
    sql = f"""
        SELECT s, e, k, v % 2, grouping(k, v % 2), sum(v), string_agg(v, '' ORDER BY ms, v)
        FROM ({windows}) GROUP BY s, e, ROLLUP (k, v % 2)
    """
    return in_duckdb(epochs, sql)


def hopping(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    """DuckDB's aggregates over the rows that are not late."""
    windows = windows_in_duckdb(12_000, slide=4_000, offset=1_000)
    sql = f"""
        WITH rows AS ({windows}),
        grouped AS (
          SELECT s, e, k, v % 2 AS odd, count(*) AS n, sum(v) AS total,
            list({{'ms': ms, 'v': v}} ORDER BY ms, v) AS l
          FROM rows GROUP BY s, e, GROUPING SETS ((k, v % 2), (v % 2), ())
        )
        SELECT s, e, k, odd, n, total,
          list_sum([(l[i].ms - l[i - 1].ms) * l[i].v FOR i IN range(2, n + 1)])
        FROM grouped
    """
    return in_duckdb(epochs, sql)


def windows_in_duckdb(size: int, *, slide: int, offset: int = 0, step: int | None = None) -> str:
    """A query for the rows, once for each window (`s`, `e`) that they are in and not late for."""
    return f"""
        SELECT events.*, s, s + width AS e
        FROM events,
          unnest(range(0, {size}, {slide})) AS back(b),
          unnest(range({step or size}, {size + 1}, {step or size})) AS ends(width),
          LATERAL (SELECT (ms - {offset}) // {slide} * {slide} + {offset} - b AS s)
        WHERE ms >= s AND ms < s + width AND s + width > late
    """


def in_duckdb(epochs: list[list[Event]], sql: str) -> Counter[tuple[Any, ...]]:
    """The rows of a query over `events`: its first two columns are times, in milliseconds."""
    with duckdb.connect() as database:
        database.execute("CREATE TABLE events (ms BIGINT, k INT, v INT, late BIGINT)")
        rows = [(row.ms, row.k, row.v, late) for late, _, part in watermarks(epochs) for row in part]
        database.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
        found = database.execute(sql).fetchall()
    return Counter((at(start), at(end), *values) for start, end, *values in found)


def sessions(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for session in sessions_of(epochs, 3_000, by_key=True):
        values = in_order(row for row in session.rows if row.v > 2)
        if values:
            key = (at(session.start), at(session.end), session.rows[0].k)
            found[(*key, sum(values), path(values))] += 1
    return found


def rows(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    return Counter(
        (row.k, row.v, at(row.ms), at(session.start), at(session.end))
        for session in sessions_of(epochs, 3_000, by_key=True)
        for row in session.rows
    )


def busy(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    found = sessions_of(epochs, 1_000, by_key=False)
    return Counter((at(session.start), at(session.end), len(session.rows)) for session in found)


def stacked(epochs: list[list[Event]]) -> Counter[tuple[Any, ...]]:
    """A session is closed in the epoch that closes the windows over its end, so none comes late."""
    groups: dict[tuple[str, str], list[int]] = {}
    for session in sessions_of(epochs, 3_000, by_key=True):
        start = (session.end - 1) // 12_000 * 12_000
        for end in range(start + 4_000, start + 12_001, 4_000):
            if end > session.end - 1:
                groups.setdefault((at(start), at(end)), []).append(len(session.rows))
    return Counter((*key, len(counts), sum(counts)) for key, counts in groups.items())


REFERENCES = {
    "stacked": (stacked, ("window_start", "window_end", "visits", "n")),
    "tumbling": (
        tumbling,
        ("window_start", "window_end", "k", "n", "kinds", "total", "mean", "path", "high"),
    ),
    "hopping": (hopping, ("window_start", "window_end", "k", "odd", "n", "total", "gaps")),
    "cumulating": (cumulating, ("window_start", "window_end", "k", "odd", "part", "total", "path")),
    "sessions": (sessions, ("window_start", "window_end", "k", "total", "path")),
    "rows": (rows, ("k", "v", "ts", "window_start", "window_end")),
    "busy": (busy, ("window_start", "window_end", "n")),
}


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (2, 3))])
def test_generated_streams(session: SparkSession, tmp_path: Path, seed: int) -> None:
    (tmp_path / "headrace.yml").write_text(
        "name: generated\nversion: '1'\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    (tmp_path / "pipeline.sql").write_text(PIPELINE)
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "groups.py").write_text(FUNCTIONS)
    epochs = generate(seed)
    for number, part in enumerate(epochs):
        lines = [(at(row.ms)[:-1].replace("T", " "), row.k, row.v) for row in part]
        plans.put(tmp_path / "in", f"{number}.csv", *lines)
    plan = plan_at(tmp_path)
    report = run(plan, tmp_path, session=session, on_end="close")
    assert report.failures == ()
    assert report.late_rows_dropped > 0
    for name, (reference, columns) in REFERENCES.items():
        found = Counter(tuple(row.get(column) for column in columns) for row in rows_of(tmp_path / name))
        expected = reference(epochs)
        assert found == expected, name

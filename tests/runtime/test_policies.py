"""What becomes of bad records, rows without a time, late rows and silent sources, end to end."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import plans
import pytest
from compiling import plan_at
from files import rows_of
from pyspark.sql import SparkSession

from compiler.jobplan.model import JobPlan
from runtime.jobs.events import EpochCompleted, Event
from runtime.jobs.idle import IdleWatch
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.spark.control import control_folder
from runtime.spark.counters import SeenTimes, SetAside

SOURCE = """
CREATE SOURCE {name} (
  id INT NOT NULL, ts TIMESTAMP(3), v INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECONDS
) WITH (connector = 'filesystem', path = '{name}', format = '{format}', max_files_per_epoch = 1{options});
"""
COUNTS = """
CREATE MODEL counts AS
SELECT window_start, COUNT(*) AS n
FROM TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECONDS) GROUP BY window_start, window_end;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM counts;
"""


def compiled(root: Path, sql: str, trigger: str = "available_now") -> JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text(
        f"name: shop\nversion: '1'\n"
        f"targets: {{dev: {{master: 'local[2]', parallelism: 2, trigger: {trigger}}}}}\n"
    )
    (root / "all.sql").write_text(sql)
    return plan_at(root)


def events(options: str = "", name: str = "events", format_: str = "csv") -> str:
    given = ", 'csv.header' = 'true'" if format_ == "csv" else ""
    return SOURCE.format(name=name, format=format_, options=given + options)


def put(folder: Path, name: str, *rows: tuple[Any, ...]) -> None:
    plans.put(folder, name, *rows, header="id,ts,v")


def go(root: Path, session: SparkSession, sql: str) -> RunReport:
    return run(compiled(root, sql), root, session=session, on_end="close")


def counts(root: Path) -> list[tuple[str, int]]:
    return sorted((row["window_start"][11:19], row["n"]) for row in rows_of(root / "out"))


BAD = [
    (1, "2024-01-01 00:00:01", 5),
    ("x", "2024-01-01 00:00:02", 5),  # not a number
    (3, "2024-01-01 00:00:03", "y"),  # wrong in a column that no query reads
    (4, "2024-01-01 00:00:04", 5, "more"),
    ("", "2024-01-01 00:00:05", 5),  # NULL in a NOT NULL column
    (6, "2024-01-01 00:00:06", ""),
]


def test_bad_records_are_dropped_and_counted(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "events", "a.csv", *BAD)
    report = go(tmp_path, session, events(", on_bad_record = 'drop'") + COUNTS)
    assert not report.failures
    assert counts(tmp_path) == [("00:00:00", 2)]
    assert report.set_aside == (SetAside("events", "bad records", 4),)


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_dead_letters_go_to_their_sink(session: SparkSession, tmp_path: Path, format_: str) -> None:
    if format_ == "csv":
        put(tmp_path / "events", "a.csv", *BAD)
    else:
        plans.put(
            tmp_path / "events", "a.json", header='{"id": 1, "ts": "2024-01-01T00:00:01Z", "v": 5}\n'
            '{"id": "x", "ts": "2024-01-01T00:00:02Z", "v": 5}\n'
            '{"id": 3, "ts": "2024-01-01T00:00:03Z", "v": "y"}\n'
            '{"id": 4, "ts"\n{"ts": "2024-01-01T00:00:05Z", "v": 5}\n{"id": 6, "ts": "2024-01-01T00:00:06Z"}',
        )  # fmt: skip
    sql = events(", on_bad_record = 'dead_letter', dead_letter = 'bad'", format_=format_) + COUNTS
    sql += "CREATE SINK bad WITH (connector = 'filesystem', path = 'bad', format = 'json');"
    report = go(tmp_path, session, sql)
    assert not report.failures
    assert counts(tmp_path) == [("00:00:00", 2)]
    letters = rows_of(tmp_path / "bad")
    assert len(letters) == 4
    assert {letter["source"] for letter in letters} == {"events"}
    assert all(letter["position"].endswith(f"events/a.{format_}") for letter in letters)
    raw = sorted(letter["raw"] for letter in letters)
    if format_ == "csv":
        assert "x,2024-01-01 00:00:02,5" in raw
        assert json.loads(next(text for text in raw if text.startswith("{")))["v"] == 5
    else:
        assert '{"id": 4, "ts"' in raw
    # Twice the same run: each letter is written once.
    assert go(tmp_path, session, sql).rows_written == 0


def test_rows_without_a_time_are_dropped_and_counted(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "events", "a.csv", (1, "2024-01-01 00:00:01", 5), (2, "", 5), (3, "", 5))
    report = go(tmp_path, session, events(", on_null_time = 'drop'") + COUNTS)
    assert counts(tmp_path) == [("00:00:00", 1)]
    assert report.set_aside == (SetAside("events", "rows without an event time", 2),)


def test_rows_without_a_time_pass_where_none_is_asked_for(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "events", "a.csv", (1, "2024-01-01 00:00:01", 5), (2, "", 5))
    sql = events(", on_null_time = 'keep_without_time'")
    sql += "CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS "
    sql += "SELECT id FROM events;"
    go(tmp_path, session, sql)
    assert sorted(row["id"] for row in rows_of(tmp_path / "out")) == [1, 2]


def test_late_rows_beyond_the_limit_end_the_run(session: SparkSession, tmp_path: Path) -> None:
    for index, second in enumerate((1, 40, 50, 2)):
        put(tmp_path / "events", f"{index}.csv", (index, f"2024-01-01 00:00:{second:02}", 5))
    sql = events(", on_late = 'fail'{}") + COUNTS
    allowed = run(compiled(tmp_path / "a", sql.replace("{}", ", max_late_rows = 1").replace(
        "'events'", f"'{tmp_path / 'events'}'")), tmp_path / "a", session=session)  # fmt: skip
    assert not allowed.failures
    assert allowed.late_rows_dropped == 1
    failed = run(compiled(tmp_path, sql.replace("{}", "")), tmp_path, session=session)
    (failure,) = failed.failures
    assert failure.code.name == "HR415"


def test_a_silent_source_does_not_hold_the_windows_of_the_other(
    session: SparkSession, tmp_path: Path
) -> None:
    """A union of two sources: one goes quiet, the other goes on; then the quiet one speaks again."""
    sql = events(", idle_timeout = '2 s'") + events(", idle_timeout = '2 s'", name="others")
    sql += "CREATE MODEL both AS SELECT id, ts FROM events UNION ALL SELECT id, ts FROM others;"
    sql += COUNTS.replace("TABLE events", "TABLE both")
    put(tmp_path / "events", "a.csv", (1, "2024-01-01 00:00:01", 5))
    put(tmp_path / "others", "a.csv", (1, "2024-01-01 00:00:02", 5))
    plan = compiled(tmp_path, sql, trigger="300 ms")
    stop = threading.Event()
    started = time.monotonic()
    fed: list[float] = []

    def feed(event: Event) -> None:
        # One row after the other on one side only; the first window must close although the other is silent.
        if not isinstance(event, EpochCompleted):
            return
        now = time.monotonic()
        if not fed or (event.input_rows and now - fed[-1] > 0.5):
            fed.append(now)
            name = f"{len(fed):03}"
            put(tmp_path / "events", f"{name}.csv", (len(fed), f"2024-01-01 00:00:{20 + len(fed)}", 5))
        if rows_of(tmp_path / "out") or now - started > 90:
            stop.set()

    threading.Timer(100, stop.set).start()
    report = run(plan, tmp_path, session=session, events=feed, stop=stop)
    assert not report.failures
    assert counts(tmp_path)[:1] == [("00:00:00", 2)]


def test_idle_watch_moves_the_idle_ones_up_to_the_slowest_of_the_others(tmp_path: Path) -> None:
    sql = "".join(
        events(f", idle_timeout = '{n} s'", name=name) for name, n in (("a", 5), ("b", 5), ("c", 60))
    )
    sql += "CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS "
    sql += "SELECT id FROM a UNION ALL SELECT id FROM b UNION ALL SELECT id FROM c;"
    (query,) = compiled(tmp_path / "project", sql, trigger="1 s").queries
    now = [0.0]
    watch = IdleWatch(query, tmp_path, clock=lambda: now[0])
    for name in "abc":
        control_folder(tmp_path, name).mkdir(parents=True)

    def moved(name: str) -> list[int]:
        return sorted(int(file.stem) for file in control_folder(tmp_path, name).glob("*.json"))

    watch.saw([SeenTimes("a", 1, 10_000), SeenTimes("b", 1, 50_000), SeenTimes("c", 1, 40_000)])
    now[0] = 4
    watch.saw([SeenTimes("b", 1, 60_000), SeenTimes("c", 0, None)])
    watch.move()
    assert moved("a") == []
    now[0] = 6
    watch.move()
    watch.move()
    # c is slower than b, and not idle yet: its watermark is 38 s, so a is brought up to that.
    assert (moved("a"), moved("b"), moved("c")) == ([40_000], [], [])
    now[0] = 70
    watch.move()
    assert (moved("a"), moved("b"), moved("c")) == ([40_000], [], [])  # all are idle: no rows, no time

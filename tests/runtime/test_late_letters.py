"""Rows that came too late are dead letters: each row is counted or told, and none is both."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from files import rows_of
from pyspark.sql import SparkSession
from test_policies import COUNTS, compiled, put
from test_policies import events as source

from compiler.jobplan.codec import to_json
from runtime.jobs.events import Event
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run

SOURCE = """
CREATE SOURCE events (
  id INT NOT NULL, at STRING, ts AS CAST(at AS TIMESTAMP(3)), user STRING,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECONDS
) WITH (connector = 'filesystem', path = 'events', format = 'json', max_files_per_epoch = 1,
  on_bad_record = 'dead_letter', on_late = 'dead_letter', dead_letter = 'letters');
CREATE SINK letters WITH (connector = 'filesystem', path = 'letters', format = 'json');
"""
WINDOWS = """
CREATE MODEL known AS SELECT id, ts, user FROM events WHERE user <> 'test';
CREATE MODEL tumbling AS
SELECT window_start, count(*) AS n FROM TUMBLE(TABLE known, DESCRIPTOR(ts), INTERVAL '10' SECONDS)
GROUP BY window_start, window_end;
CREATE MODEL hopping AS
SELECT window_start, user, count(*) AS n
FROM HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '5' SECONDS, INTERVAL '20' SECONDS)
GROUP BY window_start, window_end, user;
CREATE SINK t WITH (connector = 'filesystem', path = 'tumbling', format = 'json') AS SELECT * FROM tumbling;
CREATE SINK h WITH (connector = 'filesystem', path = 'hopping', format = 'json') AS SELECT * FROM hopping;
"""
SESSIONS = """
CREATE MODEL visits AS
SELECT user, window_start, count(*) AS n
FROM SESSION(TABLE events PARTITION BY user, DESCRIPTOR(ts), INTERVAL '4' SECONDS)
GROUP BY user, window_start, window_end;
CREATE SINK v WITH (connector = 'filesystem', path = 'visits', format = 'json') AS SELECT * FROM visits;
"""
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


class Events:
    """Epochs of rows, a file each, of which many are late."""

    def __init__(self, root: Path, seed: int, epochs: int = 7, rows: int = 20) -> None:
        made = random.Random(seed)
        self.epochs: list[list[tuple[int, int, str]]] = []
        self.root = root
        folder = root / "events"
        folder.mkdir(parents=True)
        for epoch in range(epochs):
            seconds = (max(0, epoch * 9 + made.randint(-25, 9)) for _ in range(rows))
            found = [(epoch * rows + i, s, made.choice("ab") if i else "test") for i, s in enumerate(seconds)]
            self.epochs.append(found)
            lines = [
                json.dumps(
                    {"id": id_, "at": f"{BEGIN + timedelta(seconds=s):%Y-%m-%d %H:%M:%S}", "user": user}
                )
                for id_, s, user in found
            ]
            file = folder / f"{epoch}.json"
            file.write_text("\n".join([*lines, '{"id": "bad"}']) + "\n")
            os.utime(file, (1_700_000_000 + epoch,) * 2)

    def late(self, size: int, slide: int | None = None) -> set[int]:
        """Rows whose last window had ended when they came, by the watermark of the epoch before the last."""
        found: set[int] = set()
        for number, epoch in enumerate(self.epochs):
            seen = [s for before in self.epochs[: max(0, number - 1)] for _, s, _ in before]
            mark = max(seen, default=-(10**9)) - 2
            found |= {id_ for id_, s, _ in epoch if (s // slide * slide if slide else s) + size <= mark}
        return found

    @property
    def rows(self) -> list[tuple[int, int, str]]:
        return [row for epoch in self.epochs for row in epoch]


def told(root: Path, reason: str) -> list[Any]:
    """The ids in the letters of a reason."""
    letters = [letter for letter in rows_of(root / "letters") if letter["reason"] == reason]
    assert all(letter["source"] == "events" for letter in letters)
    assert all("/events/" in letter["position"] for letter in letters)
    return sorted(json.loads(letter["raw"])["id"] for letter in letters)


def check(events: Events) -> None:
    root = events.root
    test = {id_ for id_, _, user in events.rows if user == "test"}
    late = events.late(10, 10) - test
    assert told(root, "late for tumbling") == sorted(late)
    assert sum(row["n"] for row in rows_of(root / "tumbling")) == len(events.rows) - len(test) - len(late)
    assert told(root, "late for hopping") == sorted(events.late(20, 5))
    assert told(root, "bad record") == ["bad"] * len(events.epochs)
    assert len(late) > 10
    times = {
        json.loads(x["raw"])["id"]: x["event_time"]
        for x in rows_of(root / "letters")
        if "late" in x["reason"]
    }
    seconds = {id_: s for id_, s, _ in events.rows}
    assert all(
        datetime.fromisoformat(time) == BEGIN + timedelta(seconds=seconds[id_]) for id_, time in times.items()
    )


def go(events: Events, sql: str, session: SparkSession) -> RunReport:
    report = run(compiled(events.root, sql), events.root, session=session, on_end="close")
    assert not report.failures
    return report


@pytest.mark.soak
def test_rows_are_counted_or_told(session: SparkSession, tmp_path: Path) -> None:
    """Two aggregates that share a state: a row may be late for one of them alone."""
    events = Events(tmp_path, seed=3)
    report = go(events, SOURCE + WINDOWS, session)
    check(events)
    assert report.late_rows_dropped
    assert go(events, SOURCE + WINDOWS, session).rows_written == 0


@pytest.mark.soak
def test_rows_behind_their_session(session: SparkSession, tmp_path: Path) -> None:
    """As Spark judges them: by the session that a row alone would make."""
    events = Events(tmp_path, seed=5, epochs=5)
    go(events, SOURCE + SESSIONS, session)
    late = told(tmp_path, "late for visits")
    assert late == sorted(events.late(4))
    assert sum(row["n"] for row in rows_of(tmp_path / "visits")) == len(events.rows) - len(late)


def test_letters_survive_a_kill(session: SparkSession, tmp_path: Path) -> None:
    """Where epochs end after a kill decides what is late; but each row is counted or told, and once."""
    events = Events(tmp_path, seed=7, epochs=5)
    plan = tmp_path / "plan.json"
    plan.write_text(to_json(compiled(tmp_path, SOURCE + WINDOWS)), encoding="utf-8")
    driver = Path(__file__).parents[1] / "killed_run.py"
    command = [sys.executable, str(driver), str(tmp_path), str(plan), "close", "3"]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert killed.returncode == -9, killed.stderr
    go(events, SOURCE + WINDOWS, session)
    test = {id_ for id_, _, user in events.rows if user == "test"}
    late = told(tmp_path, "late for tumbling")
    assert len(set(late)) == len(late) > 0
    assert sum(row["n"] for row in rows_of(tmp_path / "tumbling")) == len(events.rows) - len(test) - len(late)
    assert set(told(tmp_path, "late for hopping")) - test <= set(late)
    assert told(tmp_path, "bad record") == ["bad"] * len(events.epochs)


def test_letters_of_a_source_that_may_fall_silent(session: SparkSession, tmp_path: Path) -> None:
    """An idle timeout puts a second source into the stream, with offsets of its own."""
    for name, second in enumerate((1, 40, 50, 2)):
        put(tmp_path / "events", f"{name}.csv", (name, f"2024-01-01 00:00:{second:02}", 5))
    sql = source(", idle_timeout = '1 hour', on_late = 'dead_letter', dead_letter = 'letters'") + COUNTS
    sql += "CREATE SINK letters WITH (connector = 'filesystem', path = 'letters', format = 'json');"
    stop = threading.Event()
    guard = threading.Timer(90, stop.set)
    guard.start()

    def watch(_: Event) -> None:
        if rows_of(tmp_path / "letters"):
            stop.set()

    plan = compiled(tmp_path, sql, trigger="200 ms")
    report = run(plan, tmp_path, session=session, events=watch, stop=stop)
    guard.cancel()
    assert not report.failures
    assert told(tmp_path, "late for counts") == [3]

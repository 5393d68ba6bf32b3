"""Sessions and cumulating windows, lowered by themselves and run as streams."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import plans
import pytest
from files import tuples_of
from pyspark.sql import SparkSession
from test_operators import at, context, feed, orders, values

from compiler.jobplan import model as m
from runtime.jobs.runner import run
from runtime.spark.context import DELAY_KEY
from runtime.spark.operators import lower

SESSION_SUMS = (
    m.Column("window_start", "TIMESTAMP"), m.Column("window_end", "TIMESTAMP"), m.Column("k", "STRING"),
    m.Column("total", "BIGINT"),
)  # fmt: skip


def sessions(gap_ms: int = 5_000, keys: tuple[str, ...] = ("k",), **more: Any) -> m.Session:
    values: dict[str, Any] = {"delay_ms": 2000, **more}
    return m.Session(
        "session", "s", ("wm",), keys, "ts", gap_ms,
        start="window_start", end="window_end", time="window_time", **values,
    )  # fmt: skip


def session_sums(gap_ms: int = 5_000, keys: tuple[str, ...] = ("k",), **more: Any) -> m.SessionAggregate:
    values: dict[str, Any] = {"delay_ms": 2000, "time": None, **more}
    return m.SessionAggregate(
        "agg", "agg", ("wm",), tuple(m.Item(key, key) for key in keys), "ts", gap_ms,
        aggregates=(m.Item("total", "sum(v)"),), output=("window_start", "window_end", *keys, "total"),
        start="window_start", end="window_end", **values,
    )  # fmt: skip


def state(op: m.Session | m.SessionAggregate) -> tuple[m.State, ...]:
    return (m.State(op.id, op.uid, op.op, ("k",), "f1", ""),)


@pytest.mark.parametrize(("size", "step", "offset"), [(10_000, 2_000, 0), (9_000, 3_000, 1_000), (5, 5, 0)])
def test_cumulating_windows_are_those_of_arithmetic(
    session: SparkSession, tmp_path: Path, size: int, step: int, offset: int
) -> None:
    seconds = [0.0, 0.001, 1.999, 2.0, 9.999, 10.0, 17.5, -1.0]
    op = plans.tumble(size_ms=size, kind="cumulate", slide_ms=step, offset_ms=offset, delay=None)
    rows = orders(session, *((s, "x", i) for i, s in enumerate(seconds)))
    expected = []
    for i, second in enumerate(seconds):
        ms = round(second * 1000)
        start = (ms - offset) // size * size + offset
        ends = [end for end in range(start + step, start + size + 1, step) if end > ms]
        expected += [(i, at(start / 1000), at(end / 1000), at((end - 1) / 1000)) for end in ends]
    got = lower(op, [rows], context(session, tmp_path)).select(
        "v", "window_start", "window_end", "window_time"
    )
    assert values(got) == sorted(expected, key=repr)


def test_sessions_of_a_batch(session: SparkSession, tmp_path: Path) -> None:
    rows = orders(
        session, (0, "x", 1), (5, "x", 2), (10.001, "x", 4), (3, None, 8), (4, None, 16), (1, "y", 32)
    )
    got = lower(sessions(delay_ms=None), [rows], context(session, tmp_path))
    assert got.columns == ["ts", "k", "v", "window_start", "window_end", "window_time"]
    found = {row.v: (row.window_start, row.window_end, row.window_time) for row in got.collect()}

    def bounds(start: float, end: float) -> tuple[Any, Any, Any]:
        return at(start), at(end), at(end) - timedelta(milliseconds=1)

    # Rows one gap apart are of one session, rows without a key are of one key.
    assert found == {
        1: bounds(0, 10), 2: bounds(0, 10), 4: bounds(10.001, 15.001),
        8: bounds(3, 9), 16: bounds(3, 9), 32: bounds(1, 6),
    }  # fmt: skip
    summed = lower(session_sums(delay_ms=None), [rows], context(session, tmp_path))
    assert sorted(row.total for row in summed.collect()) == [3, 4, 24, 32]
    everything = lower(session_sums(keys=(), delay_ms=None), [rows], context(session, tmp_path))
    assert values(everything) == [(at(0), at(10), 59), (at(10.001), at(15.001), 4)]


def test_only_the_windows_times_of_a_session_move_on(session: SparkSession, tmp_path: Path) -> None:
    rows = orders(session, (0, "x", 1)).withWatermark("ts", "2 seconds")
    got = lower(sessions(), [rows], context(session, tmp_path))
    marks = {f.name: f.metadata.get(DELAY_KEY) for f in got.schema}
    assert {name for name, delay in marks.items() if delay is not None} == {"window_end", "window_time"}


EPOCHS: tuple[list[tuple[str, str, int]], ...] = (
    [("00:01", "x", 1), ("00:03", "y", 2)],
    # Of another key, and it closes both: 00:08 and 00:06 are before 00:28.
    [("00:30", "z", 4)],
    [("00:31", "z", 8)],
    # The watermark of two epochs ago is 00:28: the first is late by its own end, the second is not.
    [("00:22", "x", 100), ("00:24", "x", 16)],
    [("02:00", "z", 32)],
    [("02:00", "z", 64)],
)


def test_a_filter_over_sessions_does_not_starve_the_watermark(session: SparkSession, tmp_path: Path) -> None:
    """Spark moves filters over keys below the watermark, which then sees the rows of key `x` alone."""
    feed(tmp_path / "in", *EPOCHS)
    agg = session_sums()
    operators = (plans.scan(), plans.watermark(), agg, m.Filter("f", "f", ("agg",), "k = 'x'"))
    query = plans.query(operators, "f", (plans.sink("f", SESSION_SUMS),), state=state(agg))
    report = run(plans.plan(query), tmp_path, session=session)
    assert report.failures == ()
    assert tuples_of(tmp_path / "out", "k", "total") == [("x", 1), ("x", 16)]
    assert report.late_rows_dropped == 1
    # That of `z`, from two minutes on.
    assert report.open_groups == 1


def test_groups_of_closed_sessions(session: SparkSession, tmp_path: Path) -> None:
    """A second stateful operator over closed sessions gives each group in the epoch that closes them."""
    feed(tmp_path / "in", *EPOCHS)
    assigned = sessions()
    sums = plans.sums("session", by=())
    operators = (plans.scan(), plans.watermark(), assigned, sums)
    columns = tuple(column for column in plans.SUMS if column.name != "k")
    query = plans.query(
        operators, "agg", (plans.sink("agg", columns),), state=(plans.state(sums), *state(assigned))
    )
    report = run(plans.plan(query), tmp_path, session=session)
    assert report.failures == ()
    got = tuples_of(tmp_path / "out", "window_start", "total", "n")
    minute = "2024-01-01T00:00"
    assert got == [
        (f"{minute}:01.000Z", 1, 1), (f"{minute}:03.000Z", 2, 1), (f"{minute}:24.000Z", 16, 1),
        (f"{minute}:30.000Z", 12, 2),
    ]  # fmt: skip


def test_a_filter_over_groups_does_not_starve_the_watermark(session: SparkSession, tmp_path: Path) -> None:
    feed(tmp_path / "in", *EPOCHS)
    only_x = m.Filter("f", "f", ("agg",), "k = 'x'")
    operators = (plans.scan(), plans.watermark(), plans.tumble(), plans.sums(), only_x)
    query = plans.query(operators, "f", (plans.sink("f", plans.SUMS),), state=(plans.state(plans.sums()),))
    report = run(plans.plan(query), tmp_path, session=session)
    assert report.failures == ()
    got = tuples_of(tmp_path / "out", "window_start", "k", "total")
    assert got == [("2024-01-01T00:00:00.000Z", "x", 1), ("2024-01-01T00:00:20.000Z", "x", 116)]


@pytest.mark.parametrize(("shape", "size_days"), [("tumble", 1), ("hop", 2), ("cumulate", 2)])
def test_days_of_the_calendar(session: SparkSession, tmp_path: Path, shape: Any, size_days: int) -> None:
    """Berlin, 2024: 31 March has 23 hours and 27 October 25, of which one comes twice."""
    zone, day_ms = ZoneInfo("Europe/Berlin"), 86_400_000
    moments = [
        datetime(2024, month, day, hour, tzinfo=UTC)
        for month, day in ((3, 30), (3, 31), (10, 26), (10, 27))
        for hour in (0, 1, 2, 21, 22, 23)
    ]
    rows = session.createDataFrame([(moment, i) for i, moment in enumerate(moments)], "ts timestamp, v int")
    op = plans.tumble(
        size_ms=size_days * day_ms, kind=shape, slide_ms=day_ms, offset_ms=0, delay=None, by_calendar=True
    )

    def midnight(date: int) -> int:
        local = datetime.fromordinal(date).replace(tzinfo=zone)
        return int(local.timestamp())

    epoch = datetime(1970, 1, 1).toordinal()  # noqa: DTZ001  # a date
    expected = []
    for i, moment in enumerate(moments):
        date = moment.astimezone(zone).toordinal()
        first = epoch + (date - epoch) // size_days * size_days
        starts = [date - n for n in range(size_days)] if shape == "hop" else [first]
        for start in starts:
            ends = range(date + 1, start + size_days + 1) if shape == "cumulate" else [start + size_days]
            expected += [(i, midnight(start), midnight(end)) for end in ends]
    session.conf.set("spark.sql.session.timeZone", zone.key)
    try:
        got = lower(op, [rows], context(session, tmp_path))
        found = got.selectExpr("v", "unix_seconds(window_start) AS s", "unix_seconds(window_end) AS e")
        assert values(found) == sorted(expected, key=repr)
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")

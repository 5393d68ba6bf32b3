"""Operators: lowered by themselves on batches, and the facts about Spark's streams they rest on."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import plans
import pytest
from files import tuples_of
from pyspark.sql import DataFrame, SparkSession

from compiler.jobplan import model as m
from runtime.jobs.events import EpochCompleted
from runtime.jobs.runner import run
from runtime.spark.context import DELAY_KEY, Context
from runtime.spark.operators import LOWERINGS, lower
from runtime.spark.operators.watermark import NULL_MARKER

EPOCH = datetime(2024, 1, 1)  # noqa: DTZ001  # as Spark gives times back, in the session's zone


def context(session: SparkSession, folder: Path) -> Context:
    return Context(session, folder, folder, streaming=False)


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


def orders(session: SparkSession, *rows: tuple[float | None, str | None, int]) -> DataFrame:
    values = [(None if s is None else at(s), k, v) for s, k, v in rows]
    return session.createDataFrame(values, "ts timestamp, k string, v int")


def values(rows: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows.collect()), key=repr)


def test_every_operator_has_a_lowering() -> None:
    assert set(LOWERINGS) == set(m.Operator.__args__)


@pytest.mark.parametrize(
    ("size", "slide", "offset"),
    [(10_000, 10_000, 0), (10_000, 4_000, 0), (10_000, 10_000, -3_000), (6_000, 3_000, 7_000)],
)
def test_windows_are_those_of_arithmetic(
    session: SparkSession, tmp_path: Path, size: int, slide: int, offset: int
) -> None:
    seconds = [0.0, 0.001, 3.999, 9.999, 10.0, 17.5]
    op = plans.tumble(size_ms=size, kind="hop", slide_ms=slide, offset_ms=offset, delay=None)
    got = lower(
        op, [orders(session, *((s, "x", i) for i, s in enumerate(seconds)))], context(session, tmp_path)
    )
    expected = []
    for i, second in enumerate(seconds):
        ms = round(second * 1000)
        start = (ms - offset) // slide * slide + offset
        while start > ms - size:
            expected.append((i, at(start / 1000), at((start + size) / 1000), at((start + size - 1) / 1000)))
            start -= slide
    chosen = got.select("v", "window_start", "window_end", "window_time")
    assert values(chosen) == sorted(expected, key=repr)


def test_only_end_and_time_of_a_window_are_event_times(session: SparkSession, tmp_path: Path) -> None:
    got = lower(plans.tumble(), [orders(session)], context(session, tmp_path))
    marks = {f.name: f.metadata.get(DELAY_KEY) for f in got.schema}
    assert marks == {
        "ts": None,
        "k": None,
        "v": None,
        "window_start": None,
        "window_end": 2000,
        "window_time": 2000,
    }


def test_aggregate_takes_expressions_as_keys_and_orders_its_output(
    session: SparkSession, tmp_path: Path
) -> None:
    op = m.Aggregate(
        "a", "a", ("x",), keys=(m.Item("k", "upper(k)"),),
        aggregates=(m.Item("v", "sum(v)"), m.Item("n", "count(k)")),
        output=("n", "v", "k"), event_time_key=None,
    )  # fmt: skip
    got = lower(op, [orders(session, (0, "a", 1), (1, "A", 2), (2, None, 4))], context(session, tmp_path))
    assert got.columns == ["n", "v", "k"]
    assert values(got) == sorted([(2, 3, "A"), (0, 4, None)], key=repr)
    distinct = m.Aggregate("a", "a", ("x",), (m.Item("k", "k"),), (), ("k",), None)
    assert values(
        lower(distinct, [orders(session, (0, "a", 1), (1, "a", 2))], context(session, tmp_path))
    ) == [("a",)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("inner", [("x", 1, "x", "X")]),
        ("left", [("x", 1, "x", "X"), ("y", 2, None, None)]),
        ("semi", [("x", 1)]),
        ("anti", [("y", 2)]),
        ("cross", [("x", 1, "x", "X"), ("x", 1, "z", "Z"), ("y", 2, "x", "X"), ("y", 2, "z", "Z")]),
    ],
)
def test_seed_join(session: SparkSession, tmp_path: Path, kind: Any, expected: list[tuple[Any, ...]]) -> None:
    content = b"code,full name\nx,X\nz,Z\n"
    sha256 = hashlib.sha256(content).hexdigest()
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / f"{sha256}.csv").write_bytes(content)
    columns = (m.Column("code", "STRING"), m.Column("full name", "STRING"))
    seed = lower(m.Seed("s", "s", "seeds/names.csv", sha256, columns), [], context(session, tmp_path))
    stream = orders(session, (0, "x", 1), (1, "y", 2)).select("k", "v")
    op = m.SeedJoin("j", "j", ("a", "s"), kind, None if kind == "cross" else "k = code")
    assert values(lower(op, [stream, seed], context(session, tmp_path))) == sorted(expected, key=repr)
    if kind in ("semi", "anti"):
        bare = lower(m.SeedJoin("j", "j", ("a", "s"), kind, None), [stream, seed], context(session, tmp_path))
        assert bare.count() == (2 if kind == "semi" else 0)


def test_names_of_any_spelling(session: SparkSession, tmp_path: Path) -> None:
    rows = session.createDataFrame([(at(1), 2)], "`order time` timestamp, `a.b` int")
    op = plans.tumble(column="order time", delay=None)
    got = lower(op, [rows], context(session, tmp_path))
    kept = lower(
        m.Project("p", "p", ("w",), (m.Item("x`y", "`a.b` + 1"),)), [got], context(session, tmp_path)
    )
    assert (kept.columns, values(kept)) == (["x`y"], [(3,)])


def test_union_takes_the_first_names(session: SparkSession, tmp_path: Path) -> None:
    a = orders(session, (0, "x", 1)).select("k", "v")
    b = orders(session, (0, "x", 1)).selectExpr("k as z", "v as w")
    got = lower(m.Union("u", "u", ("a", "b")), [a, b], context(session, tmp_path))
    assert (got.columns, values(got)) == (["k", "v"], [("x", 1), ("x", 1)])


def test_null_event_time(session: SparkSession, tmp_path: Path) -> None:
    rows = orders(session, (None, "x", 1), (1, "y", 2))
    assert lower(plans.watermark(on_null="drop"), [rows], context(session, tmp_path)).count() == 1
    with pytest.raises(Exception, match="headrace:null_event_time") as failed:
        lower(plans.watermark(), [rows], context(session, tmp_path)).collect()
    assert NULL_MARKER in str(failed.value)


def feed(folder: Path, *epochs: list[tuple[str, str, int]]) -> None:
    for i, rows in enumerate(epochs):
        plans.put(folder, f"{i}.csv", *((f"2024-01-01 00:{time}", k, v) for time, k, v in rows))


def test_plain_window_columns_close_evict_and_drop_late_rows(session: SparkSession, tmp_path: Path) -> None:
    """Spark 4.2.0: an aliased column with a watermark's metadata does all that a window struct does."""
    feed(
        tmp_path / "in",
        [("00:01", "x", 1), ("00:08", "x", 2)],
        [("00:31", "x", 4)],
        [("00:32", "x", 32)],
        # Judged by the watermark of two epochs ago, 29 s; and by the window's end, not by the row's time.
        [("00:05", "x", 100), ("00:06", "y", 200), ("00:21", "x", 8)],
        [("01:30", "z", 16)],
    )
    told: list[Any] = []
    report = run(plans.sums_plan(), tmp_path, session=session, events=told.append)
    assert report.failures == ()
    expected = [("00:00", "x", 3), ("00:20", "x", 8), ("00:30", "x", 36)]
    got = tuples_of(tmp_path / "out", "window_start", "k", "total")
    assert got == [(f"2024-01-01T00:{time}.000Z", k, v) for time, k, v in expected]
    assert report.late_rows_dropped == 2
    assert report.open_groups == 1
    states = [event.state_rows for event in told if isinstance(event, EpochCompleted)]
    assert states[-1] == 1
    assert max(states) <= 3


def test_windows_cascade_over_window_time(session: SparkSession, tmp_path: Path) -> None:
    feed(
        tmp_path / "in",
        [("00:01", "x", 1), ("00:11", "y", 2), ("00:19", "x", 4)],
        [("00:45", "x", 8)],
        [("02:00", "x", 16)],
    )
    inner, outer = plans.sums(), plans.sums("window2", "2", "total", by=())
    operators = (
        plans.scan(), plans.watermark(), plans.tumble(), inner,
        plans.tumble("agg", 20_000, "window_time", "2"), outer,
    )  # fmt: skip
    columns = (m.Column("window_start2", "TIMESTAMP"), m.Column("total", "BIGINT"), m.Column("n", "BIGINT"))
    plan = plans.plan(plans.query(operators, "agg2", (plans.sink("agg2", columns),)))
    left_open = run(plan, tmp_path, session=session)
    assert left_open.failures == ()
    assert tuples_of(tmp_path / "out", "total", "n") == [(7, 3), (8, 1)]
    assert left_open.open_groups == 1
    closed = run(plan, tmp_path, session=session, on_end="close")
    assert closed.failures == ()
    assert tuples_of(tmp_path / "out", "total", "n") == [(7, 3), (8, 1), (16, 1)]

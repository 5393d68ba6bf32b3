"""Runs from start to end: what is told, what is refused, how failures read."""

from __future__ import annotations

import gzip
import threading
from pathlib import Path
from typing import Any, Literal

import plans
import pytest
from files import rows_of, tuples_of
from msgspec.structs import replace
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.jobs.environment import Environment
from runtime.jobs.events import EpochCompleted, QueryEnded, QueryFailed, QueryStarted
from runtime.jobs.runner import run
from runtime.state.checkpoint import Checkpoint
from runtime.state.root import read_manifest

STATE = Path(".headrace/state")


def codes(error: pytest.ExceptionInfo[DiagnosticError]) -> list[str]:
    return [finding.code.name for finding in error.value.diagnostics]


def checkpoint(folder: Path, uid: str = "q1") -> Checkpoint:
    return Checkpoint(folder / STATE / "queries" / uid / "checkpoint")


def test_runs_continue_and_close(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:00:11", "x", 3))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:31", "y", 5))
    plan = plans.sums_plan()
    told: list[Any] = []
    report = run(plan, tmp_path, session=session, events=told.append)
    assert report.failures == ()
    assert (report.rows_written, report.open_groups, report.queries[0].input_rows) == (2, 1, 3)
    assert report.queries[0].sinks[0].location == "out"
    assert isinstance(told[0], QueryStarted)
    assert (told[0].next_epoch, told[0].incarnation) == (0, checkpoint(tmp_path).incarnation())
    epochs = [event for event in told if isinstance(event, EpochCompleted)]
    assert [epoch.epoch for epoch in epochs] == list(range(report.queries[0].epochs))
    assert [epoch.input_rows for epoch in epochs[:2]] == [2, 1]
    assert epochs[-1].watermark == "2024-01-01T00:00:29.000Z"
    assert told[-1] == QueryEnded("q1", stopped=False, closed=False)
    again = run(plan, tmp_path, session=session)
    assert (again.failures, again.rows_written, again.queries[0].epochs) == ((), 0, 0)
    assert again.open_groups == 1
    plans.put(tmp_path / "in", "c.csv", ("2024-01-01 00:00:32", "y", 7))
    more = run(plan, tmp_path, session=session, on_end="close")
    assert (more.failures, more.rows_written, more.open_groups) == ((), 1, 0)
    assert more.queries[0].closed
    assert tuples_of(tmp_path / "out", "window_start", "k", "total", "n") == [
        ("2024-01-01T00:00:00.000Z", "x", 1, 1),
        ("2024-01-01T00:00:10.000Z", "x", 3, 1),
        ("2024-01-01T00:00:30.000Z", "y", 12, 2),
    ]
    # Closed, and nothing new: fine, as often as you like.
    ways: tuple[Literal["close", "leave_open"], ...] = ("close", "leave_open")
    for on_end in ways:
        idle = run(plan, tmp_path, session=session, on_end=on_end)
        assert (idle.failures, idle.rows_written, idle.queries[0].closed) == ((), 0, True)
    plans.put(tmp_path / "in", "d.csv", ("2024-01-01 00:10:00", "z", 1))
    for _ in range(2):
        late = run(plan, tmp_path, session=session)
        assert [failure.code.name for failure in late.failures] == ["HR504"]
        assert len(rows_of(tmp_path / "out")) == 3
    refreshed = run(plan, tmp_path, session=session, full_refresh=True)
    assert (refreshed.failures, refreshed.rows_written, refreshed.open_groups) == ((), 3, 1)
    manifest = read_manifest(tmp_path / STATE)
    assert manifest is not None
    assert [(group.uid, group.sinks, group.reads, group.parallelism) for group in manifest.groups] == [
        ("q1", ("out",), ("orders",), 2)
    ]


def test_stateless_query_goes_on_after_close_and_a_removed_one_is_retired(
    session: SparkSession, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    two = plans.plan(
        plans.query((plans.scan(),), "scan", (plans.sink("scan", plans.ORDERS),)),
        plans.query(
            (plans.scan(),), "scan", (plans.sink("scan", plans.ORDERS, path="b", uid="b"),), uid="q2"
        ),
    )
    selected = run(two, tmp_path, session=session, on_end="close", select={"q1"})
    assert [query.uid for query in selected.queries] == ["q1"]
    both = run(two, tmp_path, session=session, on_end="close")
    assert [query.sinks[0].rows_written for query in both.queries] == [0, 1]
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    gone = replace(two.queries[1], sinks=(replace(two.queries[1].sinks[0], removed=True),))
    one = run(replace(two, queries=(two.queries[0], gone)), tmp_path, session=session)
    assert (one.failures, one.rows_written, one.retired) == ((), 1, ("q2",))
    manifest = read_manifest(tmp_path / STATE)
    assert manifest is not None
    assert ([group.uid for group in manifest.groups], manifest.retired) == (["q1"], ("q2",))
    assert tuples_of(tmp_path / "out", "k") == [("x",), ("y",)]


def test_state_that_does_not_fit_is_refused_before_anything_changes(
    session: SparkSession, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:01:00", "x", 1))
    plan = plans.sums_plan()
    run(plan, tmp_path, session=session)
    query = plan.queries[0]
    changed = replace(query, state=(plans.state(plans.sums(), "f2"),))
    with pytest.raises(DiagnosticError) as other:
        run(replace(plan, queries=(changed,)), tmp_path, session=session)
    assert codes(other) == ["HR501"]
    renamed = replace(query, operators=(replace(plans.scan(), read_name="orders_2"), *query.operators[1:]))
    with pytest.raises(DiagnosticError) as moved:
        run(replace(plan, queries=(renamed,)), tmp_path, session=session)
    assert codes(moved) == ["HR501"]
    wider = run(replace(plan, queries=(replace(query, parallelism=5),)), tmp_path, session=session)
    assert [warning.code.name for warning in wider.warnings] == ["HR506"]
    assert wider.failures == ()
    assert (checkpoint(tmp_path).path / "state" / "0" / "1").exists()
    assert not (checkpoint(tmp_path).path / "state" / "0" / "2").exists()


def test_bad_record_fails_with_its_file_and_runs_again_once_corrected(
    session: SparkSession, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", "many"))
    told: list[Any] = []
    report = run(plans.copy_plan(), tmp_path, session=session, events=told.append)
    (failure,) = report.failures
    assert failure.code.name == "HR406"
    assert f"{tmp_path}/in/b.csv" in failure.message
    said = f"{failure.message} {failure.cause}"
    assert "Exception" not in said
    assert "\n" not in said
    assert isinstance(told[-1], QueryFailed)
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1)]
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    assert run(plans.copy_plan(), tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1), ("y", 2)]


def test_not_null_is_checked_where_the_column_is_used(session: SparkSession, tmp_path: Path) -> None:
    """Spark 4.2.0 takes every column of a file for nullable, whatever the schema says."""
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:00:02", "", 2))
    columns = (plans.ORDERS[0], m.Column("k", "STRING", nullable=False), plans.ORDERS[2])
    whole = (plans.sink("scan", columns, connector="blackhole"),)
    plan = plans.plan(plans.query((plans.scan(columns=columns),), "scan", whole))
    (failure,) = run(plan, tmp_path, session=session).failures
    assert failure.code.name == "HR406"
    assert failure.message == "a row of source orders has no k, which is declared NOT NULL"


def test_a_query_that_fails_on_a_row_can_be_mended(session: SparkSession, tmp_path: Path) -> None:
    """The epoch in flight is the new plan's, since no sink has seen anything of it."""
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    sink = plans.sink("f", plans.ORDERS)
    strict = m.Filter("f", "f", ("scan",), "CAST(k AS INT) > 0")
    broken = plans.plan(plans.query((plans.scan(), strict), "f", (sink,)))
    (failure,) = run(broken, tmp_path, session=session).failures
    assert failure.code.name == "HR410"
    mended = plans.plan(plans.query((plans.scan(), replace(strict, predicate="v > 0")), "f", (sink,)))
    assert run(mended, tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1)]


def test_a_file_that_an_unfinished_epoch_needs_must_not_be_gone(
    session: SparkSession, tmp_path: Path
) -> None:
    """Spark 4.2.0 would replay the epoch without the file's rows, and without a word."""
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", "many"))
    assert run(plans.copy_plan(), tmp_path, session=session).failures
    (tmp_path / "in" / "a.csv").unlink()  # read to its end, so nobody needs it
    (tmp_path / "in" / "b.csv").rename(tmp_path / "b.csv")
    with pytest.raises(DiagnosticError) as refused:
        run(plans.copy_plan(), tmp_path, session=session)
    (found,) = refused.value.diagnostics
    assert (found.code.name, f"{tmp_path}/in/b.csv" in found.message) == ("HR605", True)
    plans.put(tmp_path / "in", "b.csv")
    assert run(plans.copy_plan(), tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1)]


def test_a_file_that_was_found_for_an_epoch_must_not_be_gone(session: SparkSession, tmp_path: Path) -> None:
    """Spark 4.2.0 notes the files of an epoch before the epoch, and lets go of those that it misses later."""
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", "many"))
    assert run(plans.copy_plan(), tmp_path, session=session).failures
    # As if it had been killed in between.
    for entry in (checkpoint(tmp_path).path / "offsets").iterdir():
        entry.unlink()
    assert not checkpoint(tmp_path).in_flight
    (tmp_path / "in" / "a.csv").rename(tmp_path / "a.csv")
    with pytest.raises(DiagnosticError) as first:
        run(plans.copy_plan(), tmp_path, session=session)
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", "many"))
    assert run(plans.copy_plan(), tmp_path, session=session).failures
    # The epoch has taken up what was found before it.
    assert checkpoint(tmp_path).ends(0, ("orders",)) == {"orders": '{"logOffset":1}'}
    (tmp_path / "in" / "a.csv").unlink()
    with pytest.raises(DiagnosticError) as second:
        run(plans.copy_plan(), tmp_path, session=session)
    for error in (first, second):
        (found,) = error.value.diagnostics
        assert (found.code.name, f"{tmp_path}/in/a.csv" in found.message) == ("HR605", True)
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    assert run(plans.copy_plan(), tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1), ("y", 2)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("k,ts,v\nx,2024-01-01 00:00:01,1\n", plans.ORDERS),
        ("ts,k\n2024-01-01 00:00:01,x\n", plans.ORDERS),
        ("ts;k;v\n2024-01-01 00:00:01;x;1\n", plans.ORDERS),
        ("ts,k,v\n2024-01-01 00:00:01,x\n", plans.ORDERS),
        ("ts,k,v\n2024-01-01 00:00:01,x,1,2\n", plans.ORDERS),
    ],
    ids=["other header", "shorter header", "other delimiter", "too few fields", "too many fields"],
)
def test_files_of_another_shape_fail(
    session: SparkSession, tmp_path: Path, text: str, columns: tuple[m.Column, ...]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text(text)
    plan = plans.plan(
        plans.query(
            (plans.scan(columns=columns),), "scan", (plans.sink("scan", columns, connector="blackhole"),)
        )
    )
    (failure,) = run(plan, tmp_path, session=session).failures
    assert failure.code.name == "HR406"
    assert f"{tmp_path}/in/a.csv" in failure.message


def test_file_that_ends_too_early_is_named(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    whole = gzip.compress(b"ts,k,v\n" + b"2024-01-01 00:00:01,x,1\n" * 50)
    (tmp_path / "in" / "a.csv.gz").write_bytes(whole[:30])
    (failure,) = run(plans.copy_plan(), tmp_path, session=session).failures
    assert failure.message.endswith(f"cannot read {tmp_path}/in/a.csv.gz")
    assert "end of input" in (failure.cause or "")


def test_parquet_of_another_type_fails(session: SparkSession, tmp_path: Path) -> None:
    session.createDataFrame([("x", "1")], "k string, v string").write.parquet(str(tmp_path / "in"))
    columns = (m.Column("k", "STRING"), m.Column("v", "INT"))
    scan = m.Scan("scan", "s", "s", "filesystem", {"path": "in", "format": "parquet"}, columns)
    plan = plans.plan(plans.query((scan,), "scan", (plans.sink("scan", columns, connector="blackhole"),)))
    (failure,) = run(plan, tmp_path, session=session).failures
    assert failure.code.name == "HR406"


def test_null_event_time_fails_and_the_other_query_is_stopped(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("", "x", 1))
    failing = plans.sums_plan().queries[0]
    generator = m.Scan("scan", "gen", "gen", "datagen", {"rows_per_second": 5}, (m.Column("n", "BIGINT"),))
    endless = plans.query(
        (generator,), "scan", (plans.sink("scan", generator.columns, connector="blackhole", uid="b"),),
        uid="q2", trigger_ms=200,
    )  # fmt: skip
    report = run(plans.plan(endless, failing), tmp_path, session=session)
    (failure,) = report.failures
    assert failure.code.name == "HR407"
    assert "source orders has no ts" in failure.message
    stopped, failed = report.queries
    assert stopped.stopped
    assert stopped.failure is None
    assert failed.failure is failure
    assert rows_of(tmp_path / "out") == []


def test_interval_runs_until_it_is_stopped_and_goes_on_later(session: SparkSession, tmp_path: Path) -> None:
    columns = (m.Column("id", "BIGINT"), m.Column("ts", "TIMESTAMP"), m.Column("name", "STRING"))
    options: dict[str, Any] = {"rows_per_second": 100, "seed": 3, "fields.id.kind": "sequence"}
    scan = m.Scan("scan", "gen", "gen", "datagen", options, columns)
    query = plans.query((scan,), "scan", (plans.sink("scan", columns),), trigger_ms=100)
    plan = plans.plan(query)
    for _ in range(2):
        stop, seen = threading.Event(), threading.Event()

        def enough(event: Any, stop: threading.Event = stop, seen: threading.Event = seen) -> None:
            if isinstance(event, EpochCompleted) and event.input_rows:
                stop.set() if seen.is_set() else seen.set()

        report = run(plan, tmp_path, session=session, events=enough, stop=stop)
        assert report.failures == ()
        assert report.stopped
    # Whatever the stops left in flight is finished by a bounded run of the same query.
    bounded = replace(scan, options={**options, "number_of_rows": 1})
    run(plans.plan(replace(query, operators=(bounded,), trigger_ms=None)), tmp_path, session=session)
    ids = [row["id"] for row in rows_of(tmp_path / "out")]
    assert sorted(ids) == list(range(len(ids)))
    # The same seed makes the same rows, whatever the epochs were.
    other = tmp_path / "again"
    other.mkdir()
    whole = replace(scan, options={**options, "number_of_rows": len(ids)})
    run(plans.plan(replace(query, operators=(whole,), trigger_ms=None)), other, session=session)
    assert rows_of(other / "out") == rows_of(tmp_path / "out")


def test_environment_is_resolved_and_never_kept(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "secret-in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plan = plans.copy_plan(path="${env:HR_TEST_IN}")
    with pytest.raises(DiagnosticError) as missing:
        run(plan, tmp_path, session=session, environment=Environment({}))
    assert codes(missing) == ["HR604"]
    report = run(plan, tmp_path, session=session, environment=Environment({"HR_TEST_IN": "secret-in"}))
    assert (report.failures, report.rows_written) == ((), 1)
    kept = [*(tmp_path / STATE / "plans").rglob("*.json"), *(tmp_path / STATE).glob("*.json")]
    assert kept
    assert all("secret-in" not in file.read_text() for file in kept)
    with pytest.raises(DiagnosticError) as gone:
        run(plan, tmp_path, session=session, environment=Environment({"HR_TEST_IN": "nowhere"}))
    assert codes(gone) == ["HR605"]


def test_a_file_and_a_glob_are_paths_too(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in", "b[1].csv", ("2024-01-01 00:00:02", "y", 2))
    for i, (path, expected) in enumerate(
        [("in/a.csv", [("x",)]), ("in/b[1].csv", [("y",)]), ("in/*.csv", [("x",), ("y",)])]
    ):
        operators = (plans.scan(path),)
        sink = plans.sink("scan", plans.ORDERS, path=f"out{i}", uid=f"o{i}")
        report = run(
            plans.plan(plans.query(operators, "scan", (sink,), uid=f"q{i}")), tmp_path, session=session
        )
        assert report.failures == ()
        assert tuples_of(tmp_path / f"out{i}", "k") == expected


def test_two_sources_of_one_query_and_a_file_that_changed(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a b.csv", ("2024-01-01 00:00:01", "x", 1))
    plans.put(tmp_path / "in2", "a.csv", ("2024-01-01 00:00:02", "y", 2))
    second = replace(plans.scan("in2"), id="scan2", uid="orders2", read_name="orders2")
    union = m.Union("union", "union", ("scan", "scan2"))
    sinks = (plans.sink("union", plans.ORDERS),)
    plan = plans.plan(plans.query((plans.scan(), second, union), "union", sinks))
    assert run(plan, tmp_path, session=session).warnings == ()
    # The order in which sources are listed is no part of the state.
    swapped = replace(union, inputs=("scan2", "scan"))
    other = plans.plan(plans.query((second, plans.scan(), swapped), "union", sinks))
    plans.put(tmp_path / "in", "a b.csv", ("2024-01-01 00:00:01", "x", 1), ("2024-01-01 00:00:01", "lost", 1))
    plans.put(tmp_path / "in2", "b.csv", ("2024-01-01 00:00:03", "z", 3))
    report = run(other, tmp_path, session=session)
    assert report.failures == ()
    (warning,) = report.warnings
    assert warning.code.name == "HR409"
    assert f"{tmp_path}/in/a b.csv" in warning.message
    assert tuples_of(tmp_path / "out", "k", "v") == [("x", 1), ("y", 2), ("z", 3)]
    # The two have not come equally far, and nobody needs what either has read.
    (tmp_path / "in2" / "b.csv").unlink()
    assert run(other, tmp_path, session=session).failures == ()

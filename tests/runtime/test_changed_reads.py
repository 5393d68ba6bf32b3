"""Plans that list the sources of a running query in another order, add one, or leave one out.

Spark (4.2.0) knows offsets by their place in the plan. Its second format of the log has names, but in the
first run of a query no number of state partitions, and then it cannot go on from an epoch in flight.
"""

from __future__ import annotations

from pathlib import Path

import plans
import pytest
from files import tuples_of
from msgspec.structs import replace
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.state.checkpoint import Checkpoint
from runtime.state.reads import read_names

_CHECKPOINT = Path(".headrace/state/queries/q1/checkpoint")


def plan_of(*folders: str, keeps: str = "v > 0") -> m.JobPlan:
    """The rows of CSV files in folders, united in that order."""
    scans = tuple(
        replace(plans.scan(folder), id=f"scan{place}", uid=f"of_{folder}", read_name=f"of_{folder}")
        for place, folder in enumerate(folders)
    )
    union = m.Union("union", "union", tuple(scan.id for scan in scans))
    kept = m.Filter("kept", "m.filter", ("union",), keeps)
    return plans.plan(plans.query((*scans, union, kept), "kept", (plans.sink("kept", plans.ORDERS),)))


class Rows:
    """Rows that come into folders, one file and value each."""

    def __init__(self, folder: Path, session: SparkSession) -> None:
        self._folder = folder
        self._session = session
        self.put_so_far: list[int] = []
        self.checkpoint = Checkpoint(folder / _CHECKPOINT)

    def put(self, *folders: str) -> None:
        for folder in folders:
            value = len(self.put_so_far) + 1
            plans.put(self._folder / folder, f"{value}.csv", ("2024-01-01 00:00:01", folder, value))
            self.put_so_far.append(value)

    def run(self, plan: m.JobPlan) -> RunReport:
        return run(plan, self._folder, session=self._session)

    def check(self, plan: m.JobPlan) -> None:
        """All rows so far come out once."""
        assert self.run(plan).failures == ()
        assert self.found() == self.put_so_far

    def found(self) -> list[int]:
        return sorted(value for (value,) in tuples_of(self._folder / "out", "v"))


@pytest.fixture
def rows(session: SparkSession, tmp_path: Path) -> Rows:
    return Rows(tmp_path, session)


def test_each_source_goes_on_where_it_was(rows: Rows) -> None:
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    rows.put("b")
    rows.check(plan_of("a", "b"))
    rows.put("b", "b", "a")
    rows.check(plan_of("b", "a"))
    # Also of an order that no epoch has been written in.
    rows.check(plan_of("a", "b"))
    rows.put("c", "a")
    rows.check(plan_of("c", "a", "b"))
    rows.put("b", "c")
    rows.check(plan_of("c", "a", "b"))
    # What comes in while nobody reads it is read when its source is back.
    rows.put("b", "a")
    assert rows.run(plan_of("a", "c")).failures == ()
    assert rows.found() == [value for value in rows.put_so_far if value != rows.put_so_far[-2]]
    rows.put("c")
    assert rows.run(plan_of("c", "a")).failures == ()
    rows.check(plan_of("b", "a", "c"))


def test_a_source_comes_back_after_files_that_it_has_read_are_gone(rows: Rows, tmp_path: Path) -> None:
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    rows.check(plan_of("a"))
    (tmp_path / "b" / "2.csv").unlink()
    rows.put("b", "a")
    rows.check(plan_of("b", "a"))


def test_a_plan_that_cannot_be_read_any_more(rows: Rows, tmp_path: Path) -> None:
    """The names of its reads stand beside it; a state root that has none of them is refused."""
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    rows.put("b")
    rows.check(plan_of("a", "b"))
    (tmp_path / ".headrace/state/plans").rename(tmp_path / "plans")
    rows.put("a")
    current = tmp_path / _CHECKPOINT.parent / "current.json"
    known = current.read_text()
    current.write_text(known.replace('"reads"', '"unknown"'))
    with pytest.raises(DiagnosticError):
        rows.run(plan_of("b", "a"))
    current.write_text(known)
    rows.check(plan_of("b", "a"))


def test_a_source_that_fails_may_be_left_out_until_it_is_mended(rows: Rows) -> None:
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    rows.put("a", "b", "c")
    assert rows.run(plan_of("a", "b", keeps="assert_true(v < 3) IS NULL")).failures
    assert rows.checkpoint.in_flight
    assert rows.run(plan_of("c", "b")).failures == ()
    assert rows.found() == [1, 2, 4, 5]
    rows.put("c", "a")
    rows.check(plan_of("a", "b", "c"))


def test_a_run_that_was_killed_between_two_orders(rows: Rows) -> None:
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    rows.put("b")
    rows.check(plan_of("a", "b"))
    rows.put("a", "b", "b")
    old, new = plan_of("a", "b"), plan_of("b", "a")
    rows.checkpoint.arrange(read_names(old.queries[0]), read_names(new.queries[0]))
    rows.check(old)
    rows.put("b")
    rows.checkpoint.arrange(read_names(old.queries[0]), read_names(new.queries[0]))
    rows.check(new)


def test_an_epoch_in_flight_is_finished_in_the_order_in_which_it_was_begun(rows: Rows) -> None:
    """Or, if no sink has seen it, run in the new one."""
    rows.put("a", "b")
    rows.check(plan_of("a", "b"))
    for folder in ("b", "b", "a"):
        rows.put(folder)
        assert rows.run(plan_of("a", "b", keeps="assert_true(v < 0) IS NULL")).failures
        assert rows.checkpoint.in_flight
        rows.check(plan_of("b", "a"))
        rows.check(plan_of("a", "b"))
    (rows.checkpoint.path / "commits" / str(rows.checkpoint.last_committed)).unlink()
    rows.put("a", "c", "b")
    rows.check(plan_of("c", "b", "a"))

"""Folders of files and the state that counts their epochs: either may go, or come later than the other."""

from __future__ import annotations

import shutil
from pathlib import Path

import plans
import pytest
from common import kv, refused
from files import tuples_of
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer
from runtime.jobs.runner import run

KV = (m.Column("k", "STRING"), m.Column("v", "INT"))


def copying(*sinks: m.Sink) -> m.JobPlan:
    return plans.plan(plans.query((plans.scan(),), "scan", sinks))


def test_a_folder_that_is_gone_is_not_begun_anew(session: SparkSession, tmp_path: Path) -> None:
    """Spark's readers want all entries of its log: without the first ones they fail."""
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    plan = plans.copy_plan()
    assert run(plan, tmp_path, session=session).failures == ()
    shutil.copytree(tmp_path / "out", tmp_path / "older")
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    assert run(plan, tmp_path, session=session).failures == ()
    (tmp_path / "out").rename(tmp_path / "moved")
    for path in ("out", "elsewhere", "older"):
        with pytest.raises(DiagnosticError) as error:
            run(copying(plans.sink("scan", plans.ORDERS, path=path)), tmp_path, session=session)
        found = refused(error)
        assert (found.code.name, f"{tmp_path}/{path}" in found.message) == ("HR422", True)
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "moved").rename(tmp_path / "out")
    assert run(plan, tmp_path, session=session).failures == ()
    shutil.rmtree(tmp_path / "out")
    assert run(plan, tmp_path, session=session, full_refresh=True).rows_written == 2


def test_a_sink_that_comes_later_begins_with_an_empty_folder(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    first = plans.sink("scan", plans.ORDERS)
    assert run(copying(first), tmp_path, session=session).failures == ()
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    both = copying(first, plans.sink("scan", plans.ORDERS, path="later", uid="later"))
    assert run(both, tmp_path, session=session).rows_written == 2
    assert run(both, tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "later", "k", "v") == [("y", 2)]
    assert session.read.schema("k string").json(str(tmp_path / "later")).count() == 1
    shutil.rmtree(tmp_path / "later")
    with pytest.raises(DiagnosticError) as error:
        run(both, tmp_path, session=session)
    assert refused(error).code.name == "HR422"


@pytest.mark.parametrize("done", [1, 4, 5])
def test_the_log_of_a_sink_that_comes_later(session: SparkSession, tmp_path: Path, done: int) -> None:
    """Every third entry is compact here, and needs those before it."""

    def writer(done: int) -> Writer:
        sink = m.Sink("out", "x", "filesystem", {"path": "out", "format": "json"}, KV, "exactly_once")
        made = SINKS["filesystem"](sink, SinkContext(session, "shop", tmp_path, print, done))
        made.prepare("one", done)
        return made

    session.conf.set("spark.sql.streaming.fileSink.log.compactInterval", "3")
    try:
        writer(done)
        # As if a kill had come before the last one that is passed over was noted.
        log = tmp_path / "out" / "_spark_metadata"
        for name in (f"{done}", f".{done}.crc"):
            (log / name).unlink(missing_ok=True)
        for epoch in range(done + 1, done + 4):
            made = writer(epoch - 1)
            assert not made.has(epoch)
            assert made.write(epoch, kv(session, ("a", epoch)))
        read = session.read.schema("k string, v int").json(str(tmp_path / "out"))
        assert sorted(row.v for row in read.collect()) == [done + 1, done + 2, done + 3]
    finally:
        session.conf.unset("spark.sql.streaming.fileSink.log.compactInterval")

"""Delta beyond single epochs: as a source, and tables of another shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import plans
import pytest
from files import tuples_of
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer
from runtime.connectors.sinks.delta_append import Append
from runtime.jobs.runner import run

KV = (m.Column("k", "STRING"), m.Column("v", "INT"))


def source(**more: Any) -> m.Scan:
    return m.Scan("scan", "orders", "orders", "delta", {"path": "table", **more}, KV)


def copy_plan(**more: Any) -> m.JobPlan:
    return plans.plan(plans.query((source(**more),), "scan", (plans.sink("scan", KV),)))


def append(session: SparkSession, folder: Path, *rows: tuple[Any, ...], ddl: str = "k string, v int") -> None:
    made = session.createDataFrame(list(rows), ddl).coalesce(1)
    made.write.format("delta").mode("append").save(str(folder / "table"))


def test_table_is_read_and_followed(session: SparkSession, tmp_path: Path) -> None:
    append(session, tmp_path, ("a", 1))
    append(session, tmp_path, ("b", 2))
    plan = copy_plan(max_files_per_epoch=1)
    report = run(plan, tmp_path, session=session)
    assert report.failures == ()
    assert report.queries[0].epochs == 2
    append(session, tmp_path, ("c", 3))
    assert run(plan, tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("a", 1), ("b", 2), ("c", 3)]
    session.sql(f"DELETE FROM delta.`{tmp_path}/table` WHERE k = 'a'")
    failed = run(plan, tmp_path, session=session)
    assert [failure.code.name for failure in failed.failures] == ["HR410"]
    append(session, tmp_path, ("d", 4))
    assert run(copy_plan(on_change="skip"), tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "v") == [("a", 1), ("b", 2), ("c", 3), ("d", 4)]


def test_table_of_other_columns_and_none(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as missing:
        run(copy_plan(), tmp_path, session=session)
    assert missing.value.diagnostics[0].code.name == "HR605"
    append(session, tmp_path, ("a", 1), ddl="k string, v bigint")
    failed = run(copy_plan(), tmp_path, session=session)
    assert [failure.code.name for failure in failed.failures] == ["HR417"]
    assert failed.failures[0].cause == "it is bigint"


def writer(session: SparkSession, folder: Path, columns: tuple[m.Column, ...], **more: Any) -> Writer:
    key = more.pop("primary_key", ())
    sink = m.Sink("out", "x", "delta", {"path": "table", **more}, columns, "exactly_once", key)
    made = SINKS["delta"](sink, SinkContext(session, "shop", folder, print))
    made.prepare("one", 1)
    return made


@pytest.mark.parametrize("key", [(), ("k",)], ids=["append", "merge"])
def test_columns_are_added_on_request_only(
    session: SparkSession, tmp_path: Path, key: tuple[str, ...]
) -> None:
    writer(session, tmp_path, KV, primary_key=key).write(
        0, session.createDataFrame([("a", 1)], "k string, v int")
    )
    wider = (*KV, m.Column("w", "DATE"))
    rows = session.sql("SELECT 'b' k, 2 v, DATE'2024-01-01' w")
    with pytest.raises(DiagnosticError) as error:
        writer(session, tmp_path, wider, primary_key=key).write(1, rows)
    assert error.value.diagnostics[0].code.name == "HR417"
    assert "add_columns" in str(error.value.diagnostics[0].fix)
    assert writer(session, tmp_path, wider, primary_key=key, schema_evolution="add_columns").write(1, rows)
    read = session.read.format("delta").load(str(tmp_path / "table"))
    assert sorted((row.k, row.v, str(row.w)) for row in read.collect()) == [
        ("a", 1, "None"),
        ("b", 2, "2024-01-01"),
    ]
    narrow = (KV[0], m.Column("v", "STRING"))
    with pytest.raises(DiagnosticError) as other:
        writer(session, tmp_path, narrow, primary_key=key, schema_evolution="add_columns").write(
            2, rows.selectExpr("k", "'x' v")
        )
    assert "int in column v, not string" in other.value.diagnostics[0].message


def test_a_table_whose_creation_was_cut_off(session: SparkSession, tmp_path: Path) -> None:
    """A kill leaves the log's folder, and perhaps the first version under the name that it is written by."""
    log = tmp_path / "table" / "_delta_log"
    log.mkdir(parents=True)
    writer(session, tmp_path, KV).check_empty()
    (log / ".00000000000000000000.json.5f0a.tmp").write_text("{")
    out = writer(session, tmp_path, KV)
    out.check_empty()
    out.empty()
    assert out.write(0, session.createDataFrame([("a", 1)], "k string, v int"))
    assert out.rows_written == 1
    out.empty()
    log.mkdir(parents=True)
    (log / "notes").write_text("theirs")
    with pytest.raises(DiagnosticError) as refused:
        writer(session, tmp_path, KV)
    assert refused.value.diagnostics[0].code.name == "HR404"


def test_an_append_is_one_job_and_rivals_write_an_epoch_once(session: SparkSession, tmp_path: Path) -> None:
    rows = session.createDataFrame([("a", 1)], "k string, v int")
    ours, rival = writer(session, tmp_path, KV), writer(session, tmp_path, KV)
    assert ours.write(0, rows)
    # Given to Delta's own writer, the epoch's number would cost three more jobs, and the more of CPU.
    session.sparkContext.setJobGroup("append", "an epoch")
    assert ours.write(1, rows)
    session.sparkContext.setJobGroup("later", "other epochs")
    assert len(session.sparkContext.statusTracker().getJobIdsForGroup("append")) == 1
    assert ours.rows_written == 2
    # A run that was taken for dead and has got further.
    assert not rival.write(1, rows)
    assert rival.write(2, rows)
    late = Append(session, tmp_path / "table", "headrace/shop/out/one")
    assert ours.write(3, rows)
    with pytest.raises(Exception, match="ConcurrentTransactionException"):
        late.commit(3, rows, adds_columns=False)
    assert session.read.format("delta").load(str(tmp_path / "table")).count() == 4

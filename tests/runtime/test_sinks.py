"""Sinks: epochs written once, foreign outputs left alone."""

from __future__ import annotations

import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plans
import pytest
from files import rows_of, tuples_of
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import Column, Sink
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer, columns_of, placed_by
from runtime.jobs.runner import run

KV = (Column("k", "STRING"), Column("v", "INT"))


def writer(session: SparkSession, folder: Path, connector: str, **options: object) -> Writer:
    key = options.pop("primary_key", ())
    parts = options.pop("partition_by", ())
    sink = Sink("out", "x", connector, {"path": "out", **options}, KV, "exactly_once", key, parts)  # type: ignore[arg-type, dict-item]  # options by name
    return SINKS[connector](sink, SinkContext(session, "shop", folder, print))


def code(error: pytest.ExceptionInfo[DiagnosticError]) -> str:
    return error.value.diagnostics[0].code.name


@pytest.mark.parametrize(
    ("connector", "options"),
    [("filesystem", {"format": name}) for name in ("parquet", "json", "csv", "orc")] + [("delta", {})],
)
def test_epoch_is_written_once(
    session: SparkSession, tmp_path: Path, connector: str, options: dict[str, object]
) -> None:
    batch = session.createDataFrame([("a", 1), ("b", 2)], "k string, v int")
    first = writer(session, tmp_path, connector, partition_by=("k",), **options)
    first.prepare("one", -1)
    assert first.write(0, batch)
    assert first.rows_written == 2
    again = writer(session, tmp_path, connector, partition_by=("k",), **options)
    again.prepare("one", 0)
    assert not again.write(0, batch)
    assert again.rows_written == 0
    assert again.write(1, batch)
    name = str(options.get("format", connector))
    schema = "v int" if name == "csv" else "k string, v int"
    reader = session.read if name == "delta" else session.read.schema(schema)
    read = reader.format(name).load(str(tmp_path / "out"))
    assert sorted(row["v"] for row in read.collect()) == [1, 1, 2, 2]
    with pytest.raises(DiagnosticError) as refused:
        writer(session, tmp_path, connector, **options).prepare("two", -1)
    assert code(refused) == "HR405"
    with pytest.raises(DiagnosticError) as rolled_back:
        writer(session, tmp_path, connector, **options).prepare("one", 0)
    assert code(rolled_back) == "HR405"
    emptied = writer(session, tmp_path, connector, partition_by=("k",), **options)
    emptied.check_empty()
    emptied.empty()
    emptied.prepare("two", -1)
    assert emptied.write(0, batch)


@pytest.mark.parametrize(("connector", "options"), [("filesystem", {"format": "json"}), ("delta", {})])
def test_foreign_folder_is_refused(
    session: SparkSession, tmp_path: Path, connector: str, options: dict[str, object]
) -> None:
    theirs = tmp_path / "out" / "part-00000-0b5b98d9-ff2c-432f-96f8-63f0a377e84f-c000.json"
    theirs.parent.mkdir()
    theirs.write_text("{}\n")
    ours = writer(session, tmp_path, connector, **options)
    steps: tuple[Callable[[], None], ...] = (lambda: ours.prepare("one", -1), ours.check_empty)
    for step in steps:
        with pytest.raises(DiagnosticError) as refused:
            step()
        assert code(refused) == "HR404"
    assert [entry.name for entry in theirs.parent.iterdir()] == [theirs.name]


def test_folder_of_another_sink_is_refused(session: SparkSession, tmp_path: Path) -> None:
    writer(session, tmp_path, "filesystem", format="json").prepare("one", -1)
    sink = Sink("other", "x", "filesystem", {"path": "out", "format": "json"}, KV, "exactly_once")
    with pytest.raises(DiagnosticError) as refused:
        SINKS["filesystem"](sink, SinkContext(session, "shop", tmp_path, print)).prepare("one", -1)
    assert code(refused) == "HR404"


def test_only_part_files_of_no_epoch_are_deleted(session: SparkSession, tmp_path: Path) -> None:
    batch = session.createDataFrame([("a", 1)], "k string, v int")
    first = writer(session, tmp_path, "filesystem", format="json")
    first.prepare("one", -1)
    first.write(0, batch)
    orphan = tmp_path / "out" / "part-00007-0b5b98d9-ff2c-432f-96f8-63f0a377e84f-c000.json"
    orphan.write_text('{"k":"lost","v":0}\n')
    note = tmp_path / "out" / "part-of-the-docs.txt"
    note.write_text("kept")
    writer(session, tmp_path, "filesystem", format="json").prepare("one", 0)
    assert not orphan.exists()
    assert note.exists()
    assert len(rows_of_json(tmp_path / "out")) == 1
    writer(session, tmp_path, "filesystem", format="json").empty()
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == [note.name]


def test_few_files_and_old_ones_leave(session: SparkSession, tmp_path: Path) -> None:
    rows = session.createDataFrame([(f"k{n % 2}", n) for n in range(8)], "k string, v int").repartition(4)
    session.conf.set("spark.sql.streaming.fileSink.log.compactInterval", "2")
    try:
        kept = writer(session, tmp_path, "filesystem", format="json", files_per_epoch=1, partition_by=("k",))
        kept.prepare("one", -1)
        for epoch in range(4):
            assert kept.write(epoch, rows)
        assert len(list((tmp_path / "out").rglob("part-*.json"))) == 4 * 2
        # Epoch 4 does not compact; epoch 5 does, and leaves out what is older than a millisecond.
        for epoch in (4, 5):
            short = writer(session, tmp_path, "filesystem", format="json", retention=1, partition_by=("k",))
            short.prepare("one", epoch)
            assert short.write(epoch, rows)
    finally:
        session.conf.unset("spark.sql.streaming.fileSink.log.compactInterval")
    assert session.read.schema("v int, k string").json(str(tmp_path / "out")).count() < 8 * 2
    writer(session, tmp_path, "filesystem", format="json").prepare("one", 5)
    left = list((tmp_path / "out").rglob("part-*.json"))
    assert sum(len(file.read_text().splitlines()) for file in left) < 8 * 2


def rows_of_json(folder: Path) -> list[str]:
    return [line for file in folder.glob("part-*.json") for line in file.read_text().splitlines()]


def test_upsert_keeps_the_newest_epoch(session: SparkSession, tmp_path: Path) -> None:
    upsert = writer(session, tmp_path, "delta", primary_key=("k",))
    upsert.prepare("one", -1)
    upsert.write(0, session.createDataFrame([("a", 1), ("b", 1), (None, 1)], "k string, v int"))
    upsert.write(1, session.createDataFrame([("b", 2), (None, 2)], "k string, v int"))
    assert upsert.rows_written == 5
    # Delta skips a transaction that it has, and so does the writer: older rows do not come back.
    again = writer(session, tmp_path, "delta", primary_key=("k",))
    again.prepare("one", 1)
    assert not again.write(0, session.createDataFrame([("b", 1)], "k string, v int"))
    read = {(row.k, row.v) for row in session.read.format("delta").load(str(tmp_path / "out")).collect()}
    assert read == {("a", 1), ("b", 2), (None, 2)}
    # A fresh state may replay into an upsert sink.
    writer(session, tmp_path, "delta", primary_key=("k",)).prepare("two", -1)


def test_two_rows_of_one_key_in_an_epoch_are_refused(session: SparkSession, tmp_path: Path) -> None:
    upsert = writer(session, tmp_path, "delta", primary_key=("k",))
    upsert.prepare("one", -1)
    with pytest.raises(DiagnosticError) as refused:
        upsert.write(0, session.createDataFrame([("a", 1), ("a", 2)], "k string, v int"))
    assert code(refused) == "HR408"
    assert "k = a" in refused.value.diagnostics[0].message


def test_table_that_someone_else_made_is_appended_to_but_not_emptied(
    session: SparkSession, tmp_path: Path
) -> None:
    batch = session.createDataFrame([("a", 1)], "k string, v int")
    batch.write.format("delta").save(str(tmp_path / "out"))
    ours = writer(session, tmp_path, "delta")
    ours.prepare("one", -1)
    ours.write(0, batch)
    assert session.read.format("delta").load(str(tmp_path / "out")).count() == 2
    with pytest.raises(DiagnosticError) as refused:
        ours.check_empty()
    assert code(refused) == "HR404"


def test_fresh_state_over_old_output_is_refused_until_refreshed(
    session: SparkSession, tmp_path: Path
) -> None:
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    sinks = (
        plans.sink("scan", plans.ORDERS, path="files", uid="files"),
        plans.sink("scan", plans.ORDERS, path="table", uid="table", connector="delta"),
    )
    plan = plans.plan(plans.query((plans.scan(),), "scan", sinks))
    report = run(plan, tmp_path, session=session)
    assert [sink.rows_written for sink in report.queries[0].sinks] == [1, 1]
    shutil.rmtree(tmp_path / ".headrace")
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "y", 2))
    with pytest.raises(DiagnosticError) as refused:
        run(plan, tmp_path, session=session)
    assert [finding.code.name for finding in refused.value.diagnostics] == ["HR405", "HR405"]
    refreshed = run(plan, tmp_path, session=session, full_refresh=True)
    assert [sink.rows_written for sink in refreshed.queries[0].sinks] == [2, 2]
    assert tuples_of(tmp_path / "files", "k", "v") == [("x", 1), ("y", 2)]
    table = session.read.format("delta").load(str(tmp_path / "table"))
    assert sorted((row.k, row.v) for row in table.collect()) == [("x", 1), ("y", 2)]
    assert table.schema["ts"].metadata == {}
    again = run(plan, tmp_path, session=session)
    assert again.rows_written == 0


def test_console_prints_a_table_an_epoch(session: SparkSession, tmp_path: Path) -> None:
    said: list[str] = []
    sink = Sink("out", "x", "console", {}, KV, "at_least_once")
    console = SINKS["console"](sink, SinkContext(session, "shop", tmp_path, said.append))
    console.write(0, session.createDataFrame([("a", 1), (None, 20)], "k string, v int").coalesce(1))
    console.write(1, session.createDataFrame([], "k string, v int"))
    assert "\n".join(said) == (
        "-- out, epoch 0\n+----+--+\n|   k| v|\n+----+--+\n|   a| 1|\n|NULL|20|\n+----+--+"
    )
    assert console.rows_written == 2
    assert rows_of(tmp_path) == []


def test_no_room(session: SparkSession, tmp_path: Path) -> None:
    """A limit of the JVM's files stands for a disk that is full: some of an epoch's files are cut off."""
    jvm: Any = session._jvm
    process = int(jvm.java.lang.ProcessHandle.current().pid())
    numbers = random.Random(7)
    rows = [("2024-01-01 00:00:00", f"{numbers.getrandbits(64):x}", n) for n in range(30_000)]
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:00", "first", -1))
    assert run(plans.copy_plan(), tmp_path, session=session).failures == ()
    plans.put(tmp_path / "in", "b.csv", *rows)
    _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    soft = resource.prlimit(process, resource.RLIMIT_FSIZE, (300_000, hard))[0]
    try:
        failed = run(plans.copy_plan(), tmp_path, session=session)
    finally:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (soft, hard))
    assert [failure.code.name for failure in failed.failures] == ["HR606"]
    # Neither the manifest's readers nor those who take all files see any of it.
    assert len(rows_of(tmp_path / "out")) == 1
    assert session.read.json(str(tmp_path / "out")).count() == 1
    assert run(plans.copy_plan(), tmp_path, session=session).failures == ()
    assert sorted(row["v"] for row in rows_of(tmp_path / "out")) == [-1, *range(30_000)]


def test_rows_are_placed_by_what_a_replay_gives_alike(session: SparkSession) -> None:
    """Each task notes by itself that its part is there: a row that comes into another is lost or doubled."""
    ddl = "k STRING, total DOUBLE, list ARRAY<INT>, s STRUCT<a: INT>, d STRUCT<a: DOUBLE>"
    columns = tuple(Column(field.name, field.dataType.simpleString()) for field in _struct(ddl).fields)

    def by(*columns: Column, key: tuple[str, ...] = (), fields: str = "") -> list[str]:
        options: dict[str, Any] = {"key.fields": fields} if fields else {}
        sink = Sink("out", "x", "kafka", options, columns, "exactly_once", primary_key=key)
        found = [str(column) for column in placed_by(sink)]
        return [text.removeprefix("Column<'").removesuffix("'>") for text in found]

    assert by(*columns) == ["k", "s"]
    assert by(*columns, key=("s",)) == ["s"]
    assert by(*columns, key=("K", "total")) == ["k"]
    assert by(*columns, fields="s;list") == ["s"]
    for nothing in (by(*columns[1:3]), by(*columns, key=("total",))):
        assert "pmod" in nothing[0]
    sink = Sink("out", "x", "kafka", {}, (Column("list", "ARRAY<INT>"),), "exactly_once")
    rows = session.range(20).selectExpr("array(id) AS list").repartition(4, *placed_by(sink))
    sizes = [len(part) for part in rows.rdd.glom().collect()]
    assert (len(sizes), max(sizes)) == (4, 20)


def _struct(ddl: str) -> StructType:
    found = StructType.fromDDL(ddl)
    assert isinstance(found, StructType)
    return found


def test_only_what_does_not_fit_is_cast(session: SparkSession) -> None:
    sink = Sink("out", "x", "blackhole", {}, KV, "exactly_once")
    fits = session.createDataFrame([("a", 1)], "k string, v int")
    assert columns_of(sink, fits) is fits
    marked = fits.withColumn("k", F.col("k").alias("k", metadata={"spark.watermarkDelayMs": 1}))
    others = (marked, fits.select("v", "k"), fits.withColumn("v", F.lit(1).cast("long")), fits.toDF("K", "v"))
    for batch in (*others, fits.withColumn("more", F.lit(1))):
        rows = columns_of(sink, batch)
        assert rows.dtypes == fits.dtypes
        assert not any(field.metadata for field in rows.schema.fields)
        assert [tuple(row) for row in rows.collect()] == [("a", 1)]


def test_folders_by_a_column_in_other_letters(session: SparkSession, tmp_path: Path) -> None:
    batch = session.createDataFrame([("a", 1), ("b", 2)], "k string, v int")
    made = writer(session, tmp_path, "filesystem", format="json", partition_by=("K",))
    made.prepare("one", -1)
    assert made.write(0, batch)
    assert sorted(entry.name for entry in (tmp_path / "out").glob("k=*")) == ["k=a", "k=b"]

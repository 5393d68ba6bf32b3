"""The PostgreSQL sink against a real server: epochs once, tables that do not fit, servers away."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plans
import pytest
from common import kv, refused
from jdbc_sinks import writer
from msgspec.structs import replace
from postgres_database import Database
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from test_crash import checkpoint, killed, three_files

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from compiler.jobplan.operators.base import OP_COLUMN, SEQUENCE_COLUMN
from runtime.connectors import retries
from runtime.jobs.runner import run

KV = (m.Column("k", "STRING"), m.Column("v", "INT"))
ALL = [("x", 1), ("x", 4), ("y", 2), ("y", 8)]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE_SECONDS", 0.1)


def kv_sink(database: Database, columns: tuple[m.Column, ...] = KV, **more: Any) -> m.Sink:
    fields = {name: more.pop(name) for name in list(more) if name in m.Sink.__struct_fields__}
    options = {**database.options, "table": "kv", "create_table": True, "sink.parallelism": 3, **more}
    return m.Sink("out", "x", "jdbc", options, columns, fields.pop("delivery", "exactly_once"), **fields)


@pytest.mark.parametrize("atomic", [False, True], ids=["by task", "atomic"])
def test_epoch_is_written_once(session: SparkSession, postgres: Database, atomic: bool) -> None:
    sink = kv_sink(postgres, atomic_epochs=atomic)
    first = writer(session, sink)
    assert first.write(0, kv(session, ("a", 1), ("b", 2), ("b", 2), (None, None)))
    assert first.rows_written == 4
    again = writer(session, sink, last_epoch=0)
    assert again.has(0)
    assert not again.write(0, kv(session, ("a", 1)))
    assert again.write(1, kv(session, ("c", 3)))
    assert again.write(2, kv(session))
    read = "SELECT k, v FROM kv ORDER BY v NULLS LAST"
    assert postgres.rows(read) == [("a", 1), ("b", 2), ("b", 2), ("c", 3), (None, None)]
    assert postgres.rows("SELECT DISTINCT epoch FROM headrace_ledger WHERE incarnation = 'one'") == [(2,)]
    for incarnation, last in (("two", -1), ("one", 1)):
        with pytest.raises(DiagnosticError) as error:
            writer(session, sink, incarnation, last)
        assert refused(error).code.name == "HR405"
    again.check_empty()
    again.empty()
    assert writer(session, sink, "two").write(0, kv(session, ("d", 4)))
    assert postgres.rows(read) == [("d", 4)]


def test_part_of_an_epoch_is_completed_with_its_own_split(session: SparkSession, postgres: Database) -> None:
    rows = kv(session, *((f"k{n}", n) for n in range(20)))
    sink = kv_sink(postgres, (*KV, m.Column("total", "DOUBLE"), m.Column("list", "ARRAY<INT>")))
    # Sums and lists are not to the bit what they were: their rows came in another order.
    first, replayed = (
        rows.withColumn("total", F.lit(total)).withColumn("list", F.array(*map(F.lit, numbers)))
        for total, numbers in ((0.3, (1, 2)), (0.1 + 0.2, (2, 1)))
    )
    writer(session, sink)
    postgres.execute("ALTER TABLE kv ADD CONSTRAINT small CHECK (v <> 7)")
    stopped = writer(session, sink, last_epoch=0)
    with pytest.raises(DiagnosticError) as error:
        stopped.write(0, first)
    assert refused(error).code.name == "HR418"
    assert "small" in str(refused(error).cause)
    there = len(postgres.rows("SELECT * FROM kv"))
    assert 0 < there < 20
    postgres.execute("ALTER TABLE kv DROP CONSTRAINT small")
    # Another number of tasks is asked for, and the epoch keeps the one that it began with.
    other = replace(sink, options={**sink.options, "sink.parallelism": 2})
    again = writer(session, other, last_epoch=0)
    assert again.has(0)
    assert again.write(0, replayed)
    assert postgres.rows("SELECT k, v FROM kv ORDER BY v") == [(f"k{n}", n) for n in range(20)]
    assert again.rows_written == 20 - there
    assert postgres.rows("SELECT max(tasks) FROM headrace_ledger WHERE incarnation = 'one'") == [(3,)]


def test_atomic_epoch_that_fails_leaves_nothing(session: SparkSession, postgres: Database) -> None:
    sink = kv_sink(postgres, atomic_epochs=True)
    out = writer(session, sink)
    postgres.execute("ALTER TABLE kv ADD CONSTRAINT small CHECK (v <> 7)")
    rows = kv(session, *((f"k{n}", n) for n in range(20)))
    with pytest.raises(DiagnosticError) as error:
        out.write(0, rows)
    assert refused(error).code.name == "HR418"
    assert "small" in str(refused(error).cause)
    assert postgres.rows("SELECT * FROM kv") == []
    postgres.execute("ALTER TABLE kv DROP CONSTRAINT small")
    again = writer(session, sink, last_epoch=0)
    assert not again.has(0)
    assert again.write(0, rows)
    assert len(postgres.rows("SELECT * FROM kv")) == 20


@pytest.mark.parametrize("atomic", [False, True], ids=["by task", "atomic"])
def test_changes_by_key(session: SparkSession, postgres: Database, atomic: bool) -> None:
    sink = kv_sink(postgres, primary_key=("k",), upsert=True, atomic_epochs=atomic)
    out = writer(session, sink)

    def changes(*rows: tuple[str, int, str, int]) -> DataFrame:
        made = session.createDataFrame(list(rows), f"k string, v int, {OP_COLUMN} string, n bigint")
        arrived = F.struct(
            F.lit(0).cast("bigint").alias("at"),
            F.lit("f").alias("place"),
            F.lit(0).cast("bigint").alias("part"),
            F.col("n").alias("row"),
        )
        return made.withColumn(SEQUENCE_COLUMN, arrived).drop("n")

    out.write(0, changes(("a", 1, "+I", 0), ("b", 1, "+I", 1), ("c", 1, "+I", 2)))
    # Of several changes of a key the last one counts, whatever it is.
    out.write(
        1,
        changes(
            ("a", 1, "-D", 0), ("a", 2, "+I", 1), ("b", 3, "+U", 2), ("b", 3, "-D", 3), ("c", 9, "-D", 4),
            ("d", 5, "+I", 5), ("d", 6, "+U", 6), ("e", 1, "-D", 7),
        ),
    )  # fmt: skip
    assert postgres.rows("SELECT k, v FROM kv ORDER BY k") == [("a", 2), ("d", 6)]
    # A fresh state may replay into an upsert sink.
    assert writer(session, sink, "two").write(0, changes(("a", 1, "+I", 0)))
    assert postgres.rows("SELECT k, v FROM kv ORDER BY k") == [("a", 1), ("d", 6)]


def test_rows_of_one_key(session: SparkSession, postgres: Database) -> None:
    ordered = replace(kv_sink(postgres, primary_key=("k",)), order_by=("v",))
    out = writer(session, ordered)
    assert out.write(0, kv(session, ("a", 1), ("a", 3), ("a", 2), ("b", 1)))
    assert out.write(1, kv(session, ("b", 2)))
    assert postgres.rows("SELECT k, v FROM kv ORDER BY k") == [("a", 3), ("b", 2)]
    for atomic in (False, True):
        options = {**ordered.options, "atomic_epochs": atomic}
        unordered = writer(session, replace(ordered, order_by=(), options=options), last_epoch=2)
        with pytest.raises(DiagnosticError) as error:
            unordered.write(2, kv(session, ("a", 7), ("a", 8)))
        assert refused(error).code.name == "HR408"
        assert "2 rows for k = a" in refused(error).message
    assert postgres.rows("SELECT k, v FROM kv ORDER BY k") == [("a", 3), ("b", 2)]


def test_table_of_one_row(session: SparkSession, postgres: Database) -> None:
    sink = kv_sink(postgres, (KV[1],), upsert=True, create_table=True)
    out = writer(session, sink)
    for epoch, value in enumerate((1, 2)):
        batch = session.createDataFrame([(value, "+U")], f"v int, {OP_COLUMN} string")
        assert out.write(epoch, batch)
    assert postgres.rows("SELECT v FROM kv") == [(2,)]


def test_at_least_once_writes_a_part_again(session: SparkSession, postgres: Database) -> None:
    """Rows of a replay that differs may lie in other parts: what is skipped would be lost."""
    sink = kv_sink(postgres, delivery="at_least_once")
    writer(session, sink)
    postgres.execute("ALTER TABLE kv ADD CONSTRAINT small CHECK (v <> 7)")
    with pytest.raises(DiagnosticError):
        writer(session, sink, last_epoch=0).write(0, kv(session, *((f"k{n}", n) for n in range(20))))
    kept = set(postgres.rows("SELECT k, v FROM kv"))
    again = writer(session, sink, last_epoch=0)
    other = [(f"other{n}", n + 100) for n in range(20)]
    assert again.write(0, kv(session, *other))
    assert set(postgres.rows("SELECT k, v FROM kv")) == {*kept, *other}


@pytest.mark.parametrize(
    ("table", "message", "fix"),
    [
        (None, "which does not exist", "CREATE TABLE"),
        ("(k text)", "no column v", 'ADD COLUMN "v" integer'),
        ("(k text, v smallint)", "a column v that cannot hold", 'ALTER COLUMN "v" TYPE integer'),
        ("(k text, v int, w int not null)", "a column w that must have a value", "DROP NOT NULL"),
        ("(k text, v int generated always as (1) stored)", "fills itself", "leave the column out"),
        ('(k text, "V" int)', "no column v", "rename it to V"),
        ("(k text, v int)", "no unique index on", "ADD PRIMARY KEY"),
    ],
)
def test_tables_that_do_not_fit(
    session: SparkSession, postgres: Database, table: str | None, message: str, fix: str
) -> None:
    if table:
        postgres.execute(f"CREATE TABLE kv {table}")
    with pytest.raises(DiagnosticError) as error:
        writer(session, kv_sink(postgres, primary_key=("k",), create_table=False))
    found = refused(error)
    assert found.code.name == "HR417"
    assert message in found.message
    assert fix in str(found.fix)


def test_all_of_sparks_types(session: SparkSession, postgres: Database) -> None:
    rows = session.sql(
        "SELECT true b, 1Y i1, 2S i2, 3 i4, 4L i8, 1.5F f4, 2.5D f8, 12.34BD d, 'ä' t, X'00ff' raw, "
        "DATE'2024-02-29' day, TIMESTAMP'2024-07-01 12:00:00.123456' at, array(1, null) xs, "
        "array('a', null) names, map('k', 1) m, named_struct('x', 1, 'y', null) s, "
        "array(array(1), array()) deep, INTERVAL '1' DAY span"
    )
    empty = rows.where("b").select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in rows.schema.fields))
    columns = tuple(m.Column(f.name, f.dataType.simpleString()) for f in rows.schema.fields)
    sink = kv_sink(postgres, columns)
    assert writer(session, sink).write(0, rows.unionByName(empty))
    (full, nulls) = postgres.rows(
        "SELECT b, i1, i2, i4, i8, f4, f8, d::text, t, raw, day::text, at AT TIME ZONE 'UTC', xs, names, "
        "m, s, deep, span::text FROM kv ORDER BY b NULLS LAST"
    )
    assert full[:11] == (True, 1, 2, 3, 4, 1.5, 2.5, "12.34", "ä", b"\x00\xff", "2024-02-29")
    assert str(full[11]) == "2024-07-01 12:00:00.123456"
    assert full[12:] == (
        [1, None], ["a", None], {"k": 1}, {"x": 1, "y": None}, [[1], []], "24:00:00",
    )  # fmt: skip
    assert nulls == (None,) * len(columns)
    bad, again = rows.withColumn("t", F.lit("a\0b")), writer(session, sink, last_epoch=1)
    with pytest.raises(DiagnosticError) as error:
        again.write(1, bad)
    assert refused(error).code.name == "HR418"
    assert refused(error).cause == "column t: a text has the character U+0000, which PostgreSQL cannot hold"


def test_rows_that_were_there_before_are_not_emptied(session: SparkSession, postgres: Database) -> None:
    postgres.execute("CREATE TABLE kv (k text, v int)", "INSERT INTO kv VALUES ('theirs', 0)")
    out = writer(session, kv_sink(postgres))
    assert out.write(0, kv(session, ("ours", 1)))
    with pytest.raises(DiagnosticError) as error:
        out.check_empty()
    assert refused(error).code.name == "HR404"
    assert len(postgres.rows("SELECT * FROM kv")) == 2


def test_wrong_password_and_no_server(session: SparkSession, postgres: Database) -> None:
    for options, cause, tries in (
        ({"password": "hunter22"}, "password authentication failed", False),
        ({"url": "jdbc:postgresql://127.0.0.1:1/shop"}, "refused", True),
    ):
        with pytest.raises(DiagnosticError) as error:
            writer(session, kv_sink(postgres, KV, max_retries=2, **options))
        found = refused(error)
        assert found.code.name == "HR610"
        assert cause in str(found.cause)
        assert ("tried 3 times" in str(found.fix)) == tries
        assert "hunter22" not in f"{found} {error.value}"
    with pytest.raises(DiagnosticError) as error:
        writer(session, kv_sink(postgres, url="jdbc:postgresql://h/d?wrong=1"))
    assert refused(error).code.name == "HR104"


def orders_sink(database: Database, **more: Any) -> m.Sink:
    options = {**database.options, "table": "orders", "create_table": True, **more}
    return plans.sink("scan", plans.ORDERS, connector="jdbc", options=options)


def copied(database: Database) -> list[tuple[Any, ...]]:
    return database.rows("SELECT k, v FROM orders ORDER BY k, v")


@pytest.fixture
def restarted(postgres: Database) -> Iterator[Database]:
    """A database whose server may be stopped."""
    yield postgres
    postgres.server.start()


def test_server_that_comes_back_and_one_that_does_not(
    session: SparkSession, restarted: Database, tmp_path: Path
) -> None:
    three_files(tmp_path)
    plan = plans.plan(plans.query((plans.scan(),), "scan", (orders_sink(restarted, max_retries=8),)))
    prepared = run(plan, tmp_path, session=session, stop=_set())
    assert prepared.failures == ()
    restarted.server.crash()
    back = threading.Timer(1.0, restarted.server.start)
    back.start()
    assert run(plan, tmp_path, session=session).failures == ()
    back.join()
    assert copied(restarted) == ALL
    plans.put(tmp_path / "in", "d.csv", ("2024-01-01 00:02:00", "z", 16))

    def stop_when_it_runs(_: object) -> None:
        restarted.server.stop()

    hasty = plans.plan(plans.query((plans.scan(),), "scan", (orders_sink(restarted, max_retries=1),)))
    failed = run(hasty, tmp_path, session=session, events=stop_when_it_runs)
    assert [failure.code.name for failure in failed.failures] == ["HR610"]
    restarted.server.start()
    assert run(hasty, tmp_path, session=session).failures == ()
    assert copied(restarted) == [*ALL, ("z", 16)]


def _set() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@pytest.mark.parametrize("fault", ["after:out:1", "task:1"], ids=["before Spark's commit", "amid the tasks"])
def test_killed(session: SparkSession, postgres: Database, tmp_path: Path, fault: str) -> None:
    three_files(tmp_path)
    plan = plans.plan(plans.query((plans.scan(),), "scan", (orders_sink(postgres),)))
    killed(plan, tmp_path, fault)
    assert checkpoint(tmp_path).in_flight
    assert len(copied(postgres)) < len(ALL)
    report = run(plan, tmp_path, session=session)
    assert report.failures == ()
    assert copied(postgres) == ALL
    assert run(plan, tmp_path, session=session).rows_written == 0
    shutil.rmtree(tmp_path / ".headrace")
    with pytest.raises(DiagnosticError) as error:
        run(plan, tmp_path, session=session)
    assert refused(error).code.name == "HR405"
    assert run(plan, tmp_path, session=session, full_refresh=True).failures == ()
    assert copied(postgres) == ALL

"""Tables of PostgreSQL and Delta: what an epoch has read it reads again, whatever came after."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import plans
import pytest
from files import tuples_of
from msgspec.structs import replace
from postgres_database import Database
from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from runtime.connectors.lookups import LOOKUPS
from runtime.jobs.runner import run
from runtime.spark.context import Context

RATES = (m.Column("currency", "STRING"), m.Column("rate", "INT"))
SECRET = "correct horse"


def rates_of(database: Database) -> m.LookupTable:
    return m.LookupTable("rates", "rates", "jdbc", {**database.options, "table": "rates"}, RATES)


def reader(
    session: SparkSession, folder: Path, table: m.LookupTable
) -> Callable[[int], list[tuple[Any, ...]]]:
    def read(epoch: int) -> list[tuple[Any, ...]]:
        context = Context(session, folder, folder, streaming=False, query_folder=folder / "q", epoch=epoch)
        return sorted(tuple(row) for row in LOOKUPS[table.connector].read(table, context).collect())

    return read


def test_epochs_of_a_database_table(session: SparkSession, postgres: Database, tmp_path: Path) -> None:
    postgres.execute(
        "CREATE TABLE rates (currency text, rate int, note text)", "INSERT INTO rates VALUES ('EUR', 114)"
    )
    read = reader(session, tmp_path, rates_of(postgres))
    assert read(0) == [("EUR", 114)]
    postgres.execute("UPDATE rates SET rate = 116", "INSERT INTO rates VALUES ('YEN', 1)")
    assert read(0) == [("EUR", 114)]
    assert read(1) == [("EUR", 116), ("YEN", 1)]
    postgres.execute("DELETE FROM rates")
    assert read(2) == []
    # A replay can ask for the newest epoch and the one before; what none can ask for is gone.
    assert read(1) == [("EUR", 116), ("YEN", 1)]
    assert len(list((tmp_path / "q").rglob("*.parquet"))) == 2
    # An hour old is young enough, so the table is not asked.
    kept = reader(session, tmp_path / "kept", replace(rates_of(postgres), refresh_ms=3_600_000))
    assert kept(0) == []
    postgres.execute("DROP TABLE rates")
    assert kept(1) == []
    with pytest.raises(DiagnosticError) as error:
        read(3)
    assert error.value.diagnostics[0].code.name == "HR417"


def test_epochs_of_a_delta_table(session: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "rates")
    table = m.LookupTable("rates", "rates", "delta", {"path": "rates"}, RATES)
    read = reader(session, tmp_path, table)
    with pytest.raises(DiagnosticError) as error:
        read(0)
    assert error.value.diagnostics[0].code.name == "HR605"
    session.sql("SELECT 'EUR' currency, 114 rate").write.format("delta").save(path)
    assert read(0) == [("EUR", 114)]
    session.sql("SELECT 'EUR' currency, 116 rate").write.format("delta").mode("overwrite").save(path)
    assert read(0) == [("EUR", 114)]
    assert read(1) == [("EUR", 116)]
    other = m.LookupTable(
        "rates", "other", "delta", {"path": "rates"}, (RATES[0], m.Column("rate", "BIGINT"))
    )
    with pytest.raises(DiagnosticError) as error:
        reader(session, tmp_path, other)(0)
    assert error.value.diagnostics[0].code.name == "HR417"


def test_types_of_a_database_table(session: SparkSession, postgres: Database, tmp_path: Path) -> None:
    postgres.execute(
        "CREATE TABLE all_types (a smallint, b bigint, c numeric(10,2), d numeric, e boolean,"
        " f double precision, g date, h timestamptz, i timestamp, j bytea, k uuid, l jsonb, m text[],"
        " n integer[])",
        "INSERT INTO all_types VALUES (1, 2, 3.25, 4.5, true, 0.5, '2024-02-29', '2024-01-01 12:00:00+02',"
        " '2024-01-01 12:00:00', '\\x00ff', '00000000-0000-0000-0000-000000000001', '{\"x\": 1}',"
        " ARRAY['p', NULL], ARRAY[7])",
        "INSERT INTO all_types DEFAULT VALUES",
    )
    kinds = (
        "INT BIGINT DECIMAL(12,2) DECIMAL(38,10) BOOLEAN DOUBLE DATE TIMESTAMP TIMESTAMP BINARY STRING "
        "STRING ARRAY<STRING> ARRAY<BIGINT>"
    ).split()
    columns = tuple(m.Column(name, kind) for name, kind in zip("abcdefghijklmn", kinds, strict=True))
    options = {**postgres.options, "table": "all_types"}
    table = m.LookupTable("t", "t", "jdbc", options, columns)
    context = Context(session, tmp_path, tmp_path, streaming=False, query_folder=tmp_path / "q", epoch=0)
    # As text: a clock of the session's zone shows them, which is that of the project.
    frame = LOOKUPS["jdbc"].read(table, context).orderBy("a")
    shown = frame.selectExpr("* EXCEPT (h, i)", "CAST(h AS STRING) h", "CAST(i AS STRING) i").collect()
    assert list(shown[0]) == [None] * 14
    assert list(shown[1]) == [
        1, 2, Decimal("3.25"), Decimal("4.5000000000"), True, 0.5, dt.date(2024, 2, 29), b"\x00\xff",
        "00000000-0000-0000-0000-000000000001", '{"x": 1}', ["p", None], [7],
        "2024-01-01 10:00:00", "2024-01-01 12:00:00",
    ]  # fmt: skip
    for column in (m.Column("b", "INT"), m.Column("c", "DECIMAL(12,1)"), m.Column("z", "INT")):
        with pytest.raises(DiagnosticError) as error:
            LOOKUPS["jdbc"].read(m.LookupTable("t", f"t{column.name}", "jdbc", options, (column,)), context)
        assert error.value.diagnostics[0].code.name == "HR417"
    # A numeric without digits may hold more than was declared.
    with pytest.raises(DiagnosticError) as error:
        LOOKUPS["jdbc"].read(
            m.LookupTable("t", "td", "jdbc", options, (m.Column("d", "DECIMAL(3,0)"),)), context
        )
    assert error.value.diagnostics[0].code.name == "HR406"
    # Python, and so Spark, has no such moment.
    postgres.execute("CREATE TABLE always (at timestamptz)", "INSERT INTO always VALUES ('infinity')")
    for_ever = m.LookupTable(
        "t", "te", "jdbc", {**postgres.options, "table": "always"}, (m.Column("at", "TIMESTAMP"),)
    )
    with pytest.raises(DiagnosticError) as error:
        LOOKUPS["jdbc"].read(for_ever, context)
    assert error.value.diagnostics[0].code.name == "HR406"
    assert "timestamp too large" in str(error.value.diagnostics[0].cause)


def test_run_with_lookups(session: SparkSession, postgres: Database, tmp_path: Path) -> None:
    postgres.execute(
        "CREATE TABLE rates (currency text, rate int)",
        "INSERT INTO rates VALUES ('a', 10)",
        f"CREATE ROLE {postgres.name} LOGIN PASSWORD '{SECRET}'",
        f"GRANT SELECT ON rates TO {postgres.name}",
    )
    session.sql("SELECT 'a' currency, 7 rate").write.format("delta").save(str(tmp_path / "names"))
    columns = (*plans.ORDERS, m.Column("rate", "INT"), m.Column("other", "INT"))
    options = {**postgres.options, "table": "rates", "username": postgres.name, "max_retries": 1}
    theirs = m.LookupTable("rates", "rates", "jdbc", {**options, "password": SECRET}, RATES)
    names = m.LookupTable("names", "names", "delta", {"path": "names"}, RATES)
    renamed = m.Project(
        "renamed", "renamed", ("names",), (m.Item("currency_1", "currency"), m.Item("other", "rate"))
    )
    joined = m.LookupJoin("join", "join", ("scan", "rates"), "left", "k = currency")
    both = m.LookupJoin("both", "both", ("join", "renamed"), "left", "k = currency_1")
    operators = (plans.scan(), theirs, names, renamed, joined, both)
    plan = plans.plan(plans.query(operators, "scan", (plans.sink("both", columns),)))
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:00", "a", 1), ("2024-01-01 00:00:01", "b", 2))
    assert run(plan, tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "rate", "other") == [("a", 10, 7), ("b", None, None)]
    postgres.execute(f"REVOKE SELECT ON rates FROM {postgres.name}")
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:00:02", "a", 3))
    failed = run(plan, tmp_path, session=session)
    assert [failure.code.name for failure in failed.failures] == ["HR610"]
    assert "permission denied" in str(failed.failures[0].cause)
    postgres.execute("UPDATE rates SET rate = 11", f"GRANT SELECT ON rates TO {postgres.name}")
    assert run(plan, tmp_path, session=session).failures == ()
    assert tuples_of(tmp_path / "out", "k", "rate", "other") == [
        ("a", 10, 7),
        ("a", 11, 7),
        ("b", None, None),
    ]
    postgres.execute(f"DROP OWNED BY {postgres.name}", f"DROP ROLE {postgres.name}")


def test_a_table_is_read_once(session: SparkSession, postgres: Database, tmp_path: Path) -> None:
    columns = (*RATES, m.Column("at", "TIMESTAMP"))
    scan = m.Scan(
        "scan", "rates", "rates", "jdbc", {**postgres.options, "table": "rates", "max_retries": 1}, columns
    )
    sinks = tuple(plans.sink("scan", columns, path=name, uid=name) for name in ("file", "taken"))
    both = plans.plan(plans.query((scan,), "scan", sinks))
    assert [failure.code.name for failure in run(both, tmp_path, session=session).failures] == ["HR417"]
    postgres.execute(
        "CREATE TABLE rates (currency text, rate int, at timestamp)",
        "INSERT INTO rates VALUES ('EUR', 114, '2024-01-01 00:00:00'), ('YEN', NULL, NULL)",
    )
    # The epoch begins, one sink has its rows, the other is in the way; and the table changes meanwhile.
    at_once = threading.Event()
    at_once.set()
    assert run(both, tmp_path, session=session, stop=at_once).failures == ()
    (tmp_path / "taken" / "_spark_metadata").write_text("a file in the way")
    assert run(both, tmp_path, session=session).failures != ()
    assert tuples_of(tmp_path / "file", "currency", "rate") == [("EUR", 114), ("YEN", None)]
    postgres.execute("DELETE FROM rates WHERE currency = 'YEN'", "INSERT INTO rates VALUES ('USD', 1, NULL)")
    (tmp_path / "taken" / "_spark_metadata").unlink()
    for _ in range(2):
        assert run(both, tmp_path, session=session).failures == ()
        for name in ("file", "taken"):
            assert tuples_of(tmp_path / name, "currency", "rate") == [("EUR", 114), ("YEN", None)]
    (kept,) = tmp_path.glob(".headrace/state/queries/*/tables/*/rows-*.parquet")
    whole = kept.read_bytes()
    kept.write_bytes(whole.replace(b"EUR", b"EUS"))
    assert [failure.code.name for failure in run(both, tmp_path, session=session).failures] == ["HR505"]
    kept.write_bytes(whole)
    wider = replace(scan, columns=(*columns, m.Column("note", "STRING")))
    changed = plans.plan(plans.query((wider,), "scan", both.queries[0].sinks))
    assert [failure.code.name for failure in run(changed, tmp_path, session=session).failures] == ["HR417"]
    assert run(both, tmp_path, session=session, full_refresh=True).failures == ()
    assert tuples_of(tmp_path / "file", "currency", "rate") == [("EUR", 114), ("USD", 1)]

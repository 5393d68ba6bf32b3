"""The sink of databases that JDBC reaches, against a server of H2: epochs once, tables that do not fit."""

from __future__ import annotations

import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import plans
import pytest
from common import kv, refused
from h2_server import H2Database, H2Server
from jdbc_sinks import writer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from test_crash import checkpoint, killed, three_files

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan import model as m
from compiler.jobplan.databases import MARIADB, driver_package
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.cli.running import RunOptions, check_before_start
from runtime.connectors import retries
from runtime.connectors.jdbc.connection import (
    Connection,
    Database,
    DatabaseError,
    is_mariadb_by_another,
    shown,
)
from runtime.connectors.jdbc.stage import Stage
from runtime.connectors.packages import driver_jars, packages_of
from runtime.connectors.sinks.database import DatabaseWriter
from runtime.jobs.environment import Environment
from runtime.jobs.runner import run

KV = (m.Column("k", "STRING"), m.Column("v", "INT"))
READ = "SELECT k, v FROM kv ORDER BY k, v"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE_SECONDS", 0.1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[H2Server]:
    made = H2Server(tmp_path_factory.mktemp("h2"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def h2(session: SparkSession, server: H2Server) -> H2Database:
    # Names are folded to lower case, so that what is made with quotes is read without.
    return H2Database(session, server, f"t{uuid.uuid4().hex[:12]};DATABASE_TO_LOWER=TRUE")


def kv_sink(database: H2Database, columns: tuple[m.Column, ...] = KV, **more: Any) -> m.Sink:
    fields = {name: more.pop(name) for name in list(more) if name in m.Sink.__struct_fields__}
    options = {**database.options, "table": "kv", "create_table": True, **more}
    return m.Sink("out", "x", "jdbc", options, columns, fields.pop("delivery", "exactly_once"), **fields)


def test_epoch_is_written_once(session: SparkSession, h2: H2Database) -> None:
    sink = kv_sink(h2)
    first = writer(session, sink)
    assert first.write(0, kv(session, ("a", 1), ("b", 2), ("b", 2), (None, None)))
    assert first.rows_written == 4
    again = writer(session, sink, last_epoch=0)
    assert again.has(0)
    assert not again.write(0, kv(session, ("a", 1)))
    assert again.write(1, kv(session, ("c", 3)))
    assert again.write(2, kv(session))
    # One that has been overtaken finds in the ledger that its epoch is there.
    first.write(1, kv(session, ("zombie", 1)))
    assert first.rows_written == 4
    there = [(None, None), ("a", "1"), ("b", "2"), ("b", "2"), ("c", "3")]
    assert h2.rows(READ) == there
    assert h2.rows("SELECT epoch FROM headrace_ledger WHERE incarnation = 'one'") == [("2",)]
    for incarnation, last in (("two", -1), ("one", 1)):
        with pytest.raises(DiagnosticError) as error:
            writer(session, sink, incarnation, last)
        assert refused(error).code.name == "HR405"
    again.check_empty()
    again.empty()
    assert writer(session, sink, "two").write(0, kv(session, ("d", 4)))
    assert h2.rows(READ) == [("d", "4")]


def test_rows_that_were_there_before_are_not_emptied(session: SparkSession, h2: H2Database) -> None:
    h2.execute("CREATE TABLE kv (k varchar, v int)", "INSERT INTO kv VALUES ('theirs', 0)")
    out = writer(session, kv_sink(h2))
    assert out.write(0, kv(session, ("ours", 1)))
    with pytest.raises(DiagnosticError) as error:
        out.check_empty()
    assert refused(error).code.name == "HR404"


def test_changes_by_key(session: SparkSession, h2: H2Database) -> None:
    sink = kv_sink(h2, primary_key=("k",), upsert=True, order_by=("v",))
    out = writer(session, sink)

    def changes(*rows: tuple[str, int | None, str]) -> DataFrame:
        return session.createDataFrame(list(rows), f"k string, v int, {OP_COLUMN} string")

    out.write(0, changes(("a", 1, "+I"), ("b", 1, "+I"), ("c", 1, "+I")))
    assert h2.rows(
        "SELECT table_name || '_key' = index_name FROM information_schema.indexes "
        "WHERE index_name LIKE '%_key'"
    ) == [("TRUE",)]
    # Of several changes of a key the last one counts, whatever it is.
    out.write(1, changes(("a", 1, "-D"), ("a", 2, "+I"), ("b", 3, "+U"), ("b", 4, "-D"), ("d", 5, "+I")))
    out.write(2, changes(("c", None, "-D"), ("e", 1, "-D")))
    assert h2.rows(READ) == [("a", "2"), ("d", "5")]
    with pytest.raises(DiagnosticError) as error:
        out.write(3, changes(("a", 7, "+U"), ("a", 7, "-D")))
    assert refused(error).code.name == "HR408"
    # A fresh state may replay into an upsert sink.
    assert writer(session, sink, "two").write(0, changes(("a", 1, "+I")))
    assert h2.rows(READ) == [("a", "1"), ("d", "5")]


@pytest.mark.soak
def test_table_of_one_row(session: SparkSession, h2: H2Database) -> None:
    out = writer(session, kv_sink(h2, (KV[1],), upsert=True))
    for epoch, values in enumerate(([1], [2], [])):
        batch = session.createDataFrame([(value, "+U") for value in values], f"v int, {OP_COLUMN} string")
        assert out.write(epoch, batch)
    assert h2.rows("SELECT v FROM kv") == [("2",)]


def test_all_of_sparks_types(session: SparkSession, h2: H2Database) -> None:
    rows = session.sql(
        "SELECT true b, 1Y i1, 2S i2, 3 i4, 4L i8, 1.5F f4, 2.5D f8, 12.34BD d, 'ä' t, X'00ff' raw, "
        "DATE'2024-02-29' day, TIMESTAMP'2024-07-01 12:00:00.123456' at, array(1, null) xs, "
        "map('k', 1) m, named_struct('x', 1, 'y', null) s"
    )
    empty = rows.where("b").select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in rows.schema.fields))
    columns = tuple(m.Column(f.name, f.dataType.simpleString()) for f in rows.schema.fields)
    assert writer(session, kv_sink(h2, columns)).write(0, rows.unionByName(empty))
    (full, nulls) = h2.rows("SELECT * FROM kv ORDER BY b NULLS LAST")
    assert full[:9] == ("TRUE", "1", "2", "3", "4", "1.5", "2.5", "12.34", "ä")
    assert full[10:] == (
        "2024-02-29", "2024-07-01 12:00:00.123456", "[1,null]", '{"k":1}', '{"x":1,"y":null}',
    )  # fmt: skip
    assert h2.rows("SELECT rawtohex(raw) FROM kv WHERE b") == [("00ff",)]
    assert nulls == (None,) * len(columns)
    with pytest.raises(DiagnosticError) as error:
        writer(session, kv_sink(h2, (m.Column("span", "INTERVAL DAY TO SECOND"),), table="spans"))
    assert refused(error).code.name == "HR417"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "which does not exist"),
        ("(k varchar)", "no column v"),
        ("(k varchar, v smallint)", "a column v that cannot hold"),
        ("(k varchar, v decimal(9))", "a column v that cannot hold"),
        ("(k varchar, v int, w int)", "a column w that is not the sink's"),
    ],
)
def test_tables_that_do_not_fit(
    session: SparkSession, h2: H2Database, table: str | None, message: str
) -> None:
    if table:
        h2.execute(f"CREATE TABLE kv {table}")
    with pytest.raises(DiagnosticError) as error:
        writer(session, kv_sink(h2, primary_key=("k",), create_table=False))
    assert refused(error).code.name == "HR417"
    assert message in refused(error).message


def test_folded_names_and_a_row_that_the_table_does_not_take(session: SparkSession, server: H2Server) -> None:
    """Names without quotes are capitals, as in Oracle; what fails leaves nothing, and is written later."""
    h2 = H2Database(session, server, "folded")
    h2.execute("CREATE SCHEMA shop", "CREATE TABLE shop.kv (k varchar(3) NOT NULL, v decimal(12), w int)")
    sink = kv_sink(h2, table="shop.kv", ledger_schema="PUBLIC", create_table=False)
    out = writer(session, sink)
    with pytest.raises(DiagnosticError) as error:
        out.write(0, kv(session, ("a", 1), (None, 2)))
    assert refused(error).code.name == "HR418"
    assert h2.rows("SELECT * FROM shop.kv") == []
    assert out.write(0, kv(session, ("a", 1)))
    assert h2.rows("SELECT * FROM shop.kv") == [("a", "1", None)]
    assert [row[0] for row in h2.rows("SHOW TABLES FROM shop")] == ["KV"]


def test_rows_of_another_attempt_a_task_run_twice_and_a_lost_answer(
    session: SparkSession, h2: H2Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, fill, transaction = writer(session, kv_sink(h2, max_retries=2)), Stage.fill, Connection.transaction
    faults, attempts = ["an attempt that outlived its run", "a task run twice", "a lost answer"], []

    def filled(stage: Stage, connection: Connection, rows: DataFrame, attempt: str, tasks: int) -> None:
        fill(stage, connection, rows, attempt, tasks)
        attempts.append(attempt)
        for fault, marked in (("a task run twice", attempt), ("an attempt that outlived its run", "0" * 32)):
            if fault in faults:
                columns = ", ".join(f"headrace_{name}" for name in (0, 1, "row"))
                h2.execute(
                    f"INSERT INTO {stage.table} ({columns}, headrace_attempt) "
                    f"SELECT {columns}, '{marked}' FROM {stage.table}"
                )
                faults.remove(fault)
                return

    @contextmanager
    def cut_off(connection: Connection) -> Iterator[None]:
        with transaction(connection):
            yield
        if faults:
            faults.clear()
            raise DatabaseError("connection reset", "08006", may_pass=True)

    monkeypatch.setattr(Stage, "fill", filled)
    monkeypatch.setattr(Connection, "transaction", cut_off)
    assert out.write(0, kv(session, ("a", 1), ("b", 2)))
    assert not faults
    assert len(attempts) == 3
    assert h2.rows(READ) == [("a", "1"), ("b", "2")]


@pytest.mark.soak
def test_a_server_that_goes_away_while_tasks_write(
    session: SparkSession, h2: H2Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, write = writer(session, kv_sink(h2, max_retries=8)), Database.write
    assert out.write(0, kv(session, ("a", 1)))
    back = threading.Timer(0.5, h2.server.start)

    def cut_off(database: Database, rows: DataFrame, table: str, connections: int) -> None:
        if not back.is_alive() and not back.finished.is_set():
            h2.server.stop()
            back.start()
        write(database, rows, table, connections)

    monkeypatch.setattr(Database, "write", cut_off)
    assert out.write(1, kv(session, ("b", 2), ("c", 3)))
    back.join()
    assert h2.rows(READ) == [("a", "1"), ("b", "2"), ("c", "3")]
    assert out.rows_written == 3


def test_wrong_password_no_server_and_no_driver(session: SparkSession, h2: H2Database) -> None:
    h2.execute("SELECT 1")
    # Why MariaDB has URLs of MySQL.
    assert [Database(session, {"url": f"jdbc:{kind}:x"}).quoted("a") for kind in ("mysql", "mariadb")] == [
        "`a`",
        '"a"',
    ]
    cases: tuple[tuple[dict[str, Any], str, str, str], ...] = (
        ({"password": "hunter22"}, "HR610", "Wrong user name or password", "correct url"),
        ({"url": "jdbc:h2:tcp://127.0.0.1:1/x"}, "HR610", "refused", "tried 2 times"),
        ({"driver": "com.example.Driver"}, "HR104", "com.example.Driver", "driver.package"),
        ({"url": "jdbc:example:x"}, "HR104", "no driver takes this url", "driver.package"),
    )
    for options, code, cause, fix in cases:
        with pytest.raises(DiagnosticError) as error:
            writer(session, kv_sink(h2, max_retries=1, **options))
        found = refused(error)
        assert found.code.name == code
        assert cause in str(found.cause)
        assert fix in str(found.fix)
        assert "hunter22" not in f"{found} {error.value}"


@pytest.mark.parametrize("how", ["fails", pytest.param("is killed", marks=pytest.mark.soak)])
def test_a_run_ends_between_the_commits(
    session: SparkSession, h2: H2Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    three_files(tmp_path)
    options = {**h2.options, "table": "orders", "create_table": True}
    sink = plans.sink("scan", plans.ORDERS, connector="jdbc", options=options)
    plan = plans.plan(plans.query((plans.scan(),), "scan", (sink,)))
    if how == "is killed":
        killed(plan, tmp_path, "after:out:1")
    else:
        with monkeypatch.context() as patched:
            patched.setattr(DatabaseWriter, "write", _write_and_fail)
            assert run(plan, tmp_path, session=session).failures
    assert checkpoint(tmp_path).in_flight
    read = "SELECT k, v FROM orders ORDER BY k, v"
    assert len(h2.rows(read)) == 3
    assert run(plan, tmp_path, session=session).failures == ()
    everything = [("x", "1"), ("x", "4"), ("y", "2"), ("y", "8")]
    assert h2.rows(read) == everything
    shutil.rmtree(tmp_path / ".headrace")
    with pytest.raises(DiagnosticError) as error:
        run(plan, tmp_path, session=session)
    assert refused(error).code.name == "HR405"
    assert run(plan, tmp_path, session=session, full_refresh=True).failures == ()
    assert h2.rows(read) == everything


def _write_and_fail(
    writer: DatabaseWriter,
    epoch: int,
    batch: DataFrame,
    write: Callable[[DatabaseWriter, int, DataFrame], bool] = DatabaseWriter.write,
) -> bool:
    computed = write(writer, epoch, batch)
    if epoch == 1:
        raise OSError("between the commits")
    return computed


def test_where_a_url_leads_and_what_brings_its_driver() -> None:
    for url, place in (
        ("jdbc:mysql://u:p@db:3306/shop?password=x", "mysql:db:3306/shop"),
        ("jdbc:oracle:thin:scott/tiger@//db:1521/shop", "oracle://db:1521/shop"),
        ("jdbc:sqlserver://db:1433;databaseName=shop;password=x", "sqlserver://db:1433/shop"),
    ):
        assert shown(url) == place
    assert driver_package({"url": "jdbc:postgresql://h/d"}) is None
    assert str(driver_package({"url": "jdbc:mysql://h/d"})).startswith("com.mysql:")
    assert driver_package({"url": "jdbc:mysql://h/d?permitMysqlScheme"}) == MARIADB.package
    assert driver_package({"url": "jdbc:mysql://h/d", "driver": "org.example.D"}) is None
    assert driver_package({"url": "jdbc:mysql://h/d", "driver.jar": "a.jar"}) is None
    assert driver_package({"url": "jdbc:x:y", "driver": "D", "driver.package": "a:b:1"}) == "a:b:1"


@pytest.mark.parametrize(
    ("server", "version", "driver", "refused"),
    [
        ("MySQL", "5.5.5-10.2.11-MariaDB", "MySQL Connector/J", True),
        ("MariaDB", "10.2.11-MariaDB", "MariaDB Connector/J", False),
        ("MySQL", "8.4.0", "MySQL Connector/J", False),
    ],
)
def test_mysqls_driver_loses_fractions_of_seconds_on_mariadb(
    server: str, version: str, driver: str, refused: bool
) -> None:
    told = SimpleNamespace(
        getDatabaseProductName=lambda: server,
        getDatabaseProductVersion=lambda: version,
        getDriverName=lambda: driver,
    )
    assert is_mariadb_by_another(told) == refused


def test_the_jar_of_a_driver_must_be_there(tmp_path: Path) -> None:
    options = {"url": "jdbc:h2:mem:x", "table": "orders", "driver.jar": "jars/h2.jar"}
    sink = plans.sink("scan", plans.ORDERS, connector="jdbc", options=options)
    plan = plans.plan(plans.query((plans.scan(),), "scan", (sink,)))
    plans.put(tmp_path / "in", "a.csv", ("2024-01-01 00:00:01", "x", 1))
    with pytest.raises(DiagnosticError) as error:
        check_before_start(plan, tmp_path, RunOptions(), Environment({}))
    assert [found.code.name for found in error.value.diagnostics] == ["HR605"]
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "h2.jar").touch()
    check_before_start(plan, tmp_path, RunOptions(), Environment({}))
    assert driver_jars(plan, tmp_path) == (tmp_path / "jars" / "h2.jar",)
    assert packages_of(plan) == ()

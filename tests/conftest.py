"""Goldens: `pytest --update` writes what a test made, and the next review reads it."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from killable import INTERPRETED
from pyspark.sql import SparkSession
from workers import Workers, begin_archive, longest_first, make_archive
from xdist.remote import Producer

if TYPE_CHECKING:
    from postgres_database import Database

    from pipelines.services.postgres import PostgresServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the golden files")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update writes files that several tests share: run it without -n")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Workers | None:
    """Shares tests out, unless another way is asked for."""
    return Workers(config, log) if config.getoption("dist") == "load" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        longest_first(items)


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("numprocesses", None):
        begin_archive()


def pytest_collection_finish(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        make_archive()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with a file."""

    def check(path: Path, text: str) -> None:
        if request.config.getoption("--update"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path} is missing: run pytest --update"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for all tests that need Spark: starting it costs more than most of them."""
    from compiler.jobplan.databases import DRIVERS
    from runtime.connectors.packages import FORMAT_PACKAGES, PACKAGES
    from runtime.spark.session import SessionSettings, close_session, open_session

    log = tmp_path_factory.mktemp("jvm") / "jvm.log"
    used = (*PACKAGES.values(), *FORMAT_PACKAGES.values(), (DRIVERS["jdbc:h2:"].package,))
    settings = SessionSettings(
        app_name="headrace-tests",
        log_path=log,
        master="local[2]",
        packages=tuple(dict.fromkeys(package for packages in used for package in packages)),
        conf={"spark.databricks.delta.snapshotPartitions": "2"},
        short_run=True,
        python_workers=True,
        # What a thousand queries leave behind keeps G1 marking in a heap of 1 GB, a fifth of all CPU.
        driver_memory="2g",
        jvm_options=("-XX:+UseSerialGC",),
    )
    spark = open_session(settings)
    yield spark
    close_session(spark)


@pytest.fixture
def interpreted(session: SparkSession) -> Iterator[SparkSession]:
    """The session without compiled expressions, for tests of many queries or epochs over a few rows."""
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)
    yield session
    for name in INTERPRETED:
        session.conf.unset(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server for all tests of this process, on a free port."""
    from pipelines.services.postgres import PostgresServer

    # Not in pytest's folder: the server runs as another user if the tests run as root.
    folder = Path(tempfile.mkdtemp(prefix="headrace-postgres-"))
    folder.chmod(0o755)
    server = PostgresServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> Iterator[Database]:
    """A fresh database."""
    from postgres_database import Database

    database = Database(postgres_server, f"test_{uuid.uuid4().hex[:12]}")
    database.create()
    yield database
    database.drop()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A broker, started by the first test that needs one: its address, and that at which `ann` logs in."""
    from pipelines.services.kafka import Kafka

    service, folder = Kafka({"ann": "hunter22"}), tmp_path_factory.mktemp("kafka")
    yield service.start(folder), service.login_address(folder)
    service.stop(folder)


@pytest.fixture(scope="session")
def kafka(broker: tuple[str, str]) -> str:
    """A broker's address."""
    return broker[0]

"""PostgreSQL: binary COPY with a ledger, beside Spark's JDBC with batches rewritten to one INSERT each."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from pyspark.sql import DataFrame, SparkSession

from bench.sinks.base import Comparison, writer
from pipelines.services.postgres import PostgresServer

_COLUMNS = (
    "id bigint, customer text, price numeric(12,2), qty integer, at timestamptz, score double precision"
)
_MERGE = """
INSERT INTO upsert_theirs SELECT * FROM stage ON CONFLICT (id) DO UPDATE SET
  customer = excluded.customer, price = excluded.price, qty = excluded.qty, at = excluded.at,
  score = excluded.score
"""


class PostgresBench:
    """Appends, and upserts of which half replace a row that is there."""

    name = "postgres"
    packages: tuple[str, ...] = ("org.postgresql:postgresql:42.7.14",)

    @contextmanager
    def comparisons(
        self, session: SparkSession, rows: DataFrame, folder: Path
    ) -> Iterator[Sequence[Comparison]]:
        """Starts a server for the while."""
        place = Path(tempfile.mkdtemp(prefix="headrace-bench-"))
        place.chmod(0o755)
        server = PostgresServer(place)
        try:
            server.start()
            yield self._comparisons(session, rows, folder, server)
        finally:
            server.stop()
            shutil.rmtree(place, ignore_errors=True)

    def _comparisons(
        self, session: SparkSession, rows: DataFrame, folder: Path, server: PostgresServer
    ) -> Sequence[Comparison]:
        def execute(*statements: str) -> None:
            with psycopg.connect(server.url(), autocommit=True) as connection:
                for statement in statements:
                    connection.execute(statement.encode())

        execute(
            f"CREATE TABLE append_ours ({_COLUMNS})",
            f"CREATE TABLE append_theirs ({_COLUMNS})",
            f"CREATE TABLE upsert_ours ({_COLUMNS}, PRIMARY KEY (id))",
            f"CREATE TABLE upsert_theirs ({_COLUMNS}, PRIMARY KEY (id))",
            f"CREATE UNLOGGED TABLE stage ({_COLUMNS})",
        )
        login = {"username": server.user, "password": server.password}
        options = {"url": server.jdbc_url(), **login}
        append = writer(session, folder, "jdbc", {**options, "table": "append_ours"}, rows)
        upsert = writer(session, folder, "jdbc", {**options, "table": "upsert_ours"}, rows, ("id",))
        half = rows.count() // 2

        def moved(number: int) -> DataFrame:
            """The rows of a round: half of their keys were there before."""
            return rows.withColumn("id", rows["id"] + number * half)

        def by_jdbc(batch: DataFrame, table: str) -> None:
            batch.write.format("jdbc").mode("append").options(
                url=server.jdbc_url() + "?reWriteBatchedInserts=true", dbtable=table, batchsize=10_000,
                user=server.user, password=server.password, driver="org.postgresql.Driver",
            ).save()  # fmt: skip

        def append_theirs(_: int) -> None:
            execute("TRUNCATE append_theirs")
            by_jdbc(rows, "append_theirs")

        def append_ours(number: int) -> None:
            execute("TRUNCATE append_ours")
            append.write(number, rows)

        def upsert_theirs(number: int) -> None:
            by_jdbc(moved(number), "stage")
            execute(_MERGE, "TRUNCATE stage")

        return (
            Comparison("postgres append / Spark's JDBC", 1.6, append_ours, append_theirs),
            Comparison(
                "postgres upsert / JDBC stage and ON CONFLICT",
                1.2,
                lambda number: upsert.write(number, moved(number)),
                upsert_theirs,
            ),
        )

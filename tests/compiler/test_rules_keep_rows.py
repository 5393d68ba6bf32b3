"""Whatever optimizer rules are left out, the rows are the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from duckdb_plans import rows_of_sinks
from hypothesis import HealthCheck, given, settings
from random_projects import RandomProject, compiled, random_projects

from compiler.optimize import NAMES

TABLES = {"orders": "orders", "kinds": "kinds"}


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    made = duckdb.connect()
    made.execute("CREATE TABLE orders (id INT, customer VARCHAR, amount INT, note VARCHAR, ts TIMESTAMP)")
    chance = random.Random(4)
    made.executemany(
        "INSERT INTO orders VALUES (?, ?, ?, ?, make_timestamp_ms(?))",
        [
            (
                number,
                chance.choice(["a", "b", "c", None]),
                chance.randrange(50),
                chance.choice(["x", "y", None]),
                1_700_000_000_000 + chance.randrange(60_000),
            )
            for number in range(60)
        ],
    )
    made.execute("CREATE TABLE kinds (code VARCHAR, label VARCHAR, weight INT)")
    made.execute("INSERT INTO kinds VALUES ('a', 'first', 1), ('b', 'second', 2), ('z', 'last', 26)")
    yield made
    made.close()


def check(project: RandomProject, root: Path, database: duckdb.DuckDBPyConnection) -> None:
    plain = rows_of_sinks(compiled(root, project, NAMES), database, TABLES)
    for without in (project.without, frozenset[str]()):
        assert rows_of_sinks(compiled(root, project, without), database, TABLES) == plain


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(project=random_projects())
def test_the_same_rows(project: RandomProject, tmp_path: Path, database: duckdb.DuckDBPyConnection) -> None:
    check(project, tmp_path / "project", database)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(project=random_projects())
def test_the_same_rows_of_many(
    project: RandomProject, tmp_path: Path, database: duckdb.DuckDBPyConnection
) -> None:
    check(project, tmp_path / "project", database)

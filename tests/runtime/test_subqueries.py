"""IN and EXISTS over a seed keep the rows that Spark's own subqueries keep, NULLs included."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from test_generate import ROWS, as_rows, made

SEEDS = {"with_null": "k,v\n1,x\n,y\n", "without": "k,v\n1,x\n2,z\n"}

QUERIES = [
    "SELECT id, w FROM t JOIN (VALUES (1, 1.5), (3, NULL), (9, 2)) AS v (n, w) ON id = n",
    "SELECT id FROM t WHERE id NOT IN (SELECT * FROM VALUES (1), (2L))",
    "SELECT id FROM t WHERE id IN (SELECT k FROM {seed})",
    "SELECT id FROM t WHERE id NOT IN (SELECT k FROM {seed})",
    "SELECT id FROM t WHERE NOT (id IN (SELECT k FROM {seed})) AND id > 0",
    "SELECT id FROM t WHERE if(id = 3, NULL, id) NOT IN (SELECT k FROM {seed})",
    "SELECT id FROM t WHERE id NOT IN (SELECT k FROM {seed} WHERE k > 100)",
    "SELECT id FROM t WHERE (id, get(xs, 0)) IN (SELECT k, v FROM {seed})",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM {seed} s WHERE s.k = t.id)",
    "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM {seed} s WHERE s.k = t.id AND v = 'x')",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM {seed})",
    "SELECT id FROM t WHERE id > 1 AND NOT EXISTS (SELECT 1 FROM {seed} WHERE k > 100)",
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_spark(session: SparkSession, tmp_path: Path, query: str, seed: str) -> None:
    folder = tmp_path / "seeds"
    folder.mkdir()
    content = SEEDS[seed].encode()
    (folder / f"{seed}.csv").write_bytes(content)
    # The runtime reads a seed's copy, which is named by its content.
    copies = tmp_path / "plan" / "seeds"
    copies.mkdir(parents=True)
    (copies / f"{hashlib.sha256(content).hexdigest()}.csv").write_bytes(content)
    rows = session.sql(f"SELECT * FROM {ROWS} AS t (id, xs, m, rs)")
    rows.createOrReplaceTempView("t")
    table = session.read.csv(str(folder / f"{seed}.csv"), header=True, schema="k INT, v STRING")
    table.createOrReplaceTempView(seed)
    text = query.format(seed=seed)
    assert as_rows(made(session, tmp_path, text, rows)) == as_rows(session.sql(text))

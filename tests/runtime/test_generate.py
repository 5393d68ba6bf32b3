"""Arrays and maps that are taken apart give the rows that Spark's own queries give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compiling import plan_at
from pyspark.sql import DataFrame, SparkSession

from compiler.jobplan import model as m
from runtime.jobs.runner import run
from runtime.spark.context import Context
from runtime.spark.operators import lower

COLUMNS = "id INT, xs ARRAY<STRING>, m MAP<STRING,INT>, rs ARRAY<STRUCT<a: INT, b: STRING>>"
ROWS = """
  VALUES (1, array('x', 'y', NULL), map('k', 1, 'l', NULL), array(named_struct('a', 1, 'b', 'p'), NULL)),
         (2, array(), map(), array()),
         (3, NULL, NULL, NULL)
"""

# What is written, and what Spark is asked instead.
QUERIES = {
    "unnest": (
        "SELECT id, x FROM t CROSS JOIN UNNEST(xs) AS u (x)",
        "SELECT id, x FROM t LATERAL VIEW explode(xs) u AS x",
    ),
    "left": (
        "SELECT id, x FROM t LEFT JOIN UNNEST(xs) AS u (x) ON TRUE",
        "SELECT id, x FROM t LATERAL VIEW OUTER explode(xs) u AS x",
    ),
    "ordinality": (
        "SELECT id, x, i FROM t CROSS JOIN UNNEST(xs) WITH ORDINALITY AS u (x, i)",
        "SELECT id, x, i + 1 AS i FROM t LATERAL VIEW posexplode(xs) u AS i, x",
    ),
    "left with ordinality": (
        "SELECT id, x, i FROM t LEFT JOIN UNNEST(xs) WITH ORDINALITY AS u (x, i) ON TRUE",
        "SELECT id, x, i + 1 AS i FROM t LATERAL VIEW OUTER posexplode(xs) u AS i, x",
    ),
    "map": (
        "SELECT id, u.k, v FROM t, UNNEST(m) AS u (k, v)",
        "SELECT id, k, v FROM t LATERAL VIEW explode(m) u AS k, v",
    ),
    "rows": (
        "SELECT id, a, b FROM t LEFT JOIN UNNEST(rs) AS u ON TRUE",
        "SELECT id, a, b FROM t LATERAL VIEW OUTER inline(rs) u AS a, b",
    ),
    "rows with ordinality": (
        "SELECT id, a, b, n FROM t CROSS JOIN UNNEST(rs) WITH ORDINALITY AS u (a, b, n)",
        "SELECT id, r.a, r.b, p + 1 AS n FROM t LATERAL VIEW posexplode(rs) u AS p, r",
    ),
    "table function": (
        "SELECT id, x FROM t, LATERAL TABLE(explode(xs)) AS u (x)",
        "SELECT id, x FROM t, LATERAL explode(xs) AS u (x)",
    ),
    "left table function": (
        "SELECT id, x FROM t LEFT JOIN LATERAL TABLE(explode(xs)) AS u (x) ON TRUE",
        "SELECT id, x FROM t LEFT JOIN LATERAL explode(xs) AS u (x) ON TRUE",
    ),
    "views": (
        "SELECT id, x, y FROM t LATERAL VIEW explode(xs) u AS x LATERAL VIEW OUTER explode(array(x)) v AS y",
        "SELECT id, x, y FROM t LATERAL VIEW explode(xs) u AS x LATERAL VIEW OUTER explode(array(x)) v AS y",
    ),
    "condition": (
        "SELECT id, x FROM t JOIN UNNEST(xs) AS u (x) ON x > 'x'",
        "SELECT id, x FROM t LATERAL VIEW explode(xs) u AS x WHERE x > 'x'",
    ),
    "in select": (
        "SELECT posexplode(xs) AS (i, xs), id FROM t WHERE id < 2",
        "SELECT posexplode(xs) AS (i, xs), id FROM t WHERE id < 2",
    ),
    "stack": (
        "SELECT id, a, b FROM t LATERAL VIEW stack(2, id, 'one', -id, 'two') s AS a, b",
        "SELECT id, a, b FROM t LATERAL VIEW stack(2, id, 'one', -id, 'two') s AS a, b",
    ),
}


def compiled(root: Path, text: str) -> m.JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text("name: t\nversion: '1'\ntargets: {dev: {master: 'local[2]'}}\n")
    (root / "pipeline.sql").write_text(text)
    return plan_at(root)


def made(session: SparkSession, root: Path, query: str, rows: DataFrame) -> DataFrame:
    """What a query's operators give of rows, instead of those of the source."""
    plan = compiled(
        root,
        f"CREATE SOURCE t ({COLUMNS}) WITH (connector = 'filesystem', path = 'in', format = 'json');\n"
        f"CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS {query};",
    )
    context = Context(session, root, root / "plan", streaming=False)
    frames: dict[str, DataFrame] = {}
    for op in plan.queries[0].operators:
        inputs = [frames[i] for i in getattr(op, "inputs", ())]
        frames[op.id] = rows if isinstance(op, m.Scan) else lower(op, inputs, context)
    return frames[plan.queries[0].sinks[0].input]


def as_rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_of_spark(session: SparkSession, tmp_path: Path, name: str) -> None:
    ours, theirs = QUERIES[name]
    rows = session.sql(f"SELECT * FROM {ROWS} AS t (id, xs, m, rs)")
    rows.createOrReplaceTempView("t")
    expected, found = session.sql(theirs), made(session, tmp_path, ours, rows)
    assert found.columns == expected.columns
    assert as_rows(found) == as_rows(expected)


def test_event_time_lives_on(session: SparkSession, tmp_path: Path) -> None:
    """Windows over rows that were taken apart close with the watermark of the source, also after a stop."""
    plan = compiled(
        tmp_path,
        """
        CREATE SOURCE t (ts TIMESTAMP, xs ARRAY<STRING>, WATERMARK FOR ts AS ts - INTERVAL '2' SECONDS)
        WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1);
        CREATE MODEL words AS SELECT ts, x FROM t CROSS JOIN UNNEST(xs) AS u (x);
        CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS
        SELECT window_end, x, count(*) AS n FROM TUMBLE(TABLE words, DESCRIPTOR(ts), INTERVAL '10' SECONDS)
        GROUP BY window_start, window_end, x;
        """,
    )
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [
        '{"ts": "2024-01-01T00:00:01Z", "xs": ["a", "b", "a"]}\n{"ts": "2024-01-01T00:00:09Z", "xs": []}\n',
        '{"ts": "2024-01-01T00:00:12Z", "xs": ["a"]}\n',
        '{"ts": "2024-01-01T00:00:05Z", "xs": ["late"]}\n{"ts": "2024-01-01T00:00:13Z", "xs": ["c"]}\n',
    ]
    for number, text in enumerate(lines):
        (folder / f"{number}.json").write_text(text)
        report = run(plan, tmp_path, session=session, on_end="leave_open")
        assert not any(query.failure for query in report.queries)
    found = session.read.schema("window_end TIMESTAMP, x STRING, n BIGINT").json(str(tmp_path / "out"))
    assert as_rows(found.select("x", "n")) == [("a", 2), ("b", 1)]

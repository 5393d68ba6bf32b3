"""A big project becomes the queries that the rules predict, in time, and stays readable."""

from __future__ import annotations

import re
import time
from pathlib import Path

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.explain.tree import explain_text
from compiler.project.load import load_project

SOURCES, BRANCHES = 5, 12
CPU_SECONDS = 3.0

_SOURCE = """
CREATE SOURCE events_{s} (id INT, customer STRING, region STRING, price DOUBLE, note STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'filesystem', path = 'in/{s}', format = 'json');
"""
_BRANCH = """
CREATE MODEL clean_{n} AS
SELECT id, trim(customer) AS customer, region, price, ts FROM events_{s} WHERE id % 12 = {b};
CREATE MODEL priced_{n} AS SELECT *, price * 1.19 AS gross FROM clean_{n} WHERE price > 0;
CREATE MODEL sized_{n} AS
SELECT *, CASE WHEN gross > 100 THEN 'large' ELSE 'small' END AS size FROM priced_{n};
CREATE MODEL known_{n} AS SELECT * FROM sized_{n} WHERE region IS NOT NULL;
CREATE MODEL named_{n} AS SELECT id, upper(customer) AS customer, region, gross, size, ts FROM known_{n};
"""
_SINK = "CREATE SINK out_{n} WITH (connector = 'delta', path = 'out/{n}'{more}) AS {query};\n"
_ROWS = "SELECT id, customer, gross FROM named_{n} WHERE size = 'large'"
_WINDOWS = """SELECT window_start, {key}, count(*) AS n, sum(gross) AS gross
FROM TUMBLE(TABLE named_{n}, DESCRIPTOR(ts), INTERVAL '{minutes}' MINUTES)
GROUP BY window_start, window_end, {key}"""


def lay_out(root: Path) -> None:
    """Sixty models and twelve sinks a source: six sinks of rows, two of them often, and four of windows."""
    root.mkdir()
    (root / "headrace.yml").write_text("name: big\n", encoding="utf-8")
    for source in range(SOURCES):
        text = _SOURCE.format(s=source)
        for branch in range(BRANCHES):
            number = f"{source}_{branch}"
            text += _BRANCH.format(n=number, s=source, b=branch)
            often = ", trigger = '5 seconds'" if branch in (6, 7) else ""
            query = _ROWS.format(n=number)
            if branch >= 8:
                key = ("customer", "region", "size", "id")[branch - 8]
                query = _WINDOWS.format(n=number, key=key, minutes=branch)
            text += _SINK.format(n=number, more=often, query=query)
        (root / f"source_{source}.sql").write_text(text, encoding="utf-8")


def test_three_hundred_models_and_sixty_sinks(tmp_path: Path) -> None:
    lay_out(tmp_path / "big")
    before = time.process_time()
    reporter = Reporter()
    project = load_project(tmp_path / "big", reporter=reporter)
    assert project is not None
    plan = compile_project(project, reporter).plan
    used = time.process_time() - before
    assert plan is not None, render_all(reporter.all())
    assert len(project.models) == 300
    # For each source its windows, merged, with its rows beside them, and its rows that are wanted often.
    shapes = [(len(query.sinks), len(query.state), query.trigger_ms) for query in plan.queries]
    assert sorted(shapes, key=str) == sorted([(2, 0, 5000), (10, 1, None)] * SOURCES, key=str)
    assert used < CPU_SECONDS
    text = explain_text(plan)
    # A line an operator, and a few a query and a sink; no line names more than a reader takes in.
    operators = sum(len(query.operators) for query in plan.queries)
    assert len(text.splitlines()) < operators + 6 * len(plan.queries) + 4 * 60
    assert len(re.findall(r"kept apart", text)) <= 2 * len(plan.queries)
    assert max(map(len, text.splitlines())) < 400

"""Optimizer rules and Spark: random projects give the rows that they give without rules."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path

import plans
import pytest
from compiling import plan_at
from files import rows_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from random_projects import SEED, RandomProject, compiled, random_projects

from compiler.jobplan.model import JobPlan, Scan, Seed, original
from compiler.optimize import NAMES
from runtime.jobs.runner import run
from runtime.spark.context import Context
from runtime.spark.operators import lower

COLUMNS = "id INT, customer STRING, amount INT, note STRING, ts TIMESTAMP"


@pytest.fixture
def tables(session: SparkSession) -> Iterator[dict[str, DataFrame]]:
    chance = random.Random(4)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    orders = [
        (
            number,
            chance.choice(["a", "b", "c", None]),
            chance.randrange(50),
            chance.choice(["x", "y", None]),
            start + timedelta(milliseconds=chance.randrange(60_000)),
        )
        for number in range(60)
    ]
    header, *lines = SEED.splitlines()
    kinds = [tuple(line.split(",")) for line in lines]
    before = session.conf.get("spark.sql.shuffle.partitions")
    session.conf.set("spark.sql.shuffle.partitions", "1")
    yield {
        "orders": session.createDataFrame(orders, COLUMNS).coalesce(1),
        "kinds": session.createDataFrame(kinds, header.split(",")).withColumn(
            "weight", F.expr("int(weight)")
        ),
    }
    session.conf.set("spark.sql.shuffle.partitions", before or "200")


def outputs(
    plan: JobPlan, tables: dict[str, DataFrame], session: SparkSession, root: Path
) -> Iterator[tuple[str, DataFrame]]:
    """What each sink would be given if all rows came in one epoch."""
    context = Context(session, root, root, streaming=False)
    for query in plan.queries:
        done: dict[str, DataFrame] = {}
        for op in query.operators:
            if isinstance(op, (Scan, Seed)):
                done[op.id] = tables[original(op.uid)].select(*(column.name for column in op.columns))
            else:
                done[op.id] = lower(op, [done[name] for name in op.inputs], context)
        for sink in query.sinks:
            columns = [F.col(column.name) for column in sink.columns]
            yield sink.uid, done[sink.input].select(F.to_json(F.struct(*columns)).alias("row"))


@settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(projects=st.lists(random_projects(), min_size=3, max_size=3))
def test_the_same_rows(
    projects: list[RandomProject], session: SparkSession, tables: dict[str, DataFrame], tmp_path: Path
) -> None:
    """One Spark job for all: rows count 1 without rules and -1 with some, and nothing must be left."""
    parts: list[DataFrame] = []
    for number, project in enumerate(projects):
        for rules_off, sign in ((frozenset(NAMES), 1), (project.without, -1)):
            plan = compiled(tmp_path / "project", project, rules_off)
            for sink, rows in outputs(plan, tables, session, tmp_path):
                parts.append(
                    rows.select(F.lit(f"{number} {sink}").alias("sink"), "row", F.lit(sign).alias("n"))
                )
    whole = reduce(DataFrame.union, parts).groupBy("sink", "row").agg(F.sum("n").alias("n"))
    wrong = whole.where("n <> 0").collect()
    told = {projects[int(row.sink.split()[0])] for row in wrong}
    assert not wrong, f"{wrong[:5]} of {told}"


PROJECT = """
CREATE SOURCE orders (customer STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'csv', 'csv.header' = 'true',
  max_files_per_epoch = 1);
CREATE MODEL of_a WITH (chain = 'never', parallelism = 3) AS SELECT * FROM orders WHERE customer = 'a';
CREATE SINK counted WITH (connector = 'filesystem', path = 'out', format = 'json') AS
SELECT window_start, count(*) AS n FROM TUMBLE(TABLE of_a, DESCRIPTOR(at), INTERVAL '10' SECONDS)
GROUP BY window_start, window_end;
"""


def test_a_watermark_goes_by_all_rows_of_its_source(session: SparkSession, tmp_path: Path) -> None:
    """Spark moves a filter that does not read the event time below the watermark, if nothing keeps it above.

    The last row is late by those of another customer, which the filter drops; that the rows change tasks on
    their way makes no difference.
    """
    (tmp_path / "headrace.yml").write_text("name: late\ntargets: {dev: {master: 'local[2]'}}\n")
    (tmp_path / "all.sql").write_text(PROJECT)
    for number, rows in enumerate(([("a", 0), ("b", 50)], [("b", 51)], [("b", 52)], [("a", 1)])):
        timed = [(customer, f"2024-01-01 00:00:{second:02}") for customer, second in rows]
        plans.put(tmp_path / "in", f"{number}.csv", *timed, header="customer,at")
    plan = plan_at(tmp_path)
    report = run(plan, tmp_path, session=session, on_end="close")
    assert not report.failures
    assert report.late_rows_dropped == 1
    assert Counter(row["n"] for row in rows_of(tmp_path / "out")) == {1: 1}

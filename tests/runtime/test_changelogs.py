"""Changes: filtered, joined, settled in the order of their arrival, and counted against DuckDB."""

from __future__ import annotations

import hashlib
import json
import os
import random
from pathlib import Path

import duckdb
import plans
import pytest
from compiling import plan_at
from files import rows_of
from pyspark.sql import SparkSession

from compiler.jobplan import model as m
from runtime.jobs.runner import run

CHANGES = (m.Column("op", "STRING"), m.Column("id", "BIGINT"), m.Column("name", "STRING"))
TABLE = (m.Column("id", "BIGINT"), m.Column("name", "STRING"))
HEADER = "op,id,name"


def changes_plan(*more: m.Operator, **options: m.OptionValue) -> m.JobPlan:
    """FROM_CHANGELOG into a table, with other operators in between."""
    scan = m.Scan(
        "scan", "changes", "changes", "filesystem",
        {"path": "in", "format": "csv", "csv.header": True, **options}, CHANGES, sequence=True,
    )  # fmt: skip
    source = m.FromChangelog(
        "from", "t.from_changelog", ("scan",), "op",
        {"c": "+I", "u": "+U", "d": "-D"}, False, ("id", "name"),
    )  # fmt: skip
    operators = (scan, source, *more)
    last = operators[-1].id
    sink = plans.sink(last, TABLE, connector="delta", primary_key=("id",), upsert=True)
    return plans.plan(plans.query(operators, last, (sink,)))


def table(session: SparkSession, folder: Path) -> set[tuple[object, ...]]:
    return {tuple(row) for row in session.read.format("delta").load(str(folder / "out")).collect()}


def test_the_last_change_of_a_key_counts_in_the_order_of_arrival(
    session: SparkSession, tmp_path: Path
) -> None:
    """One epoch: within a file by line, between files by their time, whatever their names and sizes are."""
    plans.put(
        tmp_path / "in", "z.csv", ("c", 1, "a"), ("u", 1, "b"), ("c", 2, "x"), ("d", 2, ""), header=HEADER
    )
    long = [("u", 1, f"a name that makes the file long {number}") for number in range(200)]
    plans.put(tmp_path / "in", "a.csv", *long, ("u", 1, "c"), ("c", 3, "y"), header=HEADER)
    plans.put(tmp_path / "in", "m.csv", ("d", 3, ""), ("c", 4, "z"), ("c", 3, "w"), header=HEADER)
    report = run(changes_plan(), tmp_path, session=session)
    assert report.queries[0].failure is None
    assert table(session, tmp_path) == {(1, "c"), (3, "w"), (4, "z")}


def test_an_unknown_operation_fails_the_epoch(session: SparkSession, tmp_path: Path) -> None:
    plans.put(tmp_path / "in", "a.csv", ("c", 1, "a"), ("x", 1, "b"), header=HEADER)
    report = run(changes_plan(), tmp_path, session=session)
    failure = report.queries[0].failure
    assert failure is not None
    assert failure.code.name == "HR413"
    assert failure.message == "`x` in column op is no operation that t.from_changelog knows"


def test_joins_and_filters_of_changes_delete_what_no_longer_passes(
    session: SparkSession, tmp_path: Path
) -> None:
    """A change that finds no match, or does not pass, must take away the row that did."""
    seed = b"code,title\na,first\nb,second\n"
    digest = hashlib.sha256(seed).hexdigest()
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "titles.csv").write_bytes(seed)
    plan = changes_plan(
        m.Seed(
            "seed",
            "titles",
            "seeds/titles.csv",
            digest,
            (m.Column("code", "STRING"), m.Column("title", "STRING")),
        ),
        m.SeedJoin("join", "t.join", ("from", "seed"), "inner", "name = code"),
        m.Filter("filter", "t.filter", ("join",), "title <> 'second' OR id > 1"),
        m.Project("project", "t.project", ("filter",), (m.Item("id", "id"), m.Item("name", "title"))),
    )
    rows = [
        [("c", 1, "a"), ("c", 2, "a"), ("c", 3, "a"), ("c", 4, "a")],
        [("u", 1, "b"), ("u", 2, "b"), ("u", 3, "c"), ("d", 4, "")],
    ]
    seen = []
    for number, part in enumerate(rows):
        plans.put(tmp_path / "in", f"{number}.csv", *part, header=HEADER)
        assert run(plan, tmp_path, session=session).queries[0].failure is None
        seen.append(table(session, tmp_path))
    assert seen == [{(1, "first"), (2, "first"), (3, "first"), (4, "first")}, {(2, "second")}]


def test_changes_of_a_table_of_one_row(session: SparkSession, tmp_path: Path) -> None:
    total = m.Aggregate(
        "agg", "t.aggregate", ("scan",), (),
        (m.Item("n", "count(*)"), m.Item("most", "max(v)")), ("n", "most"), None, upsert=True,
    )  # fmt: skip
    sink = plans.sink(
        "agg", (m.Column("n", "BIGINT"), m.Column("most", "INT")), connector="delta", upsert=True
    )
    plan = plans.plan(plans.query((plans.scan(), total), "agg", (sink,), output_mode="update"))
    seen = []
    for number, value in enumerate((7, 3, 9)):
        plans.put(tmp_path / "in", f"{number}.csv", ("2024-01-01 00:00:01", "x", value))
        # A bounded run does not end such a state: the next one goes on from it.
        assert run(plan, tmp_path, session=session, on_end="close").queries[0].failure is None
        seen.append(table(session, tmp_path))
    assert seen == [{(1, 7)}, {(2, 7)}, {(3, 9)}]


def test_rows_of_a_key_in_one_epoch_are_settled_by_their_event_time(
    session: SparkSession, tmp_path: Path
) -> None:
    columns = (m.Column("k", "STRING"), m.Column("ts", "TIMESTAMP"), m.Column("v", "INT"))
    sink = plans.sink("scan", columns, connector="delta", primary_key=("k",), order_by=("ts",))
    plan = plans.plan(plans.query((plans.scan(),), "scan", (sink,)))
    times = [
        ("2024-01-01 00:00:03", "x", 3),
        ("2024-01-01 00:00:09", "x", 9),
        ("2024-01-01 00:00:05", "x", 5),
    ]
    plans.put(tmp_path / "in", "a.csv", *times)
    assert run(plan, tmp_path, session=session).queries[0].failure is None
    assert [row[2] for row in table(session, tmp_path)] == [9]
    plans.put(tmp_path / "in", "b.csv", ("2024-01-01 00:01:00", "x", 1), ("2024-01-01 00:01:00", "x", 2))
    failure = run(plan, tmp_path, session=session).queries[0].failure
    assert failure is not None
    assert failure.code.name == "HR408"


def test_distinct_with_and_without_a_time_to_live(session: SparkSession, tmp_path: Path) -> None:
    """Both give a row once, from run to run, NULL like any other value."""
    columns = tuple(m.Marked(name, None) for name in ("k", "v"))
    operators = (
        plans.scan(),
        m.Distinct("kept", "kept", ("scan",), None, columns),
        m.Distinct("live", "live", ("scan",), None, columns, ttl_ms=3_600_000),
    )
    shape = (m.Column("k", "STRING"), m.Column("v", "INT"))
    queries = tuple(
        plans.query(
            (operators[0], op), op.id, (plans.sink(op.id, shape, path=op.id, uid=op.id),), uid=op.id,
            state=(m.State(op.id, op.id, "distinct", ("k", "v"), "f", ""),),
        )
        for op in operators[1:]
    )  # fmt: skip
    for number, values in enumerate((((1, "a"), (1, "a"), ("", "b")), ((1, "a"), ("", "b"), (2, "a")))):
        rows = [("2024-01-01 00:00:01", key, value) for value, key in values]
        plans.put(tmp_path / "in", f"{number}.csv", *rows)
        report = run(plans.plan(*queries), tmp_path, session=session)
        assert [query.failure for query in report.queries] == [None, None]
    for op in operators[1:]:
        found = [(row["k"], row.get("v")) for row in rows_of(tmp_path / op.id)]
        assert sorted(found, key=str) == [("a", 1), ("a", 2), ("b", None)]


PROJECT = """
name: generated
version: '1'
defaults: {sources: {max_files_per_epoch: 1}}
targets: {dev: {master: 'local[2]', parallelism: 2}}
"""

PIPELINE = """
CREATE SOURCE sales (id BIGINT, region STRING, amount INT)
WITH (connector = 'filesystem', path = 'in', format = 'json');

CREATE MODEL totals WITH (allow_unbounded = true) AS
SELECT region, count(*) AS sales, count(amount) AS known, sum(amount) AS total, max(amount) AS most
FROM sales GROUP BY region;

CREATE SINK small (PRIMARY KEY (area) NOT ENFORCED) WITH (connector = 'delta', path = 'out')
AS SELECT region AS area, sales, known, total, most FROM totals WHERE total < 300 OR total IS NULL;
"""

ORACLE = """
SELECT region, count(*), count(amount), sum(amount)::BIGINT, max(amount) FROM sales GROUP BY region
HAVING sum(amount) < 300 OR sum(amount) IS NULL
"""


@pytest.mark.parametrize("seed", [3, 17])
def test_filtered_groups_are_those_of_all_rows(session: SparkSession, tmp_path: Path, seed: int) -> None:
    """After each run the table is what DuckDB makes of all rows so far: groups come in and fall out again."""
    made = random.Random(seed)
    (tmp_path / "in").mkdir()
    (tmp_path / "headrace.yml").write_text(PROJECT)
    (tmp_path / "pipeline.sql").write_text(PIPELINE)
    plan = plan_at(tmp_path)
    oracle = duckdb.connect()
    oracle.execute("CREATE TABLE sales (id BIGINT, region TEXT, amount INT)")
    passed: list[set[object]] = []
    for epochs in (2, 1):
        for _ in range(epochs):
            rows = [
                (
                    made.randrange(1_000_000),
                    made.choice([None, "north", "south", "east", "west", 'ö, "quoted"']),
                    made.choice([None, made.randrange(-50, 100)]),
                )
                for _ in range(made.randrange(1, 25))
            ]
            names = ("id", "region", "amount")
            lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
            number = len(list((tmp_path / "in").iterdir()))
            file = tmp_path / "in" / f"{number}.json"
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            os.utime(file, (1_700_000_000 + number,) * 2)
            oracle.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
        assert run(plan, tmp_path, session=session).queries[0].failure is None
        expected = set(oracle.execute(ORACLE).fetchall())
        assert table(session, tmp_path) == expected
        passed.append({row[0] for row in expected})
    assert passed[0] != set()

"""Windows over panes, put together ahead of the stream or not, give the rows that they give without."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from pathlib import Path

import plans
import pytest
from compiling import plan_at
from files import counted_rows
from pyspark.sql import SparkSession

from compiler.jobplan.model import JobPlan, Manifest, Panes
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.spark.ahead import Ahead
from runtime.state.root import read_manifest

pytestmark = pytest.mark.usefixtures("interpreted")

SOURCE = """
CREATE SOURCE orders (id INT, customer STRING, amount DECIMAL(8, 2), price DOUBLE, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'csv', 'csv.header' = 'true',
  max_files_per_epoch = 1);
"""
SINK = "CREATE SINK {0} WITH (connector = 'filesystem', path = 'out/{0}', format = 'json') AS {1};\n"
HOP = "HOP(TABLE orders, DESCRIPTOR(at), INTERVAL '1' SECONDS, INTERVAL '{0}' SECONDS)"
QUERIES = {
    "hops": f"""
        SELECT window_start, window_end, window_time, customer, sum(amount) AS total, count(*) AS n,
          count(customer) AS named, avg(id) AS mean, avg(price) AS price, min(amount) AS least,
          max(id) AS newest,
          try_divide(sum(id), count(price)) AS rate, count_if(price > 20) AS dear,
          bool_and(amount > 5) AS all_large,
          sum(id) FILTER (WHERE amount > 30) AS ids
        FROM {HOP.format(12)} GROUP BY window_start, window_end, window_time, customer""",
    "some": f"""
        SELECT window_start, count(*) AS n, sum(amount) AS total, id % 2 AS parity
        FROM {HOP.format(10)} WHERE amount > 25 AND customer <> 'c'
        GROUP BY window_start, window_end, id % 2""",
    "so_far": """
        SELECT window_start, window_end, customer, id % 2 AS parity, count(*) AS n, sum(price) AS price
        FROM CUMULATE(TABLE orders, DESCRIPTOR(at), INTERVAL '2' SECONDS, INTERVAL '20' SECONDS)
        WHERE id > 3 GROUP BY window_start, window_end, customer, id % 2""",
    "finely": """
        SELECT window_start, window_end, sum(id) AS ids
        FROM CUMULATE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' SECONDS, INTERVAL '1' MINUTE)
        GROUP BY window_start, window_end""",
}


def compiled(
    root: Path,
    queries: Mapping[str, str],
    manifest: Manifest | None = None,
    without: Collection[str] = (),
    source: str = SOURCE,
) -> JobPlan:
    root.mkdir(parents=True, exist_ok=True)
    trigger = ", trigger: 1 second" if "idle_timeout" in source else ""
    (root / "headrace.yml").write_text(
        f"name: shop\nversion: '1'\ntargets: {{dev: {{master: 'local[2]', parallelism: 2{trigger}}}}}\n"
    )
    (root / "all.sql").write_text(source + "".join(SINK.format(name, sql) for name, sql in queries.items()))
    return plan_at(root, manifest, without)


def ahead(plan: JobPlan) -> list[bool]:
    """For each query over panes, whether its rows are put together before they enter."""
    return [op.ahead for query in plan.queries for op in query.operators if isinstance(op, Panes)]


def put(root: Path, seed: int, files: int, disorder: int = 2, start: int = 0) -> None:
    """Rows out of order by some seconds; beyond two, some are late. Numbers that floats hold exactly."""
    chance = random.Random(seed)
    for file in range(files):
        made = [
            (
                chance.randrange(40),
                chance.choice(["a", "b", "c", ""]),
                f"{chance.randrange(50)}.{chance.randrange(100):02}",
                chance.choice([f"{chance.randrange(200) / 4}", ""]),
                f"2024-01-01 00:00:{second:02}.{chance.randrange(1000):03}",
            )
            for second in (
                min(59, max(0, start + 10 * file + chance.randint(-disorder, disorder))) for _ in range(30)
            )
        ]
        plans.put(root / "in", f"{seed}-{file}.csv", *made, header="id,customer,amount,price,at")


def go(root: Path, plan: JobPlan, session: SparkSession, end: str = "close") -> RunReport:
    report = run(plan, root, session=session, on_end="close" if end == "close" else "leave_open")
    assert not report.failures
    return report


def test_the_same_rows_as_without(session: SparkSession, tmp_path: Path) -> None:
    """Late rows, NULL keys and values, windows of all shapes; the counts of the report as well."""
    reports: list[RunReport] = []
    for root, without in ((tmp_path / "with", ()), (tmp_path / "without", ("share_panes",))):
        plan = compiled(root, QUERIES, without=without)
        assert ahead(plan) == ([] if without else [True])
        put(root, seed=1, files=5, disorder=25)
        reports.append(go(root, plan, session))
    one, other = reports
    assert one.late_rows_dropped
    assert [query.input_rows for query in one.queries] == [150]
    assert {query.input_rows for query in other.queries} == {150}
    found = counted_rows(tmp_path / "with", QUERIES)
    assert found == counted_rows(tmp_path / "without", QUERIES)
    assert all(found.values())


def test_a_state_goes_on_however_rows_enter(session: SparkSession, tmp_path: Path) -> None:
    """Panes ahead, then row by row, then ahead again: it is the same state."""
    root, undisturbed = tmp_path / "changed", tmp_path / "undisturbed"
    names = ("hops", "so_far")
    queries = {name: QUERIES[name] for name in names}
    manifest: Manifest | None = None
    for number, without in enumerate(((), ("share_panes",), ())):
        for folder in (root, undisturbed):
            put(folder, seed=number, files=2, start=20 * number)
        plan = compiled(root, queries, manifest, without)
        assert ahead(plan) == [not without]
        go(root, plan, session, end="close" if number == 2 else "leave_open")
        manifest = read_manifest(root / ".headrace/state")
    go(undisturbed, compiled(undisturbed, queries, without=("share_panes", "merge_siblings")), session)
    assert counted_rows(root, names) == counted_rows(undisturbed, names)


def test_a_state_without_panes_stays_so(session: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, seed=4, files=1)
    queries = {"hops": QUERIES["hops"]}
    go(tmp_path, compiled(tmp_path, queries, without=("share_panes",)), session, end="leave_open")
    manifest = read_manifest(tmp_path / ".headrace/state")
    plan = compiled(tmp_path, queries, manifest)
    assert ahead(plan) == []
    put(tmp_path, seed=5, files=1)
    go(tmp_path, plan, session)


def test_a_sink_that_goes(session: SparkSession, tmp_path: Path) -> None:
    """What it had in the state stays there, over no rows; the others read on."""
    root, undisturbed = tmp_path / "changed", tmp_path / "undisturbed"
    for folder in (root, undisturbed):
        put(folder, seed=2, files=2)
    go(root, compiled(root, QUERIES), session, end="leave_open")
    left = {name: QUERIES[name] for name in ("some", "finely")}
    plan = compiled(root, left, read_manifest(root / ".headrace/state"))
    assert [[sink.uid for sink in query.sinks] for query in plan.queries] == [["some", "finely"]]
    for folder in (root, undisturbed):
        put(folder, seed=30, files=2, start=20)
    go(root, plan, session)
    go(undisturbed, compiled(undisturbed, left, without=("share_panes", "merge_siblings")), session)
    assert counted_rows(root, left) == counted_rows(undisturbed, left)


def test_rows_that_no_window_takes_move_the_watermark(session: SparkSession, tmp_path: Path) -> None:
    plans.put(
        tmp_path / "in", "0.csv", (1, "a", 30, 1, "2024-01-01 00:00:01"), header="id,customer,amount,price,at"
    )
    plans.put(
        tmp_path / "in", "1.csv", (2, "c", 1, 1, "2024-01-01 00:00:40"), header="id,customer,amount,price,at"
    )
    report = go(tmp_path, compiled(tmp_path, {"some": QUERIES["some"]}), session, end="leave_open")
    assert sum(counted_rows(tmp_path, ["some"])["some"].values()) == 10
    assert (report.open_groups, report.queries[0].input_rows) == (0, 2)


def test_a_row_without_a_time_is_refused(session: SparkSession, tmp_path: Path) -> None:
    plan = compiled(tmp_path, {"hops": QUERIES["hops"]})
    plans.put(tmp_path / "in", "0.csv", (1, "a", 30, 1, ""), header="id,customer,amount,price,at")
    (failure,) = run(plan, tmp_path, session=session).failures
    assert failure.code.name == "HR407"
    plans.put(
        tmp_path / "in", "0.csv", (1, "a", 30, 1, "2024-01-01 00:00:01"), header="id,customer,amount,price,at"
    )


def test_rows_enter_one_by_one_where_panes_make_no_fewer(session: SparkSession, tmp_path: Path) -> None:
    """Each row has a key of its own: from the second epoch on, nothing is put together, and tried again."""
    by_row = {"by_row": QUERIES["hops"].replace("customer", "id")}
    plan = compiled(tmp_path, by_row)
    query = plan.queries[0]
    assert query.ahead is not None
    stands = Ahead(query, query.ahead, None)  # type: ignore[arg-type]  # nothing is lowered
    told = [
        ((900, 900, True), True),  # too few to judge by
        ((2000, 1900, True), False),
        *[((2000, 2000, False), False)] * 19,
        ((2000, 2000, False), True),
        ((2000, 900, True), True),
    ]
    for (rows, parts, together), then in told:
        metrics = {"headrace ahead": {"rows": rows, "parts": parts, "__headrace_together": together}}
        assert stands.saw(metrics) == rows
        assert stands.puts_together is then
    assert stands.saw({}) is None


def test_rows_one_by_one_are_the_same(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for root in (tmp_path / "together", tmp_path / "one by one"):
        put(root, seed=8, files=2)
        go(root, compiled(root, QUERIES), session)
        monkeypatch.setattr(Ahead, "puts_together", False)
    assert counted_rows(tmp_path / "together", QUERIES) == counted_rows(tmp_path / "one by one", QUERIES)


def test_an_aggregate_that_has_no_parts_keeps_a_query_as_it_was(tmp_path: Path) -> None:
    spread = QUERIES["hops"].replace("avg(price) AS price", "stddev(price) AS price")
    assert ahead(compiled(tmp_path, {"hops": spread})) == []


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.replace("max_files", "on_null_time = 'drop', max_files"),
        SOURCE.replace("max_files", "idle_timeout = '10 seconds', max_files"),
        SOURCE.replace("max_files", "on_bad_record = 'drop', max_files"),
        SOURCE.replace("'filesystem'", "'datagen'").split("WITH")[0] + "WITH (connector = 'datagen');\n",
    ],
    ids=["counts rows", "knows silence", "counts records", "is not read again"],
)
def test_a_source_that_must_stand_in_the_stream(tmp_path: Path, source: str) -> None:
    assert ahead(compiled(tmp_path, {"hops": QUERIES["hops"]}, source=source)) == []

"""Options of models at run time: what is kept where, under which name, and that another name goes on."""

from __future__ import annotations

from pathlib import Path

from compiling import plan_at
from files import tuples_of
from pyspark.sql import SparkSession

from runtime.jobs.report import RunReport
from runtime.jobs.runner import run
from runtime.state.root import read_manifest

SOURCE = """
CREATE SOURCE orders (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '1' SECOND)
WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1, uid = 'source');
"""
FIRST = """
CREATE MODEL by_minute WITH (materialized = 'delta', uid = 'counts', parallelism = 3) AS
SELECT window_start, count(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end;
CREATE SINK plain WITH (connector = 'filesystem', path = 'out/plain', format = 'json', uid = 'p')
AS SELECT id FROM orders;
"""
# Everything has another name, and its uid keeps it what it is.
SECOND = (
    FIRST.replace("by_minute", "sums")
    .replace("SINK plain", "SINK simple")
    .replace("FROM orders", "FROM bought")
    .replace("TABLE orders", "TABLE bought")
)


def go(root: Path, text: str, session: SparkSession) -> RunReport:
    (root / "headrace.yml").write_text("name: shop\n", encoding="utf-8")
    (root / "all.sql").write_text(text, encoding="utf-8")
    state = root / ".headrace/state"
    memory = read_manifest(state) if (state / "manifest.json").exists() else None
    plan = plan_at(root, memory)
    report = run(plan, root, session=session, on_end="leave_open")
    assert report.failures == ()
    return report


def test_another_name_under_the_same_uid_goes_on(session: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.json").write_text('{"id": 1, "at": "2024-01-01 00:00:01"}\n', encoding="utf-8")
    (folder / "2.json").write_text('{"id": 2, "at": "2024-01-01 00:00:02"}\n', encoding="utf-8")
    go(tmp_path, SOURCE + FIRST, session)
    (folder / "3.json").write_text('{"id": 3, "at": "2024-01-01 00:02:00"}\n', encoding="utf-8")
    (folder / "4.json").write_text('{"id": 4, "at": "2024-01-01 00:02:01"}\n', encoding="utf-8")
    # The table that the first name chose stays where it is: only its path moved with the name.
    (tmp_path / "out/by_minute").rename(tmp_path / "out/sums")
    report = go(tmp_path, SOURCE.replace("orders", "bought") + SECOND, session)
    assert [query.uid for query in report.queries] == ["counts"]
    # Each row once: the second run read the two new files alone, and the window counts those of both runs.
    assert tuples_of(tmp_path / "out/plain", "id") == [(1,), (2,), (3,), (4,)]
    rows = session.read.format("delta").load(str(tmp_path / "out/sums")).collect()
    assert [(str(row.window_start), row.n) for row in rows] == [("2024-01-01 00:00:00", 2)]

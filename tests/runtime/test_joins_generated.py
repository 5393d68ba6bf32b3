"""Joins of two streams over generated rows, of which some are late, against DuckDB over the others."""

from __future__ import annotations

import csv
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from compiling import plan_at
from pyspark.sql import SparkSession

from runtime.jobs.runner import run

pytestmark = pytest.mark.usefixtures("interpreted")

START = datetime(2024, 1, 1)  # noqa: DTZ001  # UTC, as files spell it
EPOCHS, DELAY_S, WINDOW_S = 6, 5, 20

SOURCE = """CREATE SOURCE {name} (
  id BIGINT, k STRING, ts TIMESTAMP(3), n INT, PRIMARY KEY (k) NOT ENFORCED,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in/{name}', format = 'csv', 'csv.header' = 'true');
"""
WINDOWED = "TUMBLE(TABLE {name}, DESCRIPTOR(ts), INTERVAL '20' SECONDS)"
NEAR = (
    "l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '7' SECONDS AND l.ts + INTERVAL '12' SECONDS AND l.n <> r.n"
)
SAME = "l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end AND l.n <> r.n"

# What runs here, by the name of its sink; `?` becomes the kind of join.
MODELS = {
    "interval_left": f"SELECT l.id AS lid, r.id AS rid FROM l LEFT JOIN r ON {NEAR}",
    "interval_full": f"SELECT l.id AS lid, r.id AS rid FROM l FULL JOIN r ON {NEAR}",
    "interval_anti": f"SELECT l.id AS lid FROM l LEFT ANTI JOIN r ON {NEAR}",
    "window_full": f"SELECT l.id AS lid, r.id AS rid FROM {WINDOWED.format(name='l')} AS l "
    f"FULL JOIN {WINDOWED.format(name='r')} AS r ON {SAME}",
    "window_semi": f"SELECT l.id AS lid FROM {WINDOWED.format(name='l')} AS l "
    f"LEFT SEMI JOIN {WINDOWED.format(name='r')} AS r ON {SAME}",
    "temporal_left": "SELECT l.id AS lid, r.id AS rid FROM l "
    "LEFT JOIN r FOR SYSTEM_TIME AS OF l.ts ON l.k = r.k AND l.n <> r.n",
    "interval_counts": "SELECT window_start, count(*) AS lid, count(rid) AS rid FROM TUMBLE(TABLE ("
    f"SELECT l.ts, r.id AS rid FROM l LEFT JOIN r ON {NEAR}"
    "), DESCRIPTOR(ts), INTERVAL '20' SECONDS) GROUP BY window_start, window_end",
}
# The same over the rows that are kept; `l` and `r` hold those that are not late by their time.
WINDOWED_ROWS = "(SELECT *, time_bucket(INTERVAL '20 seconds', ts) AS w FROM {name}_of_windows)"
SAME_ROWS = "l.k = r.k AND l.w = r.w AND l.n <> r.n"
ORACLE = {
    "interval_left": MODELS["interval_left"],
    "interval_full": MODELS["interval_full"],
    "interval_anti": MODELS["interval_anti"].replace("LEFT ANTI", "ANTI"),
    "window_full": f"SELECT l.id, r.id FROM {WINDOWED_ROWS.format(name='l')} AS l "
    f"FULL JOIN {WINDOWED_ROWS.format(name='r')} AS r ON {SAME_ROWS}",
    "window_semi": f"SELECT l.id FROM {WINDOWED_ROWS.format(name='l')} AS l "
    f"SEMI JOIN {WINDOWED_ROWS.format(name='r')} AS r ON {SAME_ROWS}",
    # A version counts if it had come when the row left; of one time the one that came last.
    "temporal_left": "SELECT l.id, CASE WHEN v.n <> l.n THEN v.id END FROM l LEFT JOIN LATERAL ("
    "SELECT * FROM all_r AS r WHERE r.k = l.k AND r.ts <= l.ts AND r.epoch <= l.leaves "
    "ORDER BY r.ts DESC, r.epoch DESC, r.id DESC LIMIT 1) AS v ON TRUE",
    "interval_counts": "SELECT count(*), count(r.id) FROM l LEFT JOIN r ON "
    f"{NEAR} GROUP BY time_bucket(INTERVAL '20 seconds', l.ts)",
}


@dataclass(frozen=True)
class Row:
    """A generated row; times are seconds since START."""

    id: int
    k: str
    ts: int
    n: int
    epoch: int


def generate(seed: int) -> dict[str, list[Row]]:
    """Rows of both sides: time goes on by ten seconds an epoch, and rows are up to 25 seconds behind."""
    chance = random.Random(seed)  # no secret
    rows: dict[str, list[Row]] = {"l": [], "r": []}
    for epoch in range(EPOCHS):
        for name, side in rows.items():
            for number in range(chance.randint(6, 13)):
                ts = 40 + epoch * 10 + chance.choice([-25, -18, -12, -6, -3, 0, 1, 2, 5])
                number_of_all = epoch * 100 + number + (10_000 if name == "r" else 0)
                side.append(Row(number_of_all, chance.choice("abc"), ts, chance.randint(0, 2), epoch))
    return rows


def watermarks(rows: dict[str, list[Row]]) -> list[float]:
    """That at the end of each epoch, in seconds: the least of both sides' greatest times, less the delay."""
    found: list[float] = []
    for epoch in range(EPOCHS):
        sides = [max(row.ts for row in side if row.epoch <= epoch) for side in rows.values()]
        found.append(max(min(sides) - DELAY_S, *found) if found else min(sides) - DELAY_S)
    return found


def oracle(rows: dict[str, list[Row]]) -> duckdb.DuckDBPyConnection:
    """A database with the rows that are not late in `l` and `r`, and by their windows in `…_of_windows`."""
    marks = watermarks(rows)
    database = duckdb.connect()

    def late(epoch: int) -> float:
        return marks[epoch - 2] if epoch >= 2 else float("-inf")

    def leaves(row: Row) -> int:
        """The first epoch that finds the row's time passed by the watermark of the one before."""
        passed = (e for e in range(1, EPOCHS) if marks[e - 1] >= row.ts)
        return max(row.epoch, next(passed, EPOCHS))

    def keep(table: str, side: list[Row], time: Callable[[Row], float]) -> None:
        database.execute(
            f"CREATE TABLE {table} (id BIGINT, k VARCHAR, ts TIMESTAMP, n INT, epoch INT, leaves INT)"
        )
        for row in side:
            if time(row) > late(row.epoch):
                values = (row.id, row.k, START + timedelta(seconds=row.ts), row.n, row.epoch, leaves(row))
                database.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", values)

    for name, side in rows.items():
        keep(name, side, lambda row: row.ts)
        keep(f"{name}_of_windows", side, lambda row: (row.ts // WINDOW_S + 1) * WINDOW_S)
    keep("all_r", rows["r"], lambda _row: float("inf"))
    return database


def lay_out(root: Path, rows: dict[str, list[Row]]) -> None:
    for name, side in rows.items():
        folder = root / "in" / name
        folder.mkdir(parents=True)
        for epoch in range(EPOCHS):
            path = folder / f"{epoch}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                part = [row for row in side if row.epoch == epoch]
                times = [(START + timedelta(seconds=row.ts)).isoformat(sep=" ") for row in part]
                csv.writer(file).writerow(["id", "k", "ts", "n"])
                csv.writer(file).writerows(
                    [row.id, row.k, ts, row.n] for row, ts in zip(part, times, strict=True)
                )
            os.utime(path, (1_700_000_000 + epoch, 1_700_000_000 + epoch))


def written(folder: Path) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for path in folder.glob("*.json"):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found[tuple(row.get(column) for column in ("lid", "rid"))] += 1
    return found


@pytest.mark.parametrize("seed", [1])
def test_joins_give_what_duckdb_gives_of_rows_in_time(
    session: SparkSession, tmp_path: Path, seed: int
) -> None:
    rows = generate(seed)
    lay_out(tmp_path, rows)
    (tmp_path / "headrace.yml").write_text(
        "name: joins\nversion: '1'\ndefaults: {sources: {max_files_per_epoch: 1}}\n"
        "targets: {dev: {master: 'local[2]', parallelism: 2}}\n",
        encoding="utf-8",
    )
    text = SOURCE.format(name="l") + SOURCE.format(name="r")
    for name, query in MODELS.items():
        text += f"CREATE MODEL m_{name} AS {query};\n"
        text += f"CREATE SINK {name} WITH (connector = 'filesystem', path = 'out/{name}', format = 'json') "
        text += f"AS SELECT * FROM m_{name};\n"
    (tmp_path / "models.sql").write_text(text, encoding="utf-8")
    plan = plan_at(tmp_path)
    report = run(plan, tmp_path, session=session, on_end="close")
    assert [query.failure for query in report.queries] == [None] * len(MODELS)
    database = oracle(rows)
    kept = database.sql("SELECT count(*) FROM l").fetchall()[0][0]
    # The stream is worth testing only if some rows are late, and most are not.
    assert len(rows["l"]) / 2 < kept < len(rows["l"])
    for name, query in ORACLE.items():
        expected = Counter((*row, None)[:2] for row in database.sql(query).fetchall())
        assert written(tmp_path / "out" / name) == expected, name

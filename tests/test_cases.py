"""Every case in `tests/cases`, from its SQL and, where there is one, its YAML.

A case that headrace runs must give its expected rows: with all rows in one epoch (unless the case says in
which order they arrive), over several epochs down to one row in each, and with a stop and a new run in the
middle. A case that it does not run yet must be refused, with the code that is listed here; an unlisted one
fails the test.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from compiling import compile_at
from msgspec.structs import replace
from pyspark.sql import SparkSession

from compiler.compile import Compiled
from compiler.diagnostics.render import render_all
from compiler.jobplan.codec import to_json
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.connectors.sinks.memory import ROWS
from runtime.jobs.runner import run

CASES = Path(__file__).parent / "cases"

# Refused for now: the code says so at the right place.
NOT_YET: dict[str, str] = {}

NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
RUN = [name for name in NAMES if name not in NOT_YET]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Expectation:
    """One run of a case: what happens at the end of input, and the rows that are then there.

    `kind` says what the rows are: all that were appended, those left by `key`, or the complete table.
    `changes` holds each change with the number of its batch.
    """

    end_of_input: str
    kind: Literal["append", "upsert", "complete"]
    file: Path
    key: tuple[str, ...] = ()
    changes: Path | None = None


def load_case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CASES / name / "case.yml").read_text(encoding="utf-8"))
    return loaded


def expectations(name: str) -> list[Expectation]:
    case = load_case(name)
    found = []
    for run_of_case in case.get("runs") or [case]:
        result = run_of_case["result"]
        changes = CASES / name / result["changes"] if "changes" in result else None
        found.append(
            Expectation(
                end_of_input=run_of_case["end_of_input"],
                kind=result["kind"],
                file=CASES / name / result["file"],
                key=tuple(result.get("key", ())),
                changes=changes,
            )
        )
    return found


def compile_case(name: str, root: Path, pipeline: str = "pipeline.sql") -> Compiled:
    """Compiles a case in a project of its own that reads one file an epoch."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "headrace.yml").write_text(
        f"name: case\nversion: '1'\nvars: {{input: '{root / 'in'}', out: '{root / 'out'}'}}\n"
        "defaults: {sources: {max_files_per_epoch: 1}}\n"
        "targets: {dev: {master: 'local[2]', parallelism: 2}}\n",
        encoding="utf-8",
    )
    (root / pipeline).write_text((CASES / name / pipeline).read_text(encoding="utf-8"), encoding="utf-8")
    lay_out_functions(name, root)
    return compile_at(root)


def lay_out_functions(name: str, root: Path) -> None:
    """Copies the Python functions of a case, if it has some, to where its project has them."""
    if (CASES / name / "functions").exists():
        shutil.copytree(CASES / name / "functions", root / "functions", dirs_exist_ok=True)


def read_csv(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, rows


def batches(name: str, epochs: int | None = None) -> list[dict[str, list[int]]]:
    """Row numbers by source for each epoch.

    Args:
        name: the case.
        epochs: over how many epochs rows are spread, in order, if the case does not say how they arrive;
            None for one row an epoch.
    """
    case = load_case(name)
    if "arrival" in case:
        return [{key: rows for key, rows in batch.items() if key != "pause"} for batch in case["arrival"]]
    counts = {i["source"]: len(read_csv(CASES / name / i["file"])[1]) for i in case["inputs"]}
    found: list[dict[str, list[int]]] = []
    for source, count in counts.items():
        size = -(-count // epochs) if epochs else 1
        for epoch, first in enumerate(range(1, count + 1, size)):
            if epoch == len(found):
                found.append({})
            found[epoch][source] = list(range(first, min(first + size, count + 1)))
    return found


def looks_up(name: str) -> bool:
    """Whether the case reads a table in processing time."""
    return any(entry.get("role") == "lookup" for entry in load_case(name)["inputs"])


def write_rows(path: Path, rows: list[list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def lay_out(name: str, root: Path, parts: list[dict[str, list[int]]], first: int) -> None:
    """Writes one file an epoch in the place of each input file; Spark takes them by modification time."""
    for entry in load_case(name)["inputs"]:
        header, rows = read_csv(CASES / name / entry["file"])
        folder = root / "in" / entry["file"]
        folder.mkdir(parents=True, exist_ok=True)
        if entry.get("role") == "lookup":
            named = [part[entry["source"]] for part in parts if entry["source"] in part]
            if named:
                write_rows(folder / "table.csv", [header, *(rows[n - 1] for n in named[-1])])
            continue
        for index, part in enumerate(parts, first):
            path = folder / f"part-{index:04d}.csv"
            write_rows(path, [header, *(rows[n - 1] for n in part.get(entry["source"], []))])
            os.utime(path, (1_700_000_000 + index, 1_700_000_000 + index))


def value(text: object) -> object:
    """A value as the cases compare it: numbers by value, times in UTC, empty as NULL."""
    if text is None or text == "":
        return None
    if isinstance(text, bool):
        return str(text).lower()
    raw = str(text)
    try:
        return Decimal(raw).normalize()
    except InvalidOperation:
        pass
    try:
        moment = datetime.fromisoformat(raw)
    except ValueError:
        return raw
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def written_rows(root: Path, columns: list[str]) -> Counter[Row]:
    rows: Counter[Row] = Counter()
    for path in (root / "out").glob("*.json"):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            rows[tuple(value(record.get(column)) for column in columns)] += 1
    return rows


def table_rows(session: SparkSession, root: Path, columns: list[str]) -> Counter[Row]:
    table = session.read.format("delta").load(str(root / "out")).select(*columns)
    return Counter(tuple(value(cell) for cell in row) for row in table.collect())


def check(session: SparkSession, root: Path, compiled: Compiled, expected: Expectation) -> None:
    header, rows = read_csv(expected.file)
    assert compiled.plan is not None
    (sink,) = compiled.plan.queries[0].sinks
    assert [column.name for column in sink.columns] == header
    wanted = Counter(tuple(value(cell) for cell in row) for row in rows)
    if expected.kind == "append":
        assert written_rows(root, header) == wanted
        return
    assert table_rows(session, root, header) == wanted
    if expected.kind == "upsert":
        assert set(sink.primary_key) == set(expected.key)


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_refused(name: str, tmp_path: Path) -> None:
    compiled = compile_case(name, tmp_path)
    assert compiled.plan is None
    assert NOT_YET[name] in {d.code.name for d in compiled.diagnostics if d.is_error}


@pytest.mark.parametrize("name", RUN)
def test_sql_and_yaml_give_the_same_plan(name: str, tmp_path: Path) -> None:
    sql = compile_case(name, tmp_path / "sql")
    assert sql.plan is not None, render_all(sql.diagnostics)
    if (CASES / name / "pipeline.yml").exists():
        twin = compile_case(name, tmp_path / "yml", "pipeline.yml")
        assert twin.plan is not None, render_all(twin.diagnostics)
        assert to_json(twin.plan).replace("/yml/", "/sql/") == to_json(sql.plan)


def _one_by_one() -> list[Any]:
    """Each case in each way; in `make test` they run side by side, in `test_cases_together.py`.

    A lookup sees the table of the moment, so these cases run on their own in any case.
    """
    ways = ("whole", "spread", "resumed")
    every = [(name, i, way) for name in RUN for i in range(len(expectations(name))) for way in ways]
    return [pytest.param(*one, marks=() if looks_up(one[0]) else pytest.mark.soak) for one in every]


@pytest.mark.parametrize(("name", "number", "way"), _one_by_one())
def test_case(session: SparkSession, tmp_path: Path, name: str, number: int, way: str) -> None:
    expected = expectations(name)[number]
    compiled = compile_case(name, tmp_path)
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    parts = batches(name, 1 if way == "whole" else None)
    on_end: Literal["close", "leave_open"] = "close" if expected.end_of_input == "close" else "leave_open"
    half = len(parts) // 2 if way == "resumed" else 0
    # The content of a lookup table is that of the moment, so each batch is a run of its own.
    stops = list(range(1, len(parts))) if looks_up(name) else [half] if half else []
    for first, end in pairwise([0, *stops, len(parts)]):
        lay_out(name, tmp_path, parts[first:end], first)
        last = end == len(parts)
        report = run(compiled.plan, tmp_path, session=session, on_end=on_end if last else "leave_open")
        assert not any(query.failure for query in report.queries)
    check(session, tmp_path, compiled, expected)


@pytest.mark.parametrize(
    ("name", "number"),
    [(name, i) for name in RUN for i, found in enumerate(expectations(name)) if found.changes is not None],
)
def test_changes(session: SparkSession, tmp_path: Path, name: str, number: int) -> None:
    """Batch by batch into a sink that keeps the changes as they come."""
    path = expectations(name)[number].changes
    assert path is not None
    header, rows = read_csv(path)
    compiled = compile_case(name, tmp_path)
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    (query,) = compiled.plan.queries
    sinks = tuple(replace(sink, connector="memory", options={}) for sink in query.sinks)
    plan = replace(compiled.plan, queries=(replace(query, sinks=sinks),))
    ROWS.clear()
    seen: Counter[Row] = Counter()
    for batch, part in enumerate(batches(name, 1), 1):
        before = len(ROWS.get("out", ()))
        lay_out(name, tmp_path, [part], batch)
        assert not any(q.failure for q in run(plan, tmp_path, session=session).queries)
        for row in ROWS["out"][before:]:
            cells = {**row.asDict(), "batch": batch, "op": _told_apart(row[OP_COLUMN])}
            seen[tuple(value(cells[column]) for column in header)] += 1
    op = header.index("op")
    told = [[_told_apart(cell) if i == op else cell for i, cell in enumerate(row)] for row in rows]
    assert seen == Counter(tuple(value(cell) for cell in row) for row in told)


def _told_apart(op: str) -> str:
    """Spark does not say whether it had a group before, and a sink by key writes both alike."""
    return "+U" if op == "+I" else op

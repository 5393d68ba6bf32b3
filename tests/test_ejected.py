"""Ejected programs: they give what headrace gives, and are refused where they could not."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from compiling import compile_at
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from test_cases import (
    CASES,
    RUN,
    batches,
    check,
    compile_case,
    expectations,
    lay_out,
    load_case,
    read_csv,
    write_rows,
)

from compiler.compile import Compiled
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.emit.program import to_pyspark
from compiler.jobplan.model import JobPlan, Watermark
from runtime.jobs.runner import run

# One of each kind of operator; a case of each is enough.
EJECTED = (
    "01_tumble_assign",
    "06_cumulate_sum",
    "09_session_partitioned",
    "12_window_rollup",
    "13_cascading_windows",
    "17_window_join_full",
    "18_interval_join",
)

SHOP = {
    "headrace.yml": "name: shop\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n",
    "seeds/regions.csv": "code,name\nn,North\ns,South\n",
    "all.sql": """\
CREATE SOURCE orders (
  id BIGINT NOT NULL, region STRING, price DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'csv', 'csv.header' = 'true',
  max_files_per_epoch = 1);
CREATE MODEL named AS
SELECT o.id, o.price, o.ts, r.name AS region FROM orders o LEFT JOIN regions r ON o.region = r.code;
CREATE MODEL per_region AS
SELECT window_start, window_end, region, count(*) AS orders, sum(price) AS total
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, region;
CREATE MODEL all_in_five AS
SELECT window_start, window_end, max(price) AS most
FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTES)
GROUP BY window_start, window_end;
CREATE SINK everything WITH (connector = 'filesystem', path = 'out/everything', format = 'json')
AS SELECT * FROM named;
CREATE SINK dear WITH (connector = 'filesystem', path = 'out/dear', format = 'json')
AS SELECT id, price FROM named WHERE price > 15;
CREATE SINK per_region_out WITH (connector = 'filesystem', path = 'out/per_region', format = 'json')
AS SELECT * FROM per_region;
CREATE SINK five WITH (connector = 'filesystem', path = 'out/five', format = 'json')
AS SELECT * FROM all_in_five;
""",
}


def started(program: str, root: Path, session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The program's queries, in a session that stands for its own."""
    assert "headrace" not in {line.split()[1] for line in program.splitlines() if line.startswith("from ")}
    file = root / "ejected.py"
    file.write_text(program, encoding="utf-8")
    monkeypatch.setattr("sys.argv", [str(file), str(root), str(root / "checkpoints")])
    names = runpy.run_path(str(file), run_name="ejected")
    spark = session.newSession()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert "enableSourceEvolution" in program
    return [function(spark) for name, function in names.items() if name.startswith("query_")]


def finish(queries: list[StreamingQuery]) -> None:
    for query in queries:
        query.awaitTermination()
        assert query.exception() is None


def plan_of(compiled: Compiled) -> JobPlan:
    assert compiled.plan is not None
    return compiled.plan


def lay_out_the_end(name: str, root: Path, compiled: Compiled) -> None:
    """A row of each input that closes all that is open: a program has no other end of input."""
    times = {
        op.source: op.column
        for query in plan_of(compiled).queries
        for op in query.operators
        if isinstance(op, Watermark)
    }
    for entry in load_case(name)["inputs"]:
        header, rows = read_csv(CASES / name / entry["file"])
        time = header.index(times[entry["source"]])
        path = root / "in" / entry["file"] / "part-9999.csv"
        write_rows(path, [header, [*rows[0][:time], "2099-01-01 00:00:00", *rows[0][time + 1 :]]])
        os.utime(path, (1_700_009_999, 1_700_009_999))


def program_of(compiled: Compiled) -> str:
    assert compiled.plan is not None
    return to_pyspark(compiled.plan, compiled.logical.places)


@pytest.mark.parametrize("name", RUN)
def test_every_case_is_ejected_or_refused(name: str, tmp_path: Path) -> None:
    compiled = compile_case(name, tmp_path)
    refused: tuple[Diagnostic, ...] = ()
    try:
        compile(program_of(compiled), name, "exec")
    except DiagnosticError as error:
        refused = error.diagnostics
    assert not refused or name not in EJECTED
    assert all(found.code.name == "HR620" and "`" in found.message for found in refused)


def shop(root: Path, files: Mapping[str, str] = SHOP) -> Compiled:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "in").mkdir()
    for part in range(3):
        rows = [
            f"{part * 4 + n},{'ns'[n % 2] if n < 3 else 'x'},{5.5 * n},2026-01-01 00:{part * 3 + n:02}:00"
            for n in range(4)
        ]
        file = root / f"in/part-{part}.csv"
        file.write_text("id,region,price,ts\n" + "\n".join(rows) + "\n")
        # Spark takes files in the order of their times.
        os.utime(file, (1_700_000_000 + part, 1_700_000_000 + part))
    return compile_at(root)


@contextmanager
def kept_conf(session: SparkSession, program: str) -> Iterator[None]:
    """Gives the session back as it was: the program sets what it finds running."""
    names = [*re.findall(r'\.config\(\s*"([^"]+)"', program), "spark.sql.shuffle.partitions"]
    before = {name: session.conf.get(name, None) for name in names if session.conf.isModifiable(name)}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, value)


def rows_of(root: Path) -> dict[str, Counter[str]]:
    return {
        sink.name: Counter(
            json.dumps(json.loads(line), sort_keys=True)
            for file in sink.glob("*.json")
            for line in file.read_text().splitlines()
        )
        for sink in sorted((root / "out").iterdir())
    }


# Rows of twelve windows are put together by panes, those of five are not.
@pytest.mark.parametrize("minutes", ["5", "12"])
def test_fan_out_and_merged_aggregates_give_the_rows_of_headrace(
    minutes: str, session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {**SHOP, "all.sql": SHOP["all.sql"].replace("'5' MINUTES", f"'{minutes}' MINUTES")}
    ours, theirs = shop(tmp_path / "ours", files), shop(tmp_path / "theirs", files)
    assert ours.plan is not None
    kinds = {op.op for query in ours.plan.queries for op in query.operators}
    assert "fused_aggregate" in kinds
    assert ("panes" in kinds) is (minutes == "12")
    assert not any(q.failure for q in run(ours.plan, tmp_path / "ours", session=session).queries)
    wanted = rows_of(tmp_path / "ours")
    assert all(wanted.values())
    program, root = program_of(theirs), tmp_path / "theirs"
    finish(started(program, root, session, monkeypatch))
    assert rows_of(root) == wanted
    # The last epoch of each query is run anew, as after a crash between sinks and commit: nothing is doubled.
    for query in (root / "checkpoints").iterdir():
        last = max((f for f in (query / "commits").iterdir() if f.name.isdigit()), key=lambda f: int(f.name))
        last.unlink()
        (query / f"commits/.{last.name}.crc").unlink(missing_ok=True)
    with kept_conf(session, program):
        runpy.run_path(str(root / "ejected.py"), run_name="__main__")
    assert rows_of(root) == wanted


def test_cases_give_their_rows(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[StreamingQuery] = []
    compiled: dict[str, Compiled] = {}
    wanted = {}
    for name in EJECTED:
        found = expectations(name)
        wanted[name] = next((e for e in found if e.end_of_input != "close"), found[0])
        compiled[name] = compile_case(name, tmp_path / name)
        lay_out(name, tmp_path / name, batches(name, 2), 0)
        if wanted[name].end_of_input == "close" and any(q.state for q in plan_of(compiled[name]).queries):
            lay_out_the_end(name, tmp_path / name, compiled[name])
        running += started(program_of(compiled[name]), tmp_path / name, session, monkeypatch)
    finish(running)
    for name in EJECTED:
        check(session, tmp_path / name, compiled[name], wanted[name])


def test_refused(tmp_path: Path) -> None:
    compiled = compile_case("26_match_price_dip", tmp_path)
    with pytest.raises(DiagnosticError) as caught:
        program_of(compiled)
    (found,) = caught.value.diagnostics
    assert found.code.name == "HR620"
    assert "(match) cannot be ejected" in found.message
    assert found.span is not None


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_program_of_its_own_process_writes_each_sink_once(session: SparkSession, tmp_path: Path) -> None:
    """As a user runs it: plain PySpark that fetches the jars of Delta by itself; and once again."""
    to_delta = (
        SHOP["all.sql"]
        .replace(", format = 'json')\nAS", ")\nAS")
        .replace("filesystem', path = 'out", "delta', path = 'out")
    )
    compiled = shop(tmp_path, {**SHOP, "all.sql": to_delta})
    assert "format = 'json'" not in to_delta
    file = tmp_path / "ejected.py"
    file.write_text(program_of(compiled), encoding="utf-8")
    for _ in range(2):
        command = [sys.executable, str(file), str(tmp_path), str(tmp_path / "checkpoints")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False, cwd="/")
        assert done.returncode == 0, done.stderr[-3000:]
    ours = shop(tmp_path / "ours", {**SHOP, "all.sql": to_delta})
    assert not any(q.failure for q in run(plan_of(ours), tmp_path / "ours", session=session).queries)
    for sink in ("everything", "dear", "per_region", "five"):
        theirs, wanted = (
            Counter(map(str, session.read.format("delta").load(str(root / "out" / sink)).collect()))
            for root in (tmp_path, tmp_path / "ours")
        )
        assert theirs == wanted
        assert wanted

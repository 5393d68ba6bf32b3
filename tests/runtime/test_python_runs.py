"""Python functions in a run that is taken up again: in expressions, and with state of their own."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path
from typing import Any

from compiling import plan_at
from pyspark.sql import SparkSession

from compiler.jobplan.model import JobPlan
from runtime.jobs.report import RunReport
from runtime.jobs.runner import run

PIPELINE = """
CREATE SOURCE words (who STRING, at TIMESTAMP(3), word STRING, n INT,
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1);

CREATE FUNCTION loud AS 'texts.shout' LANGUAGE PYTHON;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS
SELECT who, since, loud(last_word) AS last_word, doubled(total) AS total, plain(total) AS label
FROM TABLE(Silence(TABLE words PARTITION BY who, seconds => 10));
"""
TEXTS = """
import headrace
from helpers import MARK


@headrace.scalar
def shout(text: str) -> str:
    return text.str.upper() + MARK


@headrace.scalar
def doubled(number: int) -> int:
    return number * 2


@headrace.scalar(vectorized=False)
def plain(number: int, unit: str = "words") -> str:
    return f"{number} {unit}"
"""
SILENCE = '''
from datetime import timedelta

import headrace


class Silence(headrace.ProcessFunction):
    """Tells what a person said, once nothing more has come for some seconds."""

    input = "at TIMESTAMP, word STRING, n BIGINT"
    output = "since TIMESTAMP, last_word STRING, total BIGINT"
    event_time = "since"
    total = headrace.value_state("BIGINT")
    last = headrace.map_state("STRING", "STRING")

    def __init__(self, seconds):
        self.seconds = seconds

    def process(self, row, ctx):
        self.total.set((self.total.get() or 0) + row.n)
        self.last.put("word", row.word)
        ctx.cancel_event_timers()
        ctx.at_event_time(row.at + timedelta(seconds=self.seconds))

    def on_event_time(self, time, ctx):
        yield {"since": time, "last_word": self.last.get("word"), "total": self.total.get()}
        self.total.clear()
        self.last.clear()
'''


def compiled(root: Path) -> JobPlan:
    return plan_at(root)


def lay(root: Path, number: int, *rows: tuple[str, int, str, int]) -> None:
    path = root / "in" / f"{number}.json"
    path.parent.mkdir(exist_ok=True)
    lines = [
        json.dumps({"who": who, "at": f"2024-01-01 00:00:{at:02d}", "word": word, "n": n})
        for who, at, word, n in rows
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def rows(root: Path) -> list[dict[str, Any]]:
    lines = [line for path in (root / "out").glob("*.json") for line in path.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda row: (row["since"], row["who"]))


def ok(report: RunReport) -> None:
    assert not [query.failure for query in report.queries if query.failure]


def test_state_of_functions_is_taken_up_by_the_next_run(tmp_path: Path, session: SparkSession) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "headrace.yml").write_text(
        "name: talk\nversion: '1'\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    (tmp_path / "talk.sql").write_text(PIPELINE)
    (tmp_path / "functions" / "helpers.py").write_text("MARK = '!'\n")
    (tmp_path / "functions" / "texts.py").write_text(TEXTS)
    (tmp_path / "functions" / "silence.py").write_text(SILENCE)
    lay(tmp_path, 1, ("ann", 1, "so", 1), ("bob", 2, "hm", 5))
    lay(tmp_path, 2, ("ann", 5, "well", 2))
    ok(run(compiled(tmp_path), tmp_path, session=session, on_end="leave_open"))
    assert rows(tmp_path) == []
    # Mended in between: state goes on, and the new code is what runs.
    (tmp_path / "functions" / "helpers.py").write_text("MARK = '?'\n")
    lay(tmp_path, 3, ("bob", 30, "bye", 1))
    ok(run(compiled(tmp_path), tmp_path, session=session, on_end="close"))
    # Bob spoke again before the watermark had reached the time at which he would have been silent.
    assert [tuple(row.values()) for row in rows(tmp_path)] == [
        ("ann", "2024-01-01T00:00:15.000Z", "WELL?", 6, "3 words"),
        ("bob", "2024-01-01T00:00:40.000Z", "BYE?", 12, "6 words"),
    ]
    kept = sorted(path.name for path in (tmp_path / ".headrace").rglob("functions/*.py"))
    assert kept == sorted(["helpers.py", "silence.py", "texts.py"] * 2)


def test_a_function_that_fails_is_named(tmp_path: Path, session: SparkSession) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "headrace.yml").write_text(
        "name: talk\nversion: '1'\ntargets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    (tmp_path / "talk.sql").write_text(PIPELINE)
    (tmp_path / "functions" / "helpers.py").write_text("MARK = '!'\n")
    (tmp_path / "functions" / "texts.py").write_text(TEXTS)
    broken = textwrap.dedent(SILENCE).replace("self.last.put", "self.lost.put")
    (tmp_path / "functions" / "silence.py").write_text(broken)
    lay(tmp_path, 1, ("ann", 1, "so", 1))
    report = run(compiled(tmp_path), tmp_path, session=session, on_end="leave_open")
    (failure,) = [query.failure for query in report.queries if query.failure]
    assert failure.message == "query out failed in out.process"
    assert failure.cause == "Silence: AttributeError: 'Silence' object has no attribute 'lost'"


PHRASES = """
CREATE SOURCE words (who STRING, at TIMESTAMP(3), word STRING, n INT,
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json', max_files_per_epoch = 1);

CREATE MODEL spoken WITH (allow_unbounded = true) AS
SELECT who, concat_ws(', ', phrase(word), date_format(newest(at), 'HH:mm:ss')) AS phrase
FROM words GROUP BY who;

CREATE SINK out (PRIMARY KEY (who) NOT ENFORCED) WITH (connector = 'delta', path = 'out') AS
SELECT * FROM spoken;
"""
PHRASE = """
import headrace


@headrace.aggregate(vectorized=False)
def phrase(word: str) -> str:
    return " ".join(word)


@headrace.aggregate
def newest(at: "TIMESTAMP(3)") -> "TIMESTAMP(3)":
    return at.max()
"""


def test_rows_of_groups_outlive_the_code_that_is_called_over_them(
    tmp_path: Path, session: SparkSession
) -> None:
    functions = tmp_path / "functions"
    functions.mkdir()
    (tmp_path / "headrace.yml").write_text(
        "name: talk\nversion: '1'\ntimezone: Asia/Tokyo\n"
        "targets: {dev: {master: 'local[2]', parallelism: 2}}\n"
    )
    (tmp_path / "talk.sql").write_text(PHRASES)

    def phrases() -> dict[str, str]:
        return {
            row.who: row.phrase for row in session.read.format("delta").load(str(tmp_path / "out")).collect()
        }

    def go(text: str) -> RunReport:
        (functions / "texts.py").write_text(text)
        return run(compiled(tmp_path), tmp_path, session=session)

    lay(tmp_path, 1, ("ann", 5, "well", 1), ("bob", 2, "hm", 1))
    # Without a window nothing is too late.
    lay(tmp_path, 2, ("ann", 1, "so", 1))
    ok(go(PHRASE))
    assert phrases() == {"ann": "so well, 00:00:05", "bob": "hm, 00:00:02"}
    lay(tmp_path, 3, ("ann", 3, "then", 1))
    ok(go(PHRASE.replace('" "', '"-"')))
    assert phrases() == {"ann": "so-then-well, 00:00:05", "bob": "hm, 00:00:02"}
    lay(tmp_path, 4, ("ann", 6, "bye", 1))
    (failure,) = go(PHRASE.replace('" ".join(word)', "str(1 / 0)")).failures
    assert failure.message == "query out failed in texts.phrase"
    assert failure.cause == "ZeroDivisionError: division by zero"

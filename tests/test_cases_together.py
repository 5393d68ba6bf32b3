"""Every case straight through, over many epochs, and killed amid them and started again.

The queries of many cases run at once, so that one kill and one restart serve them all. Which epochs are in
flight then is chance; the seed is told when a test fails.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from test_cases import RUN, Expectation, batches, check, compile_case, expectations, lay_out, looks_up

from compiler.compile import Compiled
from compiler.diagnostics.render import render_all
from compiler.jobplan.codec import to_json
from compiler.jobplan.model import JobPlan, Query
from runtime.jobs.runner import run

HERE = Path(__file__).parent
TOGETHER = 6


def runs_by_end() -> list[tuple[str, list[tuple[str, int]]]]:
    """What ends alike, in groups that two cores can run at once."""
    found = []
    for end in ("close", "leave_open"):
        names = [
            (name, number)
            for name in RUN
            # A lookup sees the table of the moment, and here all batches are laid out before the first.
            if not looks_up(name)
            for number, expected in enumerate(expectations(name))
            if expected.end_of_input == end
        ]
        # Those of one kind stand together by name; spread out, they do not all need Python at once.
        groups = -(-len(names) // TOGETHER)
        found += [(end, names[start::groups]) for start in range(groups)]
    return found


def named(query: Query, case: str) -> Query:
    """The query under names of its own, so that cases do not meet in one state root."""
    sinks = tuple(replace(sink, uid=f"{case}-{sink.uid}") for sink in query.sinks)
    return replace(query, uid=f"{case}-{query.uid}", sinks=sinks)


def child(root: Path, end: str, epochs: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HERE / "killed_run.py"), str(root), str(root / "plan.json"), end, str(epochs)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )


@dataclass(frozen=True)
class Together:
    """Cases laid out side by side, and a plan that runs them all."""

    cases: tuple[tuple[Path, Compiled, Expectation], ...]
    plan: JobPlan
    epochs: int

    def check(self, session: SparkSession, told: str = "") -> None:
        """Compares what each case has written."""
        for root, case, expected in self.cases:
            try:
                check(session, root, case, expected)
            except AssertionError as error:
                raise AssertionError(f"{root.name} {told}") from error


def lay_out_all(folder: Path, names: list[tuple[str, int]], *, spread: bool) -> Together:
    cases: list[tuple[Path, Compiled, Expectation]] = []
    queries: list[Query] = []
    epochs = 0
    for name, number in names:
        root = folder / f"{name}-{number}"
        found = compile_case(name, root)
        assert found.plan is not None, render_all(found.diagnostics)
        parts = batches(name, spread=spread)
        lay_out(name, root, parts, 0)
        epochs += len(parts)
        cases.append((root, found, expectations(name)[number]))
        queries += [named(query, f"{name}-{number}") for query in found.plan.queries]
    plan = cases[0][1].plan
    assert plan is not None
    return Together(tuple(cases), replace(plan, queries=tuple(queries)), epochs)


groups = pytest.mark.parametrize(
    ("end", "names"), runs_by_end(), ids=[f"{end}-{i}" for i, (end, _) in enumerate(runs_by_end())]
)


@pytest.mark.parametrize("spread", [False, True], ids=["straight", "spread"])
@groups
def test_undisturbed(
    session: SparkSession, tmp_path: Path, end: str, names: list[tuple[str, int]], spread: bool
) -> None:
    together = lay_out_all(tmp_path, names, spread=spread)
    on_end: Literal["close", "leave_open"] = "close" if end == "close" else "leave_open"
    report = run(together.plan, tmp_path, session=session, on_end=on_end)
    assert not report.failures
    together.check(session)


@groups
def test_killed_and_started_again(
    session: SparkSession, tmp_path: Path, end: str, names: list[tuple[str, int]]
) -> None:
    together = lay_out_all(tmp_path, names, spread=True)
    (tmp_path / "plan.json").write_text(to_json(together.plan), encoding="utf-8")
    seed = int(os.environ.get("HEADRACE_SEED") or random.SystemRandom().randrange(10**6))
    kill_after = random.Random(seed).randint(1, max(1, together.epochs - 1))
    told = f"seed {seed}: killed after {kill_after} of {together.epochs} epochs"
    first = child(tmp_path, end, kill_after)
    assert first.returncode == -signal.SIGKILL, told + first.stderr
    second = child(tmp_path, end, 0)
    assert second.returncode == 0, told + second.stderr
    together.check(session, told)

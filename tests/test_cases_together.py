"""Every case straight through, over many epochs, and killed amid them and started again.

The queries of many cases run at once, so that one kill and one restart serve them all. Which epochs are in
flight then is chance; the seed is told when a test fails. Over many epochs the expressions of each case are
compiled, as those of users are; else they are interpreted. `make soak` runs each case on its own, with one
row in each epoch.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from test_cases import (
    RUN,
    Expectation,
    batches,
    check,
    compile_case,
    expectations,
    lay_out,
    lay_out_functions,
    load_case,
    looks_up,
)

from compiler.compile import Compiled
from compiler.diagnostics.render import render_all
from compiler.jobplan.codec import to_json
from compiler.jobplan.model import JobPlan, Query
from runtime.jobs.runner import run

HERE = Path(__file__).parent
End = Literal["close", "leave_open"]
TOGETHER = 10
# So that rows meet the state that two epochs before them left, and the watermark of either.
EPOCHS = 3


# Ten cases at once, beside the other worker's tests.
pytestmark = pytest.mark.timeout(900)

Run = tuple[str, int]


def grouped(runs: list[Run]) -> list[tuple[End, list[Run]]]:
    """Runs that end alike, in groups: each kill takes a JVM of its own."""
    found: list[tuple[End, list[Run]]] = []
    for end in get_args(End):
        alike = [(name, number) for name, number in runs if expectations(name)[number].end_of_input == end]
        # Those of one kind stand together by name; spread out, they do not all need Python at once.
        groups = -(-len(alike) // TOGETHER)
        found += [(end, alike[start::groups]) for start in range(groups)]
    return found


# A lookup sees the table of the moment, and here all batches are laid out before the first.
EVERY = [(name, number) for name in RUN if not looks_up(name) for number in range(len(expectations(name)))]
# Where a case says how its rows arrive, the run over several epochs is this one.
STRAIGHT = [(name, number) for name, number in EVERY if batches(name, 1) != batches(name, EPOCHS)]


def in_groups(runs: list[Run]) -> pytest.MarkDecorator:
    groups = grouped(runs)
    return pytest.mark.parametrize(
        ("end", "names"), groups, ids=[f"{end}-{i}" for i, (end, _) in enumerate(groups)]
    )


def named(query: Query, case: str) -> Query:
    """The query under names of its own, so that cases do not meet in one state root."""
    sinks = tuple(replace(sink, uid=f"{case}-{sink.uid}") for sink in query.sinks)
    return replace(query, uid=f"{case}-{query.uid}", sinks=sinks)


def killed_run(root: Path, end: End, epochs: int) -> subprocess.CompletedProcess[str]:
    """Runs the plan in another process, which kills itself and its JVM after so many epochs."""
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
        """Compares what each case has written.

        A kill between Spark's log of files and its log of offsets makes one epoch of two (4.2.0). Nothing is
        lost by it, but a case that says which rows arrive together is then another case.
        """
        for root, case, expected in self.cases:
            if told and "arrival" in load_case(root.name.rpartition("-")[0]) and has_merged_epochs(root):
                continue
            try:
                check(session, root, case, expected)
            except AssertionError as error:
                raise AssertionError(f"{root.name} {told}") from error


def has_merged_epochs(root: Path) -> bool:
    """Whether an epoch of a case's queries has taken more than one file of a source."""
    for offsets in (root.parent / ".headrace" / "state" / "queries").glob(
        f"{root.name}-*/checkpoint/offsets"
    ):
        epochs = sorted(
            (path for path in offsets.iterdir() if path.name.isdigit()), key=lambda p: int(p.name)
        )
        before: dict[int, int] = {}
        for path in sorted(epochs, key=lambda path: int(path.name)):
            for place, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
                offset = json.loads(line).get("logOffset") if '"logOffset"' in line else None
                if offset is None:
                    continue
                if offset > before.get(place, -1) + 1:
                    return True
                before[place] = offset
    return False


def lay_out_all(folder: Path, names: list[Run], spread_over: int) -> Together:
    cases: list[tuple[Path, Compiled, Expectation]] = []
    queries: list[Query] = []
    epochs = 0
    for name, number in names:
        root = folder / f"{name}-{number}"
        found = compile_case(name, root)
        lay_out_functions(name, folder)
        assert found.plan is not None, render_all(found.diagnostics)
        parts = batches(name, spread_over)
        lay_out(name, root, parts, 0)
        epochs += len(parts)
        cases.append((root, found, expectations(name)[number]))
        queries += [named(query, f"{name}-{number}") for query in found.plan.queries]
    plans = [found.plan for _, found, _ in cases if found.plan is not None]
    functions = {plan.functions for plan in plans if plan.functions is not None}
    assert len(functions) <= 1, "a plan has one folder of functions"
    plan = replace(plans[0], queries=tuple(queries), functions=next(iter(functions), None))
    return Together(tuple(cases), plan, epochs)


def check_undisturbed(together: Together, session: SparkSession, root: Path, end: End) -> None:
    report = run(together.plan, root, session=session, on_end=end)
    assert not report.failures
    together.check(session)


@in_groups(STRAIGHT)
def test_straight(interpreted: SparkSession, tmp_path: Path, end: End, names: list[Run]) -> None:
    check_undisturbed(lay_out_all(tmp_path, names, 1), interpreted, tmp_path, end)


@in_groups(EVERY)
def test_spread(session: SparkSession, tmp_path: Path, end: End, names: list[Run]) -> None:
    check_undisturbed(lay_out_all(tmp_path, names, EPOCHS), session, tmp_path, end)


@in_groups(EVERY)
def test_killed_and_started_again(
    interpreted: SparkSession, tmp_path: Path, end: End, names: list[Run]
) -> None:
    together = lay_out_all(tmp_path, names, EPOCHS)
    (tmp_path / "plan.json").write_text(to_json(together.plan), encoding="utf-8")
    seed = int(os.environ.get("HEADRACE_SEED") or random.SystemRandom().randrange(10**6))
    kill_after = random.Random(seed).randint(1, max(1, together.epochs - 1))
    told = f"seed {seed}: killed after {kill_after} of {together.epochs} epochs"
    killed = killed_run(tmp_path, end, kill_after)
    assert killed.returncode == -signal.SIGKILL, told + killed.stderr
    report = run(together.plan, tmp_path, session=interpreted, on_end=end)
    assert not report.failures, told
    together.check(interpreted, told)

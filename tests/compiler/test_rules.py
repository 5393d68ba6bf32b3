"""What each optimizer rule does: `rules/<rule>.sql` compiled without the rule, and with it.

All other rules are on in both. Run with `--update` to write the expectations anew, and read the diff.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.explain.tree import explain_text
from compiler.jobplan import model as job
from compiler.optimize import NAMES
from compiler.project.load import load_project

RULES = Path(__file__).parent / "rules"
BASE = Path(__file__).parent / "plans" / "_base"


def explained(path: Path, root: Path, without: Collection[str]) -> str:
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(BASE, root)
    (root / "models").mkdir()
    shutil.copy(path, root / "models" / path.name)
    reporter = Reporter()
    project = load_project(root, reporter=reporter)
    assert project is not None, render_all(reporter.all())
    plan = compile_project(project, reporter, without=without).plan
    assert plan is not None, render_all(reporter.all())
    ranks = (
        f"{op.uid} numbers its rows: {op.rank}\n" if op.rank else f"{op.uid} does not number its rows\n"
        for query in plan.queries
        for op in query.operators
        if isinstance(op, job.TopN)
    )
    return explain_text(plan) + "".join(ranks)


def test_each_rule_has_a_case() -> None:
    assert {path.stem for path in RULES.glob("*.sql")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_rule(name: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    path = RULES / f"{name}.sql"
    before = explained(path, tmp_path / "project", (name,))
    after = explained(path, tmp_path / "project", ())
    assert before != after
    golden(path.with_suffix(".before.txt"), before)
    golden(path.with_suffix(".after.txt"), after)

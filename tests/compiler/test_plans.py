"""Compile cases: a file of models and sinks, and what the compiler makes of it.

`plans/<name>.sql` or `.yml` is compiled over the sources and seeds of `plans/_base`; `plans/<name>.txt`
holds the diagnostics and the plan. Where both spellings exist they must give the same job plan.
Run with `--update` to write the expectations anew, and read the diff.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.compile import Compiled, compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.explain.tree import explain_text
from compiler.jobplan.codec import plan_from_json, to_json
from compiler.project.load import load_project

PLANS = Path(__file__).parent / "plans"
CASES = sorted(path for path in PLANS.iterdir() if path.suffix in (".sql", ".yml"))


def compile_file(path: Path, tmp_path: Path) -> Compiled:
    """Compiles one case in a project of its own."""
    root = tmp_path / path.suffix[1:]
    shutil.copytree(PLANS / "_base", root)
    (root / "models").mkdir()
    shutil.copy(path, root / "models" / path.name)
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter)
    assert project is not None, render_all(reporter.all())
    return compile_project(project, reporter)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_plan(path: Path, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    compiled = compile_file(path, tmp_path)
    found = [d for d in compiled.diagnostics if d.code.name != "HR219"]
    text = render_all(found) if found else ""
    if compiled.plan is not None:
        text += explain_text(compiled.plan)
        assert plan_from_json(to_json(compiled.plan)) == compiled.plan
    if path.with_suffix(".yml").exists() and path.suffix == ".sql":
        twin = compile_file(path.with_suffix(".yml"), tmp_path)
        assert twin.plan is not None
        assert compiled.plan is not None
        assert to_json(twin.plan) == to_json(compiled.plan)
    # A twin has been compared with its SQL already, and shares its golden.
    if path.suffix == ".sql" or not path.with_suffix(".sql").exists():
        golden(path.with_suffix(".txt"), text)

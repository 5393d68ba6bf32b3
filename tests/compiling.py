"""Compiles the project in a folder, for tests that have no use for one that does not compile."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from compiler.compile import Compiled, compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.jobplan.model import JobPlan, Manifest
from compiler.project.load import load_project


def compile_at(
    root: Path, manifest: Manifest | None = None, without: Collection[str] = (), *, rechain: bool = False
) -> Compiled:
    """What the compiler makes of a project that can be read, its findings included."""
    reporter = Reporter()
    project = load_project(root, reporter=reporter, environment={})
    assert project is not None, render_all(reporter.all())
    return compile_project(project, reporter, manifest, without, rechain=rechain)


def plan_at(root: Path, manifest: Manifest | None = None, without: Collection[str] = ()) -> JobPlan:
    """The job plan of a project without mistakes."""
    compiled = compile_at(root, manifest, without)
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    return compiled.plan

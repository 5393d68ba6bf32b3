"""YAML files: what they become, and what is said of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from declaration_text import declaration_text

from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.diagnostics.source import SourceFile
from compiler.project.assemble import assemble
from compiler.project.config import default_config
from compiler.syntax.declarations import Project
from compiler.syntax.parsed import Scope
from compiler.syntax.yaml_models import read_yaml

DATA = Path(__file__).parent / "data"


def read(path: str, text: str) -> tuple[Project, Reporter]:
    reporter = Reporter()
    scope = Scope(SourceFile(path, text), {"min_price": "10", "name": "bid"}, reporter)
    read_yaml(scope)
    config = default_config("x", None, {}, reporter)
    return assemble(Path("/"), config, [scope], [], reporter), reporter


@pytest.mark.parametrize("path", sorted((DATA / "yaml").glob("*.yml")), ids=lambda p: p.stem)
def test_declarations(path: Path, golden: Callable[[Path, str], None]) -> None:
    project, reporter = read(path.name, path.read_text(encoding="utf-8"))
    assert render_all(reporter.all()) == ""
    golden(path.with_suffix(".txt"), declaration_text(project))


@pytest.mark.parametrize("path", sorted((DATA / "bad_yaml").glob("*.yml")), ids=lambda p: p.stem)
def test_mistakes(path: Path, golden: Callable[[Path, str], None]) -> None:
    _, reporter = read(path.name, path.read_text(encoding="utf-8"))
    golden(path.with_suffix(".txt"), render_all(reporter.all()))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "- " * 5000,
        "a: " + "{a: " * 5000,
        "a: &a [*a]",
        "models: &m\n  - &x {<<: *x, name: a}\n",
        "sources: [&a {name: a, columns: &c {x: INT, <<: *c}, with: &w {a: *w}}]",
        "models: [{name: a, sql: !!binary aGVsbG8=}]",
        "models: !!python/object:os.system [x]",
        "? [a, b]\n: c\n",
    ],
)
def test_hostile_files_are_only_reported(text: str) -> None:
    _, reporter = read("x.yml", text)
    assert render_all(reporter.all())


def test_merged_anchors() -> None:
    text = (
        "sources:\n"
        "  - &base {name: a, columns: {x: INT}, with: {connector: kafka}}\n"
        "  - {<<: *base, name: b}\n"
    )
    project, reporter = read("x.yml", text)
    assert not reporter.all()
    assert [(s.name.value, len(s.columns)) for s in project.sources] == [("a", 1), ("b", 1)]

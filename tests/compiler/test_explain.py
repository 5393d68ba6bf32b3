"""The three graphs and what is drawn of them: goldens of one project, and what must hold of every plan."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from test_plans import CASES, compile_file

from bench.projects import make_project
from compiler.compile import Compiled, compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.explain.html import to_html
from compiler.explain.mermaid import to_mermaid
from compiler.explain.picture import Picture
from compiler.explain.pictures import pictures
from compiler.explain.text import to_text
from compiler.graphs.build import build_graphs
from compiler.graphs.model import LEVELS, Graphs, Level
from compiler.jobplan.codec import to_json
from compiler.project.load import load_project

FLIGHTS = Path(__file__).parents[2] / "pipelines/flights"
DATA = Path(__file__).parent / "data/explain"


def compiled(root: Path) -> Compiled:
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter)
    assert project is not None
    return compile_project(project, reporter)


def graphs_of(found: Compiled) -> Graphs:
    assert found.plan is not None
    return build_graphs(found.logical, found.groups, found.plan)


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Graphs:
    # Without the state of a run, which would say that queries are no longer provisional.
    root = tmp_path_factory.mktemp("explain") / "flights"
    shutil.copytree(FLIGHTS, root, ignore=shutil.ignore_patterns(".headrace", "target", "out", "data"))
    return graphs_of(compiled(root))


@pytest.mark.parametrize("level", LEVELS)
def test_levels_and_formats(flights: Graphs, level: Level, golden: Callable[[Path, str], None]) -> None:
    picture = next(picture for picture in pictures(flights) if picture.level == level)
    golden(DATA / f"{level}.txt", to_text(picture))
    golden(DATA / f"{level}.mermaid", to_mermaid(picture))
    one = Graphs(flights.version, flights.project, flights.target, **{level: getattr(flights, level)})
    golden(DATA / f"{level}.json", to_json(one))
    assert msgspec.json.decode(to_json(one), type=Graphs) == one


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_every_operator_is_drawn(path: Path, tmp_path: Path) -> None:
    """Each once in a job graph; in an execution plan once in each stage that runs it."""
    found = compile_file(path, tmp_path)
    if found.plan is None:
        return
    graphs = graphs_of(found)
    drawn = {picture.level: picture for picture in pictures(graphs)}
    assert graphs.job is not None
    assert graphs.execution is not None
    for query, panel, plan in zip(graphs.job.queries, drawn["job"].panels, found.plan.queries, strict=True):
        rows = Counter(row.id for box in panel.boxes for row in box.rows)
        wanted = [*(op.uid for op in plan.operators), *(f"sink:{sink.uid}" for sink in plan.sinks)]
        assert rows == Counter(wanted)
        assert {op.id for op in query.operators} == set(wanted)
        assert all(op.does for op in query.operators if op.kind not in ("aggregate", "model"))
        told = [fact.text for fact in panel.facts if fact.name == "state"]
        assert all(state.bound in text for state, text in zip(plan.state, told, strict=True))
    for query_, plan in zip(graphs.execution.queries, found.plan.queries, strict=True):
        staged = {uid for stage in query_.stages for uid in stage.operators}
        assert staged == {op.id for op in query_.operators}
        kept = [uid for stage in query_.stages for uid in stage.state]
        uids = {op.id: op.uid for op in plan.operators}
        assert sorted(kept) == sorted(uids[state.operator] for state in plan.state)
    for picture in drawn.values():
        check_lines(picture)


def check_lines(picture: Picture) -> None:
    text = to_text(picture)
    assert max(map(len, text.splitlines())) <= 160
    for panel in picture.panels:
        numbers = [row.number for box in panel.boxes for row in box.rows]
        assert numbers == list(range(1, len(numbers) + 1))
        boxes = {box.id for box in panel.boxes}
        assert all({arrow.source, arrow.target} <= boxes for arrow in panel.arrows)
    # In a flowchart, a link names nothing that is not declared.
    lines = to_mermaid(picture).splitlines()
    declared = {
        match[1] for line in lines if (match := re.match(r"\s*(?:subgraph )?(\w+)[\[(]", line)) is not None
    }
    links = [re.match(r"\s*(\w+) (?:-->|==>|-\.->)(?:\|\"[^\"]*\"\|)? (\w+)$", line) for line in lines]
    for line, link in zip(lines, links, strict=True):
        assert (link is not None) == (" -->" in line or " ==>" in line or " -.->" in line), line
        assert link is None or {link[1], link[2]} <= declared


def test_a_big_project_begins_with_a_summary(tmp_path: Path) -> None:
    make_project(tmp_path, 300)
    found = graphs_of(compiled(tmp_path))
    assert found.job is not None
    text = to_text(next(picture for picture in pictures(found) if picture.level == "job"))
    head, *summary = text.splitlines()[: len(found.job.queries) + 1]
    assert re.fullmatch(r"\S+, target dev: job graph of \d+ queries, \d+ sources, \d+ sinks", head)
    assert [line.split()[0] for line in summary] == [query.query.uid for query in found.job.queries]


def test_a_change_of_one_query_leaves_the_lines_of_the_others_alone(tmp_path: Path) -> None:
    shutil.copytree(FLIGHTS, tmp_path / "a", ignore=shutil.ignore_patterns(".headrace", "target", "out"))
    config = tmp_path / "a/headrace.yml"
    config.write_text(config.read_text() + "\noptimizer: {read_once: off}\n")
    before = to_text(pictures(graphs_of(compiled(tmp_path / "a")))[1])
    model = tmp_path / "a/models/departures_named.sql"
    model.write_text(model.read_text().rstrip() + "\nWHERE origin <> 'EWR'\n")
    after = to_text(pictures(graphs_of(compiled(tmp_path / "a")))[1])
    assert before != after
    assert before.split("\nquery ")[1] == after.split("\nquery ")[1]


def test_text_of_the_user_cannot_leave_the_page(flights: Graphs) -> None:
    drawn = pictures(flights)
    evil = msgspec.structs.replace(drawn[0], title="</script><script>alert(1)</script> %DATA%")
    page = to_html((evil, *drawn[1:]), "stream")
    assert "<script>alert(1)" not in page
    assert page.count("<script") == 3
    assert "\\u003c/script>\\u003cscript>alert(1)" in page

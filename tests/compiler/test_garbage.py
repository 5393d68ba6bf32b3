"""Whatever a file holds, reading it ends in declarations and diagnostics, never in an exception."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.diagnostics.source import SourceFile
from compiler.project.assemble import assemble
from compiler.project.config import ConfigReader
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import Scope
from compiler.syntax.statements import read_sql
from compiler.syntax.yaml_models import read_yaml

DATA = Path(__file__).parent / "data"
SQL = [p.read_text(encoding="utf-8") for p in sorted(DATA.glob("*/*.sql"))]
YAML = [p.read_text(encoding="utf-8") for p in sorted(DATA.glob("*/*.yml"))]
CONFIGURATION = (DATA / "bad_projects" / "configuration" / "headrace.yml").read_text(encoding="utf-8")

SIGNS = (
    "' \" ` ( ) ; , -- /* */ {{ }} {% ${ } [ ] { - &a *a <<: | > ! \\ é = 1 ? # $${ ${x} END; SET WITH AS"
    " {{ref(1)}} {{config(a=[1])}}"
)
BITS = st.sampled_from(
    [*SIGNS.split(), " ", "\n", "\t", "\r\n", "\x00", "\u2028", ": ", "- ", "\nCREATE MODEL "]
) | st.text(max_size=3)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 15), BITS), max_size=6)


def changed(text: str, edits: list[tuple[float, int, str]]) -> str:
    for where, drop, bit in edits:
        at = int(where * len(text))
        text = text[:at] + bit + text[at + drop :]
    return text


def finish(scope: Scope) -> None:
    config = ConfigReader(
        SourceFile("headrace.yml", "name: x"), scope.reporter, target=None, given={}, environment={}
    )
    assemble(Path("/"), config.read("x"), [scope], [], scope.reporter)
    found = scope.reporter.all()
    render_all(found)
    for diagnostic in found:
        if diagnostic.span is not None:
            assert 0 <= diagnostic.span.start <= diagnostic.span.end


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SQL), EDITS)
def test_sql(text: str, edits: list[tuple[float, int, str]]) -> None:
    text = changed(text, edits)
    file = SourceFile("x.sql", text)
    scope = Scope(file, {"x": "a'b"}, Reporter())
    read_sql(Fragment.plain(file, 0, len(text)), scope, "x")
    finish(scope)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(YAML), EDITS)
def test_yaml(text: str, edits: list[tuple[float, int, str]]) -> None:
    scope = Scope(SourceFile("x.yml", changed(text, edits)), {"x": "a'b"}, Reporter())
    read_yaml(scope)
    finish(scope)


@settings(max_examples=100, deadline=None)
@given(EDITS)
def test_configuration(edits: list[tuple[float, int, str]]) -> None:
    reporter = Reporter()
    file = SourceFile("headrace.yml", changed(CONFIGURATION, edits))
    ConfigReader(file, reporter, target=None, given={}, environment={}).read("x")
    render_all(reporter.all())


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_text(text: str) -> None:
    for read in (lambda s: read_sql(Fragment.plain(s.file, 0, len(text)), s, "x"), read_yaml):
        scope = Scope(SourceFile("x", text), {}, Reporter())
        read(scope)
        finish(scope)

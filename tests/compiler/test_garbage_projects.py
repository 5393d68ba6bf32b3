"""Whatever a project's files hold, a compile ends in diagnostics, never in an exception.

Good projects, and bad ones, are changed at random, by characters, tokens, lines and YAML values, and go
through the whole compiler: configuration, both front ends, seeds, rules, grouping, lowering, and every output
of findings.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.outputs import OUTPUTS
from compiler.diagnostics.outputs.report import Report
from compiler.diagnostics.render import render_all
from compiler.diagnostics.source import SourceFile
from compiler.explain.tree import explain_text
from compiler.format import format_sql
from compiler.jobplan.codec import plan_from_json, to_json
from compiler.project.listing import entries
from compiler.project.load import load_project
from compiler.project.selection import graph_of
from compiler.syntax.data_types import parse_type
from compiler.syntax.fragment import Fragment

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BASE = HERE / "plans/_base"
BODIES = sorted(p for p in (HERE / "plans").iterdir() if p.suffix in (".sql", ".yml"))
PROJECTS = [
    HERE / "mistakes/_base",
    HERE / "data/outputs/project",
    *sorted(p.parent for p in (ROOT / "pipelines").glob("*/headrace.yml")),
]

WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON UNION ALL AS WITH CREATE SOURCE MODEL SINK
TABLE VIEW INSERT INTO SET TUMBLE HOP SESSION DESCRIPTOR INTERVAL '5' MINUTES OVER PARTITION ROW_NUMBER()
CASE WHEN END NULL WATERMARK FOR ( ) [ ] { } < > = , ; . : - * / + ' " ` ${least} ${x ${env:X} {{ }}
{{ref('orders')}} {% %} -- /* */ 1 1.5 1e999 'x' orders ordered_at id price count(*) sum(price)
window_start ARRAY<INT> DECIMAL(99,9) true é 𝄞
""".split()
VALUES = ["[]", "{}", "null", "1", "'x'", "[1, {a: b}]", "{a: [b]}", "!!python/name:os.system x", "&a [*a]"]
LINES = [
    "",
    "  - name: x",
    "    steps:",
    "      - filter: id > 1",
    "SELECT 1;",
    "models:",
    "\t",
    "  with: {}",
]


@st.composite
def changes(draw: st.DrawFn) -> Callable[[str], str]:
    """A change of a text: of characters, a token, a line, or what stands behind a colon."""
    kind = draw(st.sampled_from(["characters", "token", "line", "drop", "swap", "value"]))
    where = draw(st.floats(0, 1))
    word = draw(st.sampled_from(WORDS))
    line = draw(st.sampled_from(LINES))
    value = draw(st.sampled_from(VALUES))
    some = draw(st.text(max_size=3))
    length = draw(st.integers(0, 12))

    def change(text: str) -> str:
        at = int(where * len(text))
        lines = text.split("\n")
        row = int(where * (len(lines) - 1))
        if kind == "characters":
            return text[:at] + some + text[at + length :]
        if kind == "token":
            return text[:at] + f" {word} " + text[at + length :]
        if kind == "line":
            return "\n".join([*lines[:row], line, *lines[row:]])
        if kind == "drop":
            return "\n".join([*lines[:row], *lines[row + 1 :]])
        if kind == "swap":
            return "\n".join([*lines[:row], *lines[row + 1 :], lines[row]])
        head, colon, _ = lines[row].partition(":")
        return "\n".join([*lines[:row], f"{head}{colon} {value}", *lines[row + 1 :]])

    return change


EDITS = st.lists(st.tuples(st.integers(0, 1000), changes()), min_size=1, max_size=4)


def files_of(root: Path) -> list[Path]:
    return sorted(
        p for p in root.rglob("*") if p.suffix in (".sql", ".yml", ".csv") and p.stat().st_size < 50_000
    )


def check(root: Path) -> None:
    """Compiles a project in every way, and looks at what it says."""
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter, environment={})
    found = reporter.all()
    if project is not None:
        compiled = compile_project(project, reporter)
        found = compiled.diagnostics
        entries(project, graph_of(compiled.logical))
        assert (compiled.plan is None) == any(d.is_error for d in found)
        if compiled.plan is not None:
            assert plan_from_json(to_json(compiled.plan)) == compiled.plan
            explain_text(compiled.plan)
    render_all(found)
    for write in OUTPUTS.values():
        write(Report(found, str(root), str(root)))
    for diagnostic in found:
        for span in filter(None, [diagnostic.span, *(label.span for label in diagnostic.related)]):
            assert 0 <= span.start <= span.end <= len(span.file.text) + 1


@pytest.fixture(scope="module")
def copy() -> Iterator[Callable[[Path], Path]]:
    """Copies a project into memory-backed temporary space, anew for each example."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(10**9))

        def make(source: Path) -> Path:
            root = Path(folder) / str(next(numbers))
            ignored = shutil.ignore_patterns("target", "out", "data", ".headrace", "__pycache__", "*.parquet")
            shutil.copytree(source, root, ignore=ignored)
            return root

        yield make


def change_files(root: Path, edits: list[tuple[int, Callable[[str], str]]]) -> None:
    files = files_of(root)
    for number, change in edits:
        path = files[number % len(files)]
        text = change(path.read_text(encoding="utf-8", errors="replace"))
        path.write_text(text, encoding="utf-8", errors="replace")


QUIET = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUIET
@given(source=st.sampled_from(PROJECTS), edits=EDITS)
def test_projects(
    copy: Callable[[Path], Path], source: Path, edits: list[tuple[int, Callable[[str], str]]]
) -> None:
    root = copy(source)
    change_files(root, edits)
    check(root)
    shutil.rmtree(root)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.sampled_from(BODIES), edits=st.lists(changes(), min_size=1, max_size=3))
def test_models(copy: Callable[[Path], Path], body: Path, edits: list[Callable[[str], str]]) -> None:
    root = copy(BASE)
    text = body.read_text(encoding="utf-8")
    for change in edits:
        text = change(text)
    (root / "models").mkdir()
    (root / "models" / body.name).write_text(text, encoding="utf-8", errors="replace")
    check(root)
    if body.suffix == ".sql":
        format_sql(text)
    shutil.rmtree(root)


NAMES = "BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE STRING BINARY DATE TIMESTAMP".split()
DIGITS = st.tuples(st.integers(1, 38), st.integers(0, 18))
SCALARS = st.sampled_from(NAMES) | DIGITS.map(lambda p: f"DECIMAL({max(p)}, {min(p)})")
TYPES = st.recursive(
    SCALARS,
    lambda inner: (
        inner.map(lambda t: f"ARRAY<{t}>")
        | st.tuples(SCALARS, inner).map(lambda p: f"MAP<{p[0]}, {p[1]}>")
        | st.lists(inner, min_size=1, max_size=3).map(
            lambda ts: "STRUCT<" + ", ".join(f"f{n}: {t}" for n, t in enumerate(ts)) + ">"
        )
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(TYPES)
def test_types_are_read_as_they_are_written(text: str) -> None:
    def read(words: str) -> object:
        return parse_type(Fragment.plain(SourceFile("x", words), 0, len(words)))

    found = read(text)
    assert read(str(found)) == found

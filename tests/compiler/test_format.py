"""The layout of SQL: only white space and the case of keywords change, and a second pass changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.compile import compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.format import format_sql
from compiler.format.document import WIDTH
from compiler.format.tokens import KEYWORDS, UnreadableError, tokens
from compiler.jobplan.codec import to_json
from compiler.project.load import load_project

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data/format"
PLANS = Path(__file__).parent / "plans"


def texts() -> dict[str, str]:
    """All SQL of the tests and the examples, and the blocks of the documentation."""
    found = {}
    for folder in ("tests", "pipelines"):
        for path in sorted((ROOT / folder).rglob("*.sql")):
            try:
                found[str(path.relative_to(ROOT))] = path.read_bytes().decode()
            except UnicodeDecodeError:
                continue  # a case of a file that is no text
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, block in enumerate(page.read_text().split("```sql")[1:]):
            found[f"{page.name}:{number}"] = block.partition("\n")[2].partition("```")[0]
    return found


CORPUS = texts()


def said(text: str) -> list[tuple[str, str]]:
    """The tokens of a text, without white space and the case of what may be a keyword."""
    return [(t.kind, t.text.upper() if t.text.upper() in KEYWORDS else t.text) for t in tokens(text)]


def check(text: str) -> str:
    """Formats a text and checks what must hold of every text."""
    made = format_sql(text)
    assert format_sql(made) == made
    try:
        before = said(text)
    except UnreadableError:
        assert made == text
        return made
    assert said(made) == before
    return made


@pytest.mark.parametrize("name", CORPUS)
def test_corpus(name: str) -> None:
    check(CORPUS[name])


def test_layout(golden: Callable[[Path, str], None]) -> None:
    made = check((DATA / "wild.sql").read_text())
    golden(DATA / "laid_out.sql", made)
    assert max(map(len, made.splitlines())) <= WIDTH + 10


@pytest.mark.parametrize("path", sorted(PLANS.glob("*.sql")), ids=lambda p: p.name)
def test_the_plan_stays(path: Path, tmp_path: Path) -> None:
    """What means the same compiles to the same; mistakes stay as many."""

    def compiled(name: str, text: str) -> tuple[str, list[str]]:
        root = tmp_path / name
        shutil.copytree(PLANS / "_base", root)
        (root / "models").mkdir()
        (root / "models" / path.name).write_text(text)
        reporter = Reporter()
        project = load_project(root, target=None, variables={}, reporter=reporter)
        assert project is not None
        made = compile_project(project, reporter)
        plan = to_json(made.plan) if made.plan is not None else ""
        return plan, sorted(f"{d.code.name} {d.message}" for d in made.diagnostics)

    plan, found = compiled("before", path.read_text())
    other_plan, other_found = compiled("after", format_sql(path.read_text()))
    assert other_plan == plan
    if plan:
        assert other_found == found


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("select a from t", "SELECT a\nFROM t\n"),
        ("select a - -1, -b from t", "SELECT a - -1, -b\nFROM t\n"),
        ("select t.end, x as `order`, date, key from t", "SELECT t.end, x AS `order`, date, key\nFROM t\n"),
        ("select a -- one\n, b -- two\nfrom t", "SELECT\n  a -- one\n  ,\n  b -- two\nFROM t\n"),
        ("select a, /* b's */ b /* that */ from t", "SELECT a, /* b's */ b /* that */\nFROM t\n"),
        ("select a, -- one\nb from t", "SELECT\n  a, -- one\n  b\nFROM t\n"),
        ("select pre_${x}_post, a>${y} from t", "SELECT pre_${x}_post, a > ${y}\nFROM t\n"),
        ("select 'it''s' where a is not distinct from b", "SELECT 'it''s'\nWHERE a IS NOT DISTINCT FROM b\n"),
        ("-- only a comment\n", "-- only a comment\n"),
        (" \n", ""),
        ("select (a from t", "select (a from t\n"),
        ("select 'open from t", "select 'open from t"),
        ("SELECT a\r\nFROM t\r\n", "SELECT a\r\nFROM t\r\n"),
        ("select 1;;\n\n\nselect b from u ; -- behind", "SELECT 1;\n;\n\nSELECT b\nFROM u; -- behind\n"),
    ],
)
def test_small(text: str, made: str) -> None:
    assert check(text) == made


WORDS = """
( ) , ; . - < > = * [ ] : + ! | ' " ` select from where group by order and or case when then else end as
union all join left on with create source model sink insert into values between not null a b1 1 2.5 'x' `q`
array map distinct ${v} set begin execute
""".split()
PIECES = st.sampled_from([*WORDS, "-- c\n", "/* c */", "/*\n*/", "\n", "\n\n", "{{ ref('x') }}", " "])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30), st.lists(st.sampled_from(["", " ", "\n"]), min_size=30, max_size=30))
def test_any_tokens(pieces: list[str], between: list[str]) -> None:
    check("".join(piece + space for piece, space in zip(pieces, between, strict=False)))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(CORPUS)), st.floats(0, 1), PIECES, st.integers(0, 10))
def test_changed_corpus(name: str, where: float, piece: str, drop: int) -> None:
    text = CORPUS[name]
    at = int(where * len(text))
    check(text[:at] + piece + text[at + drop :])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    check(text)

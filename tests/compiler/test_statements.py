"""Statements of .sql files: what they become, and what is said of mistakes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from declaration_text import declaration_text

from compiler.diagnostics.codes import UNUSED_VARIABLE
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.render import render_all
from compiler.project.load import load_script
from compiler.syntax.split import split
from grammars import generate

DATA = Path(__file__).parent / "data"
VARIABLES: dict[str, object] = {"min_price": 10, "name": "bid"}


def findings(reporter: Reporter) -> list[Diagnostic]:
    """What was found, but for variables that a file has no use for."""
    return [found for found in reporter.all() if found.code is not UNUSED_VARIABLE]


@pytest.mark.parametrize("path", sorted((DATA / "statements").glob("*.sql")), ids=lambda p: p.stem)
def test_statements(path: Path, golden: Callable[[Path, str], None]) -> None:
    reporter = Reporter()
    project = load_script(path, variables=VARIABLES, reporter=reporter)
    assert render_all(findings(reporter)) == ""
    assert project is not None
    golden(path.with_suffix(".txt"), declaration_text(project))


@pytest.mark.parametrize("path", sorted((DATA / "bad_sql").glob("*.sql")), ids=lambda p: p.stem)
def test_mistakes(path: Path, golden: Callable[[Path, str], None]) -> None:
    reporter = Reporter()
    load_script(path, variables=VARIABLES, reporter=reporter)
    golden(path.with_suffix(".txt"), render_all(findings(reporter)))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a; b ;c", ["a", "b ", "c"]),
        (";; -- x\n;", []),
        ("SELECT ';' ; SELECT \"a;b\"; `x;y`", ["SELECT ';' ", 'SELECT "a;b"', "`x;y`"]),
        ("SELECT 'it''s;' /* ; */ -- ;\n; b", ["SELECT 'it''s;' /* ; */ -- ;\n", "b"]),
        ("WITH (a = '\\', b = 1); c", ["WITH (a = '\\', b = 1)", "c"]),
        (r"SELECT '\';' ; c", [r"SELECT '\';' ", "c"]),
        (
            "CREATE MODEL a AS SELECT 1\nCREATE MODEL b AS SELECT 2",
            ["CREATE MODEL a AS SELECT 1\n", "CREATE MODEL b AS SELECT 2"],
        ),
        (
            "EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1; END",
            ["EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELECT 1", "END"],
        ),
    ],
)
def test_split(text: str, pieces: list[str]) -> None:
    assert [text[p.start : p.end] for p in split(text)] == pieces


def test_unclosed_quote_is_found_where_it_opens() -> None:
    text = "WITH (a = 'x,\n b = 'y'\n);\nCREATE MODEL m AS SELECT 1;"
    first, second = split(text)
    assert first.unclosed == text.index("'x,")
    assert text[second.start : second.end] == "CREATE MODEL m AS SELECT 1"


@pytest.mark.parametrize("parser", generate.PARSERS, ids=lambda parser: parser.module)
def test_generated_parser_is_of_this_grammar(parser: generate.Parser) -> None:
    made = parser.target.read_text(encoding="utf-8")
    grammar = (Path(generate.__file__).parent / parser.grammar).read_bytes()
    assert f"grammar: {hashlib.sha256(grammar).hexdigest()}\n" in made, "run `make grammar`"


@pytest.mark.parametrize("parser", generate.PARSERS, ids=lambda parser: parser.module)
def test_generated_parser_is_what_lark_makes(parser: generate.Parser) -> None:
    # The tables differ from run to run in their order; the rest of the module does not.
    def parts(text: str) -> tuple[str, list[str]]:
        head, data = text.split("\nDATA = (\n", 1)
        return head, sorted(re.findall(r"'[A-Z_]{2,}'|\"[A-Z_]{2,}\"", data))

    assert parts(parser.generate()) == parts(parser.target.read_text(encoding="utf-8"))

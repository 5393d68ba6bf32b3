"""The text and the data of a diagnostic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics.codes import NO_JAVA, UNKNOWN_COLUMN, UNUSED
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.render import render, render_all, summary, to_dict
from compiler.diagnostics.source import SourceFile, Span

DATA = Path(__file__).parent / "data"

FILE = SourceFile(
    "models/x.sql",
    "SELECT prise,\n"
    "\tprice\t+ tabs,\n"
    "  '日本語' + wide, e\u0301 + combined,\n"
    "  CASE\n    WHEN a THEN b\n    ELSE c\n  END\n"
    "FROM y\n" + "  x + " * 60 + "far\n"
    "escape \x1b[31m here\n",
)
OTHER = SourceFile("sources/y.sql", "CREATE SOURCE y (\n  price INT\n);\n")


def span(word: str, file: SourceFile = FILE) -> Span:
    start = file.text.index(word)
    return Span(file, start, start + len(word))


def finding(place: Span | None, **more: object) -> Diagnostic:
    return Diagnostic(UNKNOWN_COLUMN, "unknown column `prise`", place, **more)  # type: ignore[arg-type]


def test_frames(golden: Callable[[Path, str], None]) -> None:
    found = [
        finding(
            span("prise"), cause="source `y` has `price`", fix="did you mean `price`?", label="not in `y`"
        ),
        finding(span("tabs"), label="after tabs"),
        finding(span("wide")),
        finding(span("combined")),
        finding(Span(FILE, FILE.text.index("CASE"), FILE.text.index("END") + 3), label="the whole of it"),
        finding(
            span("FROM y"),
            related=(Label(span("price", OTHER), "declared here"), Label(span("prise"), "near")),
        ),
        finding(span("price"), related=(Label(span("prise"), "next line"), Label(span("tabs"), "same line"))),
        finding(span("far"), label="at the end of a long line"),
        finding(span("here"), label="no \x1b[0m escapes"),
        finding(Span(FILE, len(FILE.text), len(FILE.text)), label="end of file"),
        finding(Span(FILE, FILE.text.index(",\n"), FILE.text.index(",\n") + 2), label="with the line's end"),
        Diagnostic(NO_JAVA, "no usable Java", cause="JAVA_HOME is 8", fix="install Java 17"),
        Diagnostic(UNUSED, "nothing reads `y`", span("y", OTHER)),
    ]
    golden(DATA / "frames.txt", render_all(found))


def test_colour_adds_only_escapes() -> None:
    found = finding(span("prise"), cause="a", fix="b", label="c", related=(Label(span("price", OTHER), "d"),))
    coloured = render(found, color=True)
    assert "\x1b[" in coloured
    for code in ("1;31", "1;33", "1;34", "1;36", "1", "0"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == render(found)


def test_summary() -> None:
    error = finding(None)
    warning = Diagnostic(UNUSED, "x")
    assert summary([]) == "no errors"
    assert summary([error, error, warning]) == "2 errors, 1 warning"
    assert render_all([]) == ""


def test_data() -> None:
    found = finding(span("prise"), fix="f", related=(Label(span("price", OTHER), "d"),))
    assert json.loads(json.dumps(to_dict(found))) == {
        "code": "HR201",
        "title": "unknown column",
        "severity": "error",
        "message": "unknown column `prise`",
        "label": None,
        "cause": None,
        "fix": "f",
        "place": {
            "file": "models/x.sql",
            "start": {"line": 1, "column": 8, "offset": 7},
            "end": {"line": 1, "column": 13, "offset": 12},
        },
        "related": [
            {
                "text": "d",
                "place": {
                    "file": "sources/y.sql",
                    "start": {"line": 2, "column": 3, "offset": 20},
                    "end": {"line": 2, "column": 8, "offset": 25},
                },
            }
        ],
        "docs": "docs/diagnostics/HR201.md",
    }


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_any_place_renders(text: str, start: int, length: int) -> None:
    file = SourceFile("x", text)
    start = min(start, len(text))
    text_out = render(finding(Span(file, start, min(len(text), start + length)), label="here"))
    assert "^" in text_out
    assert "here" in text_out

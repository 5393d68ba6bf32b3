"""Silencing and raising: where a comment holds, and what is told of those that do nothing."""

from __future__ import annotations

import pytest

from compiler.diagnostics.codes import UNKNOWN_COLUMN, UNUSED, UNUSED_WATERMARK, Severity
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.policy import Allow, Policy, Raise, raises_of
from compiler.diagnostics.source import SourceFile, Span
from compiler.syntax.directives import directives


def silenced(path: str, text: str) -> list[str]:
    """The words `x1`, `x2`, … of a file at which a warning HR219 would be silenced."""
    import re

    file = SourceFile(path, text)
    reporter = Reporter()
    policy = Policy(tuple(directives(file, reporter)))
    assert not reporter.all()
    marks = [Span(file, m.start(), m.end()) for m in re.finditer(r"\bx\d\b", text)]
    heard = policy.judge([Diagnostic(UNUSED, "unused", mark) for mark in marks])
    return [mark.text for mark in marks if mark not in [d.span for d in heard]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-- headrace: allow HR219\nSELECT x1,\n  x2 FROM t;\nSELECT x3", ["x1", "x2"]),
        ("SELECT x1, -- headrace: allow HR219\n  x2 FROM t", ["x1"]),
        ("SELECT x1,\n  -- headrace: allow HR219\n  x2,\n  x3 FROM t", ["x2"]),
        ("SELECT x1;\n\n/* headrace: allow HR310, HR219 for the dashboard */\n-- more\n\nSELECT x2;", ["x2"]),
        ("SELECT '-- headrace: allow HR219', x1", []),
        ("SELECT x1 -- headrace: ALLOW hr219", ["x1"]),
        ("SELECT x1 -- a headrace: allow HR219", []),
        ("-- headrace: allow HR310\nSELECT x1", []),
        ("-- headrace: allow HR219", []),
    ],
)
def test_comments_of_sql(text: str, expected: list[str]) -> None:
    assert silenced("m.sql", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("models:\n  # headrace: allow HR219\n  - name: x1\n    from: x2\n  - name: x3\n", ["x1", "x2"]),
        ("models:\n  - name: x1 # headrace: allow HR219\n    from: x2\n", ["x1"]),
        ("# headrace: allow HR219\nmodels:\n  - name: x1\nsinks:\n  - name: x2\n", ["x1"]),
        ("a: x1\n# headrace: allow HR219\n\n# why\nb: x2\nc: x3\n", ["x2"]),
        ("a: '# headrace: allow HR219' x1\n", []),
        ("a: b# headrace: allow HR219 x1\n", []),
    ],
)
def test_comments_of_yaml(text: str, expected: list[str]) -> None:
    assert silenced("m.yml", text) == expected


@pytest.mark.parametrize(
    ("comment", "message", "fix"),
    [
        ("headrace: alow HR219", "a comment cannot ask for `alow`", "did you mean `allow`?"),
        ("headrace: allow", "`allow` names no code", "write for instance `headrace: allow HR310`"),
        ("headrace:", "the comment asks for nothing", "write for instance `headrace: allow HR310`"),
    ],
)
def test_a_comment_that_is_not_understood(comment: str, message: str, fix: str) -> None:
    reporter = Reporter()
    assert list(directives(SourceFile("m.sql", f"-- {comment}\nSELECT 1"), reporter)) == []
    assert [(d.code.name, d.message, d.fix) for d in reporter.all()] == [("HR123", message, fix)]


FILE = SourceFile("m.sql", "SELECT a, b")
WARNING = Diagnostic(UNUSED, "unused", Span(FILE, 7, 8))
ERROR = Diagnostic(UNKNOWN_COLUMN, "unknown", Span(FILE, 10, 11))
PLACE = Span(FILE, 0, 1)


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    return [d.code.name for d in found]


def test_errors_stay_and_the_allow_is_told() -> None:
    found = Policy((Allow("HR201", PLACE),)).judge([ERROR, WARNING])
    assert codes(found) == ["HR201", "HR219", "HR122"]
    assert [label.span for label in found[2].related] == [ERROR.span]
    assert codes(Policy((Allow("HR201", PLACE),)).judge([])) == ["HR122"]


def test_an_error_that_is_a_warning_here_can_be_silenced() -> None:
    mild = Diagnostic(UNKNOWN_COLUMN, "no effect", PLACE, raised=Severity.WARNING)
    assert Policy((Allow("HR201", PLACE),)).judge([mild], complete=True) == ()


def test_an_allow_without_effect_is_told_once_all_was_checked() -> None:
    policy = Policy((Allow("HR310", PLACE),))
    assert codes(policy.judge([WARNING], complete=True)) == ["HR219", "HR121"]
    assert codes(policy.judge([WARNING])) == ["HR219"]
    # The rest of the mistakes may be hidden by an error.
    assert codes(policy.judge([ERROR], complete=True)) == ["HR201"]
    # What a run may say is no compile's business, unless a place is named.
    assert policy.judge([], complete=True) != ()
    assert Policy((Allow("HR409", PLACE),)).judge([], complete=True) == ()
    assert codes(Policy((Allow("HR409", PLACE, PLACE),)).judge([], complete=True)) == ["HR121"]


def test_unknown_codes_are_told_with_the_nearest() -> None:
    found = Policy((Allow("HR21", PLACE), Allow("all", PLACE)), (Raise("HR3100", PLACE),)).judge([])
    assert [(d.code.name, d.message) for d in found] == [
        ("HR120", "unknown code `HR21`"),
        ("HR120", "warnings are silenced code by code"),
        ("HR120", "unknown code `HR3100`"),
    ]
    assert found[2].fix == "did you mean `HR310`?"


def test_raising() -> None:
    assert [d.is_error for d in Policy(raises=(Raise("HR219", PLACE),)).judge([WARNING])] == [True]
    assert [d.is_error for d in Policy(raises=raises_of("all")).judge([WARNING])] == [True]
    other = Diagnostic(UNUSED_WATERMARK, "no effect", PLACE)
    found = Policy((Allow("HR310", PLACE),), raises_of("HR219, hr310")).judge([WARNING, other])
    assert [(d.code.name, d.is_error) for d in found] == [("HR219", True)]
    # An allow without effect is a warning as others are.
    told = Policy((Allow("HR310", PLACE),), raises_of("HR121")).judge([], complete=True)
    assert [(d.code.name, d.is_error) for d in told] == [("HR121", True)]

"""Clauses of a query that are refused, rather than passed over."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.analysis.places import tree_offsets, tree_span
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span
from compiler.syntax.fragment import Fragment

# Clauses of a SELECT that have no streaming form here yet, with the reason and the way out.
_REFUSED: dict[str, tuple[codes.Code, str, str | None, str | None]] = {
    "order": (
        codes.STREAM_ORDER,
        "a stream cannot be sorted",
        "ORDER BY would have to wait for the last row",
        "remove it, or sort where the result is read",
    ),
    "limit": (
        codes.STREAM_ORDER,
        "a stream cannot be cut with LIMIT",
        "which rows come first would differ from run to run",
        "remove it, or filter by a condition",
    ),
    "offset": (codes.STREAM_ORDER, "a stream has no OFFSET", "rows have no fixed order", "remove it"),
    "pivots": (codes.NOT_YET_STREAMING, "PIVOT has no streaming form", None, "use FILTER (WHERE …)"),
    "cluster": (codes.STREAM_ORDER, "CLUSTER BY has no streaming form", None, "remove it"),
    "sort": (codes.STREAM_ORDER, "SORT BY has no streaming form", None, "remove it"),
    "distribute": (codes.STREAM_ORDER, "DISTRIBUTE BY has no streaming form", None, "remove it"),
    "locks": (
        codes.UNSUPPORTED_SYNTAX,
        "FOR UPDATE and FOR SHARE lock nothing on a stream",
        "a query never changes the rows that it reads",
        "remove it",
    ),
    "sample": (
        codes.NONDETERMINISTIC,
        "TABLESAMPLE would give other rows at a replay",
        None,
        "filter by a hash",
    ),
}
# What is read of a SELECT, a UNION, a table and a subquery; a hint is advice and may be passed over.
_READ_OF_SELECT = (
    "with_ expressions from_ joins laterals where group having qualify windows distinct hint hints"
)
_READ_OF_TABLE = "this expression alias db catalog version"
_READ = frozenset([*_READ_OF_SELECT.split(), *_READ_OF_TABLE.split()])
_LOCK = re.compile(r"\bFOR\s+(?:NO\s+KEY\s+|KEY\s+)?(?:UPDATE|SHARE)\b", re.IGNORECASE)
# Those whose columns the rest of the SELECT would miss.
_MAKES_COLUMNS = ("pivots",)


def refused_clauses(tree: exp.Expr, fragment: Fragment) -> list[Diagnostic]:
    """A finding for each clause of a SELECT, a UNION, a table or a subquery that is not run."""
    found: list[Diagnostic] = []
    for clause, (code, message, cause, fix) in _REFUSED.items():
        part = tree.args.get(clause)
        if part:
            place = part[0] if isinstance(part, list) else part
            span = tree_span(place if isinstance(place, exp.Expr) else tree, fragment)
            if clause == "locks":
                span = _lock_place(tree, fragment) or span
            found.append(Diagnostic(code, message, span, cause=cause, fix=fix))
    for clause, part in tree.args.items():
        if part and clause not in _REFUSED and clause not in _READ:
            word = clause.strip("_").upper().replace("_", " ")
            span = tree_span(part if isinstance(part, exp.Expr) else tree, fragment)
            message = f"{word} is not supported in a query"
            found.append(Diagnostic(codes.UNSUPPORTED_SYNTAX, message, span))
    return found


def _lock_place(tree: exp.Expr, fragment: Fragment) -> Span | None:
    start = tree_offsets(tree)
    words = _LOCK.search(fragment.text, start[0]) if start is not None else None
    return fragment.span(words.start(), words.end()) if words is not None else None


def refused_set_operation(tree: exp.SetOperation, fragment: Fragment) -> Diagnostic:
    """What is said of EXCEPT and INTERSECT, at their word."""
    word = type(tree).__name__.upper()
    second = tree_offsets(tree.args["expression"])
    at = fragment.text.upper().rfind(word, 0, second[0]) if second else -1
    exists = "EXISTS" if isinstance(tree, exp.Intersect) else "NOT EXISTS"
    select = "SELECT DISTINCT" if tree.args.get("distinct") else "SELECT"
    inner = "(SELECT 1 FROM … WHERE …)"
    return Diagnostic(
        codes.NOT_YET_STREAMING,
        f"{word} has no streaming form",
        fragment.span(at, at + len(word)) if at >= 0 else tree_span(tree, fragment),
        cause="an equal row of the other input may come at any time",
        fix=f"write {select} … WHERE {exists} {inner}, with an equality and a bound of time",
    )


def has_refused(tree: exp.Expr) -> bool:
    """Whether one of the clauses that have no streaming form is there."""
    return any(tree.args.get(clause) for clause in _REFUSED)


def makes_columns(tree: exp.Expr) -> bool:
    """Whether one of them gives columns or names that the rest of the SELECT would miss."""
    return any(tree.args.get(clause) for clause in _MAKES_COLUMNS)


def distinct_place(tree: exp.Expr, fragment: Fragment) -> Span | None:
    """The word DISTINCT, which has no place in sqlglot's tree."""
    first = tree_offsets(tree.expressions[0]) if tree.expressions else None
    at = fragment.text.upper().rfind("DISTINCT", 0, first[0]) if first else -1
    return fragment.span(at, at + len("DISTINCT")) if at >= 0 else None

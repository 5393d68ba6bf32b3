"""Where a part of a query is written: sqlglot keeps the places of names and literals only."""

from __future__ import annotations

import re

from sqlglot import exp

from compiler.diagnostics.source import Span
from compiler.syntax.fragment import Fragment

# Words before the first that has a place.
_BEFORE: dict[type[exp.Expr], re.Pattern[str]] = {
    exp.Interval: re.compile(r"\bINTERVAL\s*\Z", re.IGNORECASE),
    exp.Select: re.compile(r"\bSELECT\s+(?:ALL\s+|DISTINCT\s+)?\Z", re.IGNORECASE),
    exp.Cast: re.compile(r"\b(?:TRY_)?CAST\s*\(\s*\Z", re.IGNORECASE),
    exp.TryCast: re.compile(r"\b(?:TRY_)?CAST\s*\(\s*\Z", re.IGNORECASE),
    exp.Case: re.compile(r"\bCASE(?:\s+WHEN)?\s+\Z", re.IGNORECASE),
    exp.Extract: re.compile(r"\bEXTRACT\s*\(\s*\w+\s+FROM\s+\Z", re.IGNORECASE),
    exp.Substring: re.compile(r"\bSUBSTRING\s*\(\s*\Z", re.IGNORECASE),
    exp.Not: re.compile(r"\bNOT\s+\Z", re.IGNORECASE),
    exp.Kwarg: re.compile(r"\w+\s*=>\s*\Z"),
    exp.Neg: re.compile(r"-\s*\Z"),
    exp.Where: re.compile(r"\bWHERE\s+\Z", re.IGNORECASE),
    exp.Group: re.compile(r"\bGROUP\s+BY\s+\Z", re.IGNORECASE),
    exp.Having: re.compile(r"\bHAVING\s+\Z", re.IGNORECASE),
    exp.Order: re.compile(r"\bORDER\s+BY\s+\Z", re.IGNORECASE),
    exp.Limit: re.compile(r"\bLIMIT\s+\Z", re.IGNORECASE),
    exp.Offset: re.compile(r"\bOFFSET\s+\Z", re.IGNORECASE),
    exp.Qualify: re.compile(r"\bQUALIFY\s+\Z", re.IGNORECASE),
    exp.Paren: re.compile(r"\(\s*\Z"),
}
# Words after the last.
_AFTER: dict[type[exp.Expr], re.Pattern[str]] = {
    exp.Interval: re.compile(r"\s*[A-Za-z]+(?:\s+TO\s+[A-Za-z]+)?", re.IGNORECASE),
    exp.Case: re.compile(r"\s*\bEND\b", re.IGNORECASE),
    exp.Anonymous: re.compile(r"\s*\(\s*\)"),
}
_PARENTHESES = re.compile(r"--[^\n]*|/\*[\s\S]*?\*/|'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`|[()]")


def tree_span(tree: exp.Expr, fragment: Fragment) -> Span:
    """The place of a part of a query; that of what it is part of where it has none."""
    found = tree_offsets(tree)
    while found is None and tree.parent is not None:
        tree = tree.parent
        found = tree_offsets(tree)
    if found is None:
        return fragment.span()
    start, end = found
    before, after = _BEFORE.get(type(tree)), _AFTER.get(type(tree))
    if before is not None and (words := before.search(fragment.text, max(0, start - 80), start)):
        start = words.start()
    if after is not None and (words := after.match(fragment.text, end)):
        end = words.end()
    return fragment.span(start, _closed(fragment.text, start, end))


def tree_offsets(tree: exp.Expr) -> tuple[int, int] | None:
    """First and last character (exclusive) of the words that have a place, in the fragment's text."""
    low, high = -1, -1
    # By hand, because sqlglot's own walk costs more than parsing did.
    stack: list[object] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, exp.Expr):
            meta = node._meta
            if meta and "start" in meta:
                start, end = meta["start"], meta["end"]
                low = start if low < 0 or start < low else low
                high = max(high, end)
            stack.extend(node.args.values())
    return None if low < 0 else (low, high + 1)


def _closed(text: str, start: int, end: int) -> int:
    """The end, moved behind the parentheses that close those opened between start and end."""
    if "(" not in text[start:end]:
        return end
    depth = 0
    for match in _PARENTHESES.finditer(text, start):
        if match.start() >= end and depth <= 0:
            break
        if match.group() == "(":
            depth += 1
        elif match.group() == ")":
            depth -= 1
            if match.start() >= end and depth == 0:
                return match.end()
    return end

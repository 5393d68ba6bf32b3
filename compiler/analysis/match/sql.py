"""MATCH_RECOGNIZE in FROM: `compiler.syntax.tokens.match_recognize` has made a call of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.match.build import Clauses, Named, Sorting, build_match
from compiler.analysis.places import tree_offsets
from compiler.analysis.table_arguments import bind_column, bind_table, table_argument
from compiler.diagnostics import codes
from compiler.plan import expr as scalar
from compiler.plan.node import Node
from compiler.syntax.fragment import Fragment
from compiler.syntax.intervals import interval_literal, interval_problem
from compiler.syntax.patterns import parse_pattern, parse_skip
from compiler.syntax.tokens import match_recognize as words

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


def bind_match_recognize(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """Binds a MATCH_RECOGNIZE.

    Raises:
        DiagnosticError: a mistake in one of its clauses.
    """
    table, *rest = call.expressions
    node = bind_table(binder, table_argument(table))
    clauses = {str(clause.this): list(clause.expressions) for clause in rest}
    span = binder.span(call)
    if words.SUBSET in clauses:
        fix = "write the condition for each of the variables"
        raise _refused(binder, clauses[words.SUBSET][0], "SUBSET is not supported", fix)
    if words.ROWS in clauses and _text(binder, clauses[words.ROWS]).text.upper().startswith("ALL"):
        message = "ALL ROWS PER MATCH is not supported"
        fix = "write ONE ROW PER MATCH, and hand out what is needed as measures"
        raise _refused(binder, clauses[words.ROWS][0], message, fix)
    if words.PATTERN not in clauses:
        message = "MATCH_RECOGNIZE has no PATTERN"
        raise binder.error(codes.SQL_SYNTAX, message, call, fix="write PATTERN (A B+ C)")
    pattern = parse_pattern(_inside(_text(binder, clauses[words.PATTERN])))
    skip = clauses.get(words.SKIP)
    return build_match(
        binder.builder,
        node,
        Clauses(
            keys=tuple(
                bind_column(binder, node, _column(binder, key)) for key in clauses.get(words.KEYS, ())
            ),
            order=tuple(_sorting(binder, node, item) for item in clauses.get(words.ORDER, ())),
            pattern=pattern,
            skip=parse_skip(_text(binder, skip), pattern) if skip else None,
            within_ms=_within(binder, clauses.get(words.WITHIN, ())),
            defines=_named(binder, clauses.get(words.DEFINE, ())),
            measures=_named(binder, clauses.get(words.MEASURES, ())),
        ),
        span,
    )


def _refused(binder: QueryBinder, tree: exp.Expr, message: str, fix: str) -> Exception:
    return binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)


def _text(binder: QueryBinder, parts: Sequence[exp.Expr]) -> Fragment:
    """The text of a clause that is no SQL."""
    place = tree_offsets(parts[0])
    assert place is not None  # a name was put there for its place
    return binder.fragment.slice(*place)


def _inside(pattern: Fragment) -> Fragment:
    """What stands between the parentheses of PATTERN ( )."""
    opening = pattern.text.index("(")
    return pattern.slice(opening + 1, pattern.text.rindex(")"))


def _column(binder: QueryBinder, tree: exp.Expr) -> exp.Column:
    if not isinstance(tree, exp.Column):
        message = "PARTITION BY and ORDER BY of MATCH_RECOGNIZE take names of columns"
        fix = "compute the value in a model below, or in a subquery before MATCH_RECOGNIZE"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    return tree


def _sorting(binder: QueryBinder, node: Node, tree: exp.Expr) -> Sorting:
    column = _column(binder, tree.expressions[0])
    return Sorting(bind_column(binder, node, column), str(tree.this) == words.DESCENDING, binder.span(column))


def _within(binder: QueryBinder, parts: Sequence[exp.Expr]) -> int | None:
    if not parts:
        return None
    tree = parts[0]
    literal: scalar.Literal | None = interval_literal(tree) if isinstance(tree, exp.Interval) else None
    if literal is None and isinstance(tree, exp.Interval):
        message, fix = interval_problem(tree)
        raise binder.error(codes.WRONG_VALUE, message, tree, fix=fix)
    if literal is None or not isinstance(literal.value, int) or literal.value <= 0:
        message = "WITHIN takes an interval of whole milliseconds, above zero"
        raise binder.error(codes.WRONG_VALUE, message, tree, fix="write WITHIN INTERVAL '1' HOUR")
    return literal.value


def _named(binder: QueryBinder, parts: Sequence[exp.Expr]) -> tuple[Named, ...]:
    found: list[Named] = []
    for part in parts:
        name, tree = part.expressions
        found.append(Named(name.name, binder.span(name), tree, binder.fragment))
    return tuple(found)

"""GROUP BY over SESSION as one operator, where the groups are the sessions.

Taken apart, a session keeps all its rows until it closes, and the groups are built from them. If the keys
of the groups are the session's bounds and its PARTITION BY, and nothing but the keys reads the bounds,
running aggregates are enough. Filters and projections in between move into the aggregates: a row that does
not pass still holds its session together, as it does when the operators stand apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Call, Column, Expr, Literal, Op, columns_of, conjunction, is_deterministic
from compiler.plan.expr import transform as rewritten
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, Filter, Project, Session, SessionAggregate
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Schema

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder

_BOUNDS = (START, END, TIME)
# How many rows of a session passed the filters; no name of a user's begins so.
_PASSED = "__headrace_passed"


def session_aggregate(
    builder: Builder, node: Node, keys: Sequence[NamedExpr], aggregates: Sequence[NamedExpr], span: Span
) -> Node | None:
    """The aggregate of sessions, or None if `node` gives none or the groups are no sessions."""
    below = _session_below(node)
    if below is None:
        return None
    session = below.session
    named = [(key.name, below.inlined(key.expr)) for key in keys]
    computed = _computed_keys(session)
    named = [(name, computed.get(expr, expr)) for name, expr in named]
    columns = [(name, expr.name) for name, expr in named if isinstance(expr, Column)]
    found = {column for _, column in columns}
    if len(columns) < len(named) or len(found) < len(columns) or not {START, END} <= found:
        return None
    if found - set(_BOUNDS) != set(session.keys):
        return None
    values = [NamedExpr(item.name, below.inlined(item.expr)) for item in aggregates]
    passes = below.condition
    read = [*(item.expr for item in values), *([] if passes is None else [passes])]
    if any(name in _BOUNDS for expr in read for name in columns_of(expr)):
        return None
    if passes is not None:
        condition = passes
        values = [NamedExpr(item.name, _filtered(item.expr, condition)) for item in values]
        count = Call(t.BIGINT, False, "count_if", (condition,), aggregate=True)
        values.append(NamedExpr(_PASSED, count))
    result: Node = SessionAggregate(
        builder.uid("aggregate", span),
        session.input,
        tuple(columns),
        session.time_column,
        session.gap_ms,
        tuple(values),
    )
    return result if passes is None else _passed(builder, result, span)


def _computed_keys(session: Session) -> dict[Expr, Expr]:
    """Keys of the session that a projection right below it computes, by what they are."""
    below = session.input
    items = below.items if isinstance(below, Project) else ()
    return {
        item.expr: Column(item.expr.type, item.expr.nullable, item.name)
        for item in items
        if item.name in session.keys and not isinstance(item.expr, Column) and is_deterministic(item.expr)
    }


def rows_with_time(node: Node) -> Schema:
    """The columns of rows that are grouped, with the event time by which rows of a session are ordered.

    Behind SESSION that column is no event time any more, but it is still the rows' own.
    """
    below = _session_below(node)
    if below is None:
        return node.schema
    session = below.session
    time = session.input.schema.get(session.time_column)
    assert time is not None
    own = Column(time.type, time.nullable, time.name)
    return Schema(
        tuple(
            replace(field, watermark_ms=time.watermark_ms)
            if below.inlined(Column(field.type, field.nullable, field.name)) == own
            else field
            for field in node.schema
        )
    )


@frozen
class _Below:
    """A session, and what lies between it and the groups.

    `inlined` writes an expression over the columns of the session; `condition` is what rows must fulfil.
    """

    session: Session
    inlined: Callable[[Expr], Expr]
    condition: Expr | None


def _session_below(node: Node) -> _Below | None:
    between: list[Project | Filter] = []
    while not isinstance(node, Session):
        if isinstance(node, (Project, Filter)):
            if not all(is_deterministic(expr) for expr in node.expressions):
                return None
            between.append(node)
        elif not isinstance(node, Boundary):
            return None
        (node,) = node.inputs
    conditions = [
        _over_session(step.predicate, between[number + 1 :])
        for number, step in enumerate(between)
        if isinstance(step, Filter)
    ]
    condition = conjunction(conditions[::-1]) if conditions else None
    return _Below(node, lambda expr: _over_session(expr, between), condition)


def _over_session(expr: Expr, between: Sequence[Project | Filter]) -> Expr:
    """The expression over the columns that go into the operators `between`, the last of which is lowest."""
    for step in between:
        if isinstance(step, Project):
            values = {item.name: item.expr for item in step.items}

            def written_out(part: Expr, values: dict[str, Expr] = values) -> Expr | None:
                return values.get(part.name) if isinstance(part, Column) else None

            expr = rewritten(expr, written_out)
    return expr


def _filtered(expr: Expr, condition: Expr) -> Expr:
    """The aggregates in an expression, over those rows alone that fulfil the condition."""

    def change(part: Expr) -> Expr | None:
        if not (isinstance(part, Call) and part.aggregate):
            return None
        where = condition if part.where is None else conjunction([condition, part.where])
        return replace(part, where=where)

    return rewritten(expr, change)


def _passed(builder: Builder, node: Node, span: Span) -> Node:
    """Without the sessions of which no row fulfilled the condition."""
    passed = Column(t.BIGINT, False, _PASSED)
    zero = Literal(t.INT, False, "0", 0)
    node = builder.filter(node, Op(t.BOOLEAN, False, ">", (passed, zero)), span)
    kept = [f for f in node.schema if f.name != _PASSED]
    return builder.project(node, [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in kept], span)

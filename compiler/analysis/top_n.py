"""A filter over ROW_NUMBER is a Top-N: recognised here, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.analysis.changelogs import with_before
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.expr import Column, Expr, Literal, Op, SortKey, conjunction, conjuncts
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, Filter, Over, Project, TopN
from compiler.plan.operators.window import END, START

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder

_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@frozen
class _Bound:
    """A conjunct that bounds a column from above; `exact` if nothing of it is left to filter."""

    column: str
    limit: int
    rest: Expr | None


def filtered(builder: Builder, node: Node, predicate: Expr, span: Span) -> Node | None:
    """The Top-N that a filter makes of a ROW_NUMBER below it, or None if it makes none.

    Other parts of the predicate stay a filter. Between the filter and ROW_NUMBER there may be projections,
    other filters, and ends of models.

    Raises:
        DiagnosticError: a Top-N that cannot be run on a stream (HR306, HR307, HR330, HR335).
    """
    parts = conjuncts(predicate)
    for part in parts:
        bound = _bound(part)
        path = _path(node, bound.column) if bound is not None else None
        if bound is None or path is None:
            continue
        *above, over = path
        assert isinstance(over, Over)
        bounds = {id(p): b for p in parts if (b := _bound(p)) is not None and b.column == bound.column}
        limit = min(b.limit for b in bounds.values())
        number = over.row_number
        assert number is not None
        made: Node = build_top_n(builder, over.input, over.partition, over.order, limit, number.name, span)
        for operator in reversed(above):
            made = operator.with_inputs((made,))
        rest = [(bounds[id(p)].rest if id(p) in bounds else p) for p in parts]
        left = [p for p in rest if p is not None]
        return Filter(builder.uid("filter", span), made, conjunction(left)) if left else made
    return None


def build_top_n(
    builder: Builder,
    node: Node,
    partition: Sequence[Expr],
    order: Sequence[SortKey],
    limit: int,
    rank: str | None,
    span: Span,
) -> TopN:
    """Keeps the first rows of each group.

    Raises:
        DiagnosticError: it cannot be run on a stream (HR306, HR307, HR330, HR335).
    """
    if limit < 1:
        message = "a row's number is never less than 1, so no row is kept"
        raise DiagnosticError(Diagnostic(codes.ROW_NUMBER_USE, message, span, fix="keep at least the first"))
    if node.is_stream:
        node = with_before(builder, node, "Top-N over changes", span)
    uid = builder.uid("dedup" if limit == 1 else "top", span)
    plain = TopN(
        uid,
        node,
        tuple(partition),
        tuple(order),
        limit,
        rank,
        builder.options.state_ttl_ms,
        builder.options.allow_unbounded,
    )
    if node.is_stream:
        _check(plain, span)
    return plain


def _check(top: TopN, span: Span) -> None:
    if not top.order:
        message = "ROW_NUMBER needs ORDER BY: without, which rows come first would differ from run to run"
        raise DiagnosticError(Diagnostic(codes.ROW_NUMBER_USE, message, span, fix="add ORDER BY"))
    _check_window_keys(top, span)
    if top.emit in ("changes", "retracting"):
        _check_key(top, span)


def _check_window_keys(top: TopN, span: Span) -> None:
    fields = [top.input.schema.get(key.name) for key in top.partition if isinstance(key, Column)]
    marks = [f.window for f in fields if f is not None and f.window is not None]
    for window in dict.fromkeys(mark.window for mark in marks):
        parts = {mark.part for mark in marks if mark.window == window}
        if parts in ({"start"}, {"end"}):
            has, lacks = (START, END) if "start" in parts else (END, START)
            raise DiagnosticError(
                Diagnostic(
                    codes.WINDOW_KEYS,
                    f"PARTITION BY has {has} but not {lacks}",
                    span,
                    cause="only both together make a group that ends with its window",
                    fix=f"add {lacks} to PARTITION BY",
                )
            )


def _check_key(top: TopN, span: Span) -> None:
    computed = [key for key in top.partition if not isinstance(key, Column)]
    if computed or (not top.partition and top.limit == 1):
        what = f"`{to_sql(computed[0])}` is no column" if computed else "there is no PARTITION BY"
        raise DiagnosticError(
            Diagnostic(
                codes.TOP_N_KEY,
                "the changes of this Top-N have no key",
                span,
                cause=f"a row replaces the one of its key, and {what}",
                fix="compute the key as a column in a model below, and partition by it",
            )
        )


# --- recognising -----------------------------------------------------------------------------------------


def _bound(expr: Expr) -> _Bound | None:
    if not isinstance(expr, Op):
        return None
    if expr.op == "BETWEEN":
        column, low, high = expr.args
        if isinstance(column, Column) and (limit := _whole(high)) is not None:
            rest = None if (_whole(low) or 0) == 1 else Op(expr.type, expr.nullable, ">=", (column, low))
            return _Bound(column.name, limit, rest)
        return None
    if expr.op not in _MIRROR or len(expr.args) != 2:
        return None
    left, right, op = *expr.args, expr.op
    if isinstance(right, Column):
        left, right, op = right, left, _MIRROR[op]
    value = _whole(right)
    if not isinstance(left, Column) or value is None or op in (">", ">="):
        return None
    if op == "=":
        return _Bound(left.name, value, None if value == 1 else expr)
    return _Bound(left.name, value if op == "<=" else value - 1, None)


def _whole(expr: Expr) -> int | None:
    if isinstance(expr, Literal) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
        return expr.value
    return None


def _path(node: Node, column: str) -> list[Node] | None:
    """The operators from `node` down to the ROW_NUMBER whose column it is, or None."""
    path: list[Node] = []
    while True:
        path.append(node)
        if isinstance(node, Over):
            number = node.row_number
            return path if number is not None and number.name == column else None
        if isinstance(node, Project):
            source = next((item.expr for item in node.items if item.name == column), None)
            if not isinstance(source, Column):
                return None
            column = source.name
        elif not isinstance(node, (Boundary, Filter)):
            return None
        (node,) = node.inputs

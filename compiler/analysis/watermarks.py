"""Spark's WATERMARK clause in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.builder import identity
from compiler.analysis.scope import Scope
from compiler.analysis.table_arguments import TableArgument, bind_table, named_table
from compiler.diagnostics import codes
from compiler.plan import types as t
from compiler.plan.expr import Column
from compiler.plan.node import Node, walk
from compiler.plan.operators import Scan, Watermark
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.intervals import interval_literal

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


def bind_watermark(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """`FROM t WATERMARK ts DELAY OF INTERVAL 10 SECONDS`, as the tokens were rewritten.

    Raises:
        DiagnosticError: the rows have an event time (HR322), or this is none (HR303).
    """
    table, expression, delay, *names = call.expressions
    node = bind_table(binder, TableArgument(table, ()))
    known = next((field.name for field in node.schema if field.is_event_time), None)
    if known is not None:
        raise binder.error(
            codes.WATERMARK_TWICE,
            f"the rows have an event time already: `{known}`",
            expression,
            cause="Spark keeps one watermark a stream, and two would contradict each other",
            fix="remove one of the two, in the source or here",
        )
    relation = named_table(call)
    scope = Scope.of(node.schema, relation.name if relation is not None else None)
    value = binder.expressions(scope, "WATERMARK").bind(expression)
    if not isinstance(value.type, t.Timestamp):
        message = f"an event time is a TIMESTAMP, not {value.type}"
        raise binder.error(codes.WATERMARK_EXPRESSION, message, expression)
    delay_ms = _milliseconds(delay)
    if delay_ms is None or delay_ms < 0:
        message = "the delay of a watermark must be an interval of whole milliseconds"
        raise binder.error(codes.WATERMARK_EXPRESSION, message, delay, fix="write INTERVAL 10 SECONDS")
    span = binder.span(expression)
    if names:
        name = names[0].name
        node = binder.builder.project(node, [*identity(node.schema), NamedExpr(name, value)], span)
    elif isinstance(value, Column):
        name = value.name
    else:
        message = "a computed event time needs a name"
        fix = f"write WATERMARK {span.text} AS rowtime DELAY OF …"
        raise binder.error(codes.UNNAMED_COLUMN, message, expression, fix=fix)
    if not node.is_stream:
        return node
    source = next(scan.uid for scan in walk(node) if isinstance(scan, Scan))
    uid = binder.builder.uid("watermark", span)
    return Watermark(uid, node, name, delay_ms, source=source, on_null="fail")


def _milliseconds(tree: exp.Expr) -> int | None:
    """`INTERVAL 1 HOUR 30 MINUTES` is a sum to sqlglot."""
    if isinstance(tree, exp.Add):
        first, second = _milliseconds(tree.this), _milliseconds(tree.args["expression"])
        return None if first is None or second is None else first + second
    literal = interval_literal(tree) if isinstance(tree, exp.Interval) else None
    return literal.value if literal is not None and isinstance(literal.value, int) else None

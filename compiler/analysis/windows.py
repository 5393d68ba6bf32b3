"""TUMBLE and HOP in FROM, in every spelling: with and without TABLE( ), positional and named arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from compiler.analysis.table_arguments import (
    Signature,
    bind_arguments,
    bind_column,
    bind_table,
    descriptor,
    function_name,
    table_argument,
)
from compiler.diagnostics import codes
from compiler.plan import expr as scalar
from compiler.plan.node import Node
from compiler.syntax.intervals import interval_literal, interval_problem

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

SIGNATURES: dict[str, Signature] = {
    "tumble": Signature(
        ("data", "timecol", "size", "offset"),
        frozenset({"offset"}),
        "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
    ),
    "hop": Signature(
        ("data", "timecol", "slide", "size", "offset"),
        frozenset({"offset"}),
        "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '5' MINUTES)",
    ),
}


def bind_window_function(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """Binds a window function.

    Raises:
        DiagnosticError: wrong arguments, or a column that is no event time.
    """
    name = function_name(call)
    if name not in SIGNATURES:
        message = f"{name.upper()} is not supported yet"
        raise binder.error(codes.NOT_YET_STREAMING, message, call, fix="windows are TUMBLE and HOP")
    signature = SIGNATURES[name]
    arguments = bind_arguments(binder, call, signature)
    node = bind_table(binder, table_argument(arguments["data"]))
    time = descriptor(binder, call, signature, arguments["timecol"], "the second argument")
    column = bind_column(binder, node, time)
    size = _milliseconds(binder, arguments["size"], "size")
    slide = _milliseconds(binder, arguments["slide"], "slide") if "slide" in arguments else size
    offset = _milliseconds(binder, arguments["offset"], "offset") if "offset" in arguments else 0
    shape: Literal["tumble", "hop"] = "hop" if name == "hop" else "tumble"
    sizes = binder.span(arguments.get("slide", arguments["size"])).to(binder.span(arguments["size"]))
    return binder.builder.window(
        node, shape, column, size, slide, offset, binder.span(call), binder.span(time), sizes
    )


def _milliseconds(binder: QueryBinder, tree: exp.Expr, what: str) -> int:
    literal: scalar.Literal | None = interval_literal(tree) if isinstance(tree, exp.Interval) else None
    if literal is None and isinstance(tree, exp.Interval):
        message, fix = interval_problem(tree)
        raise binder.error(codes.WRONG_VALUE, message, tree, fix=fix)
    if literal is None or not isinstance(literal.value, int):
        cause = "months differ in length" if literal is not None and literal.value is None else None
        raise binder.error(
            codes.WRONG_VALUE,
            f"the {what} of a window must be an interval of whole milliseconds",
            tree,
            cause=cause,
            fix="write INTERVAL '5' MINUTES",
        )
    return literal.value

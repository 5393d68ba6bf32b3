"""Window functions in FROM, in every spelling: with and without TABLE( ), positional and named arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.analysis.stacked_windows import lacks_time
from compiler.analysis.table_arguments import (
    Signature,
    bind_arguments,
    bind_column,
    bind_table,
    descriptor,
    function_name,
    table_argument,
)
from compiler.analysis.window_assign import Places, Sizes, assign_session, assign_window
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.plan import expr as scalar
from compiler.plan.node import Node
from compiler.plan.schema import Field, WindowShape
from compiler.syntax.intervals import interval_literal, interval_problem

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

SIGNATURES: Final[dict[str, Signature]] = {
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
    "cumulate": Signature(
        ("data", "timecol", "step", "size", "offset"),
        frozenset({"offset"}),
        "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTES, INTERVAL '10' MINUTES)",
    ),
    "session": Signature(
        ("data", "timecol", "gap"),
        frozenset(),
        "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTES)",
    ),
}
_SHAPES: Final[dict[str, WindowShape]] = {"tumble": "tumble", "hop": "hop", "cumulate": "cumulate"}
# What a shape calls the distance between its windows.
_SLIDES: Final[dict[str, str]] = {"tumble": "size", "hop": "slide", "cumulate": "step"}


def bind_window_function(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """Binds a window function.

    Raises:
        DiagnosticError: wrong arguments, or a column that is no event time.
    """
    name = function_name(call)
    signature = SIGNATURES[name]
    arguments = bind_arguments(binder, call, signature)
    data = table_argument(arguments["data"])
    if data.partition_by and name != "session":
        message = f"{name.upper()} has no PARTITION BY: its windows are the same for all keys"
        fix = "remove it, and put the keys into GROUP BY"
        raise binder.error(codes.WRONG_ARGUMENTS, message, data.partition_by[0], fix=fix)
    node = bind_table(binder, data)
    time = descriptor(binder, call, signature, arguments["timecol"], "the second argument")
    try:
        column = bind_column(binder, node, time)
    except DiagnosticError as error:
        raise lacks_time(binder.builder, node, time.name, error) from error
    if name == "session":
        keys = [_partition_column(binder, node, key) for key in data.partition_by]
        gap = arguments["gap"]
        places = Places(binder.span(call), binder.span(time), binder.span(gap))
        return assign_session(binder.builder, node, keys, column, _milliseconds(binder, gap, "gap"), places)
    size = _milliseconds(binder, arguments["size"], "size")
    word = _SLIDES[name]
    slide = _milliseconds(binder, arguments[word], word)
    offset = _milliseconds(binder, arguments["offset"], "offset") if "offset" in arguments else 0
    span = binder.span(arguments[word]).to(binder.span(arguments["size"]))
    sizes = Sizes(_SHAPES[name], size, slide, offset)
    return assign_window(
        binder.builder, node, column, sizes, Places(binder.span(call), binder.span(time), span)
    )


def _partition_column(binder: QueryBinder, node: Node, tree: exp.Expr) -> Field:
    if not isinstance(tree, exp.Column):
        message = "PARTITION BY of a table argument takes names of columns"
        fix = "compute the key in a query: SESSION((SELECT *, … AS k FROM t) PARTITION BY k, …)"
        raise binder.error(codes.WRONG_ARGUMENTS, message, tree, fix=fix)
    return bind_column(binder, node, tree)


def _milliseconds(binder: QueryBinder, tree: exp.Expr, what: str) -> int:
    negative = isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Interval)
    if negative:
        tree = tree.this
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
    return -literal.value if negative else literal.value

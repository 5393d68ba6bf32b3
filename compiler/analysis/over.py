"""OVER: binds functions over windows of rows, and puts the operators that compute them under a SELECT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.calls import bind_call
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.plan.expr import Call, Column, Expr, Frame, Literal, SortKey, transform, walk
from compiler.plan.expr import Over as OverExpr
from compiler.plan.node import Node
from compiler.plan.operators import Over
from compiler.plan.operators.over import ROW_NUMBER, UNNAMED
from compiler.plan.operators.project import NamedExpr
from compiler.syntax.intervals import interval_literal
from compiler.syntax.tokens.functions import MARK

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder
    from compiler.analysis.expressions import ExpressionBinder
    from compiler.analysis.grouping import SelectItem

NamedWindows = Mapping[str, exp.Window]
"""The WINDOW clause of a SELECT, by lower-case name."""

_EVERYTHING_BEFORE = Frame("range", None)
_STREAMING = ("avg", "count", "first_value", "lag", "last_value", "max", "min", ROW_NUMBER, "sum")
_SAME = {"first": "first_value", "last": "last_value", "mean": "avg"}
# Why a function cannot be computed as rows come, and what to write.
_NEVER = {
    "lead": ("it needs a row that has not come yet", "use LAG in the other direction, or MATCH_RECOGNIZE"),
    "rank": ("rows would have to be numbered again with each that comes", "use ROW_NUMBER() … <= N"),
    "dense_rank": ("rows would have to be numbered again with each that comes", "use ROW_NUMBER() … <= N"),
    "ntile": ("the number of rows is not known before the stream ends", None),
    "percent_rank": ("the number of rows is not known before the stream ends", None),
    "cume_dist": ("the number of rows is not known before the stream ends", None),
}


def named_windows(tree: exp.Select) -> NamedWindows:
    """The WINDOW clause of a SELECT."""
    return {window.this.name.lower(): window for window in tree.args.get("windows") or ()}


def bind_over(binder: ExpressionBinder, tree: exp.Window) -> OverExpr:
    """Binds `f(x) OVER (PARTITION BY … ORDER BY …)`.

    Raises:
        DiagnosticError: it stands where it cannot (HR106), or a mistake inside.
    """
    if binder.windows is None:
        fix = "compute it in SELECT, and filter with QUALIFY or in the query around it"
        message = f"OVER cannot stand in {binder.clause}"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    named, binder.windows = binder.windows, None
    try:
        base = _base(binder, tree, named)
        call = over_call(binder, tree.this)
        partition = tuple(binder.bind(part) for part in _part(tree, base, "partition_by") or ())
        order = _part(tree, base, "order")
        keys = tuple(sort_key(binder, item) for item in order.expressions) if order is not None else ()
        spec = _part(tree, base, "spec")
        frame = _EVERYTHING_BEFORE if spec is None else _frame(binder, spec, tree)
    finally:
        binder.windows = named
    return over_expr(call, partition, keys, frame)


def over_expr(call: Call, partition: Sequence[Expr], order: Sequence[SortKey], frame: Frame) -> OverExpr:
    """A function over a frame; those that number rows or look back at one have a frame of their own."""
    call = replace(call, name=_SAME.get(call.name, call.name))
    if not call.aggregate:
        offset = call.args[1] if call.name == "lag" and len(call.args) > 1 else None
        back = offset.value if isinstance(offset, Literal) and isinstance(offset.value, int) else 1
        frame = Frame("rows", back if call.name == "lag" else None)
    return OverExpr(call.type, call.nullable, call, tuple(partition), tuple(order), frame)


def sort_key(binder: ExpressionBinder, tree: exp.Expr) -> SortKey:
    """An item of ORDER BY; NULL comes first ascending and last descending, unless it is said."""
    descending = bool(tree.args.get("desc")) if isinstance(tree, exp.Ordered) else False
    nulls_first = bool(tree.args.get("nulls_first")) if isinstance(tree, exp.Ordered) else True
    return SortKey(binder.bind(tree.this if isinstance(tree, exp.Ordered) else tree), descending, nulls_first)


def _base(binder: ExpressionBinder, tree: exp.Window, named: NamedWindows) -> exp.Window | None:
    alias = tree.args.get("alias")
    if alias is None:
        return None
    found = named.get(alias.name.lower())
    if found is None:
        fix = did_you_mean(alias.name, list(named)) or f"add WINDOW {alias.name} AS (…) behind FROM and WHERE"
        raise binder.error(codes.UNKNOWN_RELATION, f"there is no window `{alias.name}`", alias, fix=fix)
    return found


def _part(tree: exp.Window, base: exp.Window | None, name: str) -> exp.Expr | None:
    """What the call says itself, or else the window that it names."""
    found: exp.Expr | None = tree.args.get(name) or None
    return found if found is not None or base is None else base.args.get(name) or None


def over_call(binder: ExpressionBinder, tree: exp.Expr) -> Call:
    """The function that stands before OVER.

    Raises:
        DiagnosticError: it is none, or none that can stand there.
    """
    ignore, where = False, None
    if isinstance(tree, (exp.IgnoreNulls, exp.RespectNulls)):
        ignore, tree = isinstance(tree, exp.IgnoreNulls), tree.this
    if isinstance(tree, exp.Filter):
        where, tree = tree.args["expression"].this, tree.this
    if not isinstance(tree, exp.Anonymous):
        raise binder.error(codes.UNSUPPORTED_SYNTAX, "OVER needs a function before it", tree)
    name = str(tree.this).removeprefix(MARK).lower()
    call = bind_call(binder, name, list(tree.expressions), tree, where, over=True)
    if not isinstance(call, Call):
        raise binder.error(codes.UNSUPPORTED_SYNTAX, f"`{name}` is not computed OVER rows", tree)
    if not call.aggregate and call.name not in (*_NEVER, ROW_NUMBER, "lag", "nth_value"):
        raise binder.error(codes.UNSUPPORTED_SYNTAX, f"`{name}` is not computed OVER rows", tree)
    return replace(call, ignore_nulls=True) if ignore else call


def _frame(binder: ExpressionBinder, spec: exp.Expr, tree: exp.Expr) -> Frame:
    unit = "rows" if str(spec.args.get("kind") or "RANGE").upper() == "ROWS" else "range"
    end, side = spec.args.get("end"), str(spec.args.get("end_side") or "")
    if str(spec.args.get("start_side") or "") == "FOLLOWING" or end not in (None, "CURRENT ROW") or side:
        raise binder.error(
            codes.OVER_FRAME,
            "a frame of a stream ends at the current row",
            tree,
            cause="rows that follow have not come yet",
            fix=f"write {unit.upper()} BETWEEN … PRECEDING AND CURRENT ROW",
        )
    start = spec.args.get("start")
    if start in (None, "UNBOUNDED"):
        return Frame("rows" if unit == "rows" else "range", None)
    if start == "CURRENT ROW":
        return Frame("rows" if unit == "rows" else "range", 0)
    far = interval_literal(start) if isinstance(start, exp.Interval) else None
    if unit == "range":
        if far is None or not isinstance(far.value, int):
            fix = "write RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW, or ROWS with a number"
            raise binder.error(codes.OVER_FRAME, "RANGE takes an interval of time", tree, fix=fix)
        return Frame("range", far.value)
    count = binder.bind(start) if isinstance(start, exp.Expr) else None
    if not isinstance(count, Literal) or not isinstance(count.value, int) or isinstance(count.value, bool):
        fix = "write ROWS BETWEEN 5 PRECEDING AND CURRENT ROW, or RANGE with an interval"
        raise binder.error(codes.OVER_FRAME, "ROWS takes a whole number", tree, fix=fix)
    return Frame("rows", count.value)


# --- operators -------------------------------------------------------------------------------------------


def lift_over(builder: Builder, node: Node, items: Sequence[SelectItem]) -> tuple[Node, list[SelectItem]]:
    """Puts the operators under a SELECT that compute its functions OVER rows.

    Returns:
        The rows with a column for each, and the items over them.

    Raises:
        DiagnosticError: one that has no streaming form.
    """
    names: dict[OverExpr, str] = {}
    places: dict[OverExpr, Span] = {}
    taken = {name.lower() for name in node.schema.names}
    for item in items:
        for part in walk(item.expr):
            if isinstance(part, OverExpr) and part not in names:
                own = item.name if part is item.expr and item.name else f"{UNNAMED}{len(names) + 1}"
                names[part] = own if own.lower() not in taken else f"{UNNAMED}{len(names) + 1}"
                taken.add(names[part].lower())
                places[part] = item.span
    if not names:
        return node, list(items)
    groups: dict[tuple[object, ...], list[OverExpr]] = {}
    for over in names:
        # ROW_NUMBER stands alone, so that a filter above can make a Top-N of it.
        alone = over.call.name == ROW_NUMBER
        groups.setdefault((over.partition, over.order, alone), []).append(over)
    for group in groups.values():
        functions = [NamedExpr(names[over], over) for over in group]
        node = build_over(builder, node, functions, [places[over] for over in group])

    def to_column(expr: Expr) -> Expr | None:
        name = names.get(expr) if isinstance(expr, OverExpr) else None
        return None if name is None else Column(expr.type, expr.nullable, name)

    return node, [replace(item, expr=transform(item.expr, to_column)) for item in items]


def build_over(builder: Builder, node: Node, functions: Sequence[NamedExpr], places: Sequence[Span]) -> Over:
    """The operator of functions that share partition and order.

    Raises:
        DiagnosticError: a function (HR331), an order (HR332) or a frame (HR333) that streams do not have.
    """
    first = functions[0].expr
    assert isinstance(first, OverExpr)
    options = builder.options
    over = Over(
        builder.uid("over", places[0]),
        node,
        first.partition,
        first.order,
        tuple(functions),
        options.state_ttl_ms,
        options.bounds_state,
    )
    if node.is_stream:
        for item, place in zip(functions, places, strict=True):
            assert isinstance(item.expr, OverExpr)
            _check_function(item.expr.call, place)
        # Whether a ROW_NUMBER is one of OVER or of a Top-N is seen at the filter above.
        if over.row_number is None and over.time is None:
            raise DiagnosticError(over_order_problem(over, places[0]))
    return over


def _check_function(call: Call, span: Span) -> None:
    if call.name in _NEVER:
        cause, fix = _NEVER[call.name]
        message = f"`{call.name}` has no streaming form"
        raise DiagnosticError(Diagnostic(codes.WINDOW_FUNCTION, message, span, cause=cause, fix=fix))
    if call.name not in _STREAMING:
        fix = f"functions that do are {', '.join(_STREAMING)}"
        message = f"`{call.name}` is not computed OVER the rows of a stream"
        raise DiagnosticError(Diagnostic(codes.WINDOW_FUNCTION, message, span, fix=fix))
    if call.distinct:
        message = f"DISTINCT inside `{call.name}` has no streaming form with OVER"
        raise DiagnosticError(Diagnostic(codes.WINDOW_FUNCTION, message, span, fix="aggregate in a window"))


def over_order_problem(over: Over, span: Span | None) -> Diagnostic:
    """Says what the order of an OVER should be."""
    times = [f.name for f in over.input.schema if f.is_event_time]
    return Diagnostic(
        codes.OVER_ORDER,
        "OVER on a stream is ordered by an event time, ascending, and by nothing else",
        span,
        cause="a row is complete once the watermark has passed its time; any other order has no such moment",
        fix=f"write ORDER BY {times[0]}" if times else "declare WATERMARK FOR a time in the source",
    )

"""GROUP BY over changes, or with a time to live: what Spark's own aggregates cannot do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from compiler.analysis.advice import keep_all, keep_for
from compiler.analysis.changelogs import with_before
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Call, Case, Cast, Column, Expr, Literal, columns_of
from compiler.plan.node import Node
from compiler.plan.operators import ChangeAggregate
from compiler.plan.operators.change_aggregate import Accumulator
from compiler.plan.operators.project import NamedExpr, project_field

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder
    from compiler.analysis.model_options import ModelOptions

_CAN: Final = "COUNT, COUNT(DISTINCT x), COUNT_IF, SUM, AVG, MIN and MAX"


def takes_rows_back(node: Node, keys: Sequence[NamedExpr], options: ModelOptions) -> bool:
    """Whether a GROUP BY needs state of headrace's own: over changes, or for groups that have a TTL.

    Groups that a watermark closes stay Spark's.
    """
    if not node.is_stream or any(project_field(key, node.schema).is_event_time for key in keys):
        return False
    return not node.changelog.is_append or options.state_ttl_ms is not None


def change_aggregate(
    builder: Builder, node: Node, keys: Sequence[NamedExpr], aggregates: Sequence[NamedExpr], span: Span
) -> Node:
    """The aggregate, over changes that bring the row before them.

    Raises:
        DiagnosticError: an aggregate or a key that it cannot keep (HR344), or state that nobody asked for
            (HR306).
    """
    options = builder.options
    if not options.bounds_state:
        raise _unbounded(bool(keys), span)
    refuse = _Refusals(not node.changelog.is_append, span)
    accumulators = tuple(_accumulator(item, refuse) for item in aggregates)
    for key in keys:
        if not _is_plain(key.expr):
            raise refuse.error(f"key `{key.name}` of type {key.expr.type}", "its keys are plain values")
    if not node.changelog.is_append:
        reads = {name for item in (*keys, *aggregates) for name in columns_of(item.expr)}
        reads.update(node.changelog.key)
        fields = [field for field in node.schema if field.name in reads]
        items = [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in fields]
        # A change of other columns then changes nothing.
        node = with_before(builder, builder.project(node, items, span), "GROUP BY over changes", span)
    uid = builder.uid("aggregate", span)
    return ChangeAggregate(uid, node, tuple(keys), accumulators, options.state_ttl_ms)


_OF_ONE_ROW: Final = ("any_value", "first", "first_value", "last", "last_value")


@frozen(slots=True)
class _Refusals:
    """How to say that a group cannot keep something.

    Args:
        changes: whether the rows are changes; otherwise it is the groups that have a time to live.
        span: where the groups are written.
    """

    changes: bool
    span: Span

    def error(self, what: str, cause: str) -> DiagnosticError:
        """A diagnostic, ready to be raised; `what` is the aggregate."""
        if self.changes:
            return DiagnosticError(
                Diagnostic(
                    codes.AGGREGATE_TAKEN_BACK,
                    f"GROUP BY over changes cannot have {what}",
                    self.span,
                    cause=f"a change takes back what its row has added: {cause}",
                    fix="compute it from the rows before they are changes, or leave it out",
                )
            )
        return DiagnosticError(
            Diagnostic(
                codes.STATE_TTL,
                f"GROUP BY with a state_ttl cannot have {what}",
                self.span,
                cause=f"headrace keeps such groups, since Spark drops none without a watermark: {cause}",
                fix="use a window, or allow_unbounded = true instead of state_ttl",
            )
        )


def _accumulator(item: NamedExpr, refuse: _Refusals) -> Accumulator:
    call = item.expr
    assert isinstance(call, Call)  # what was collected as an aggregate
    match call.name, call.args:
        case "count", args if not call.distinct and _counts_rows(args):
            return _made(item, "count", None, call)
        case "count", (arg,) if not call.distinct or _is_plain(arg):
            return _made(item, "count_distinct" if call.distinct else "count", arg, call)
        case "count_if", (arg,) if not call.distinct:
            one = Literal(t.INT, False, "1", 1)
            return _made(item, "count", Case(t.INT, True, ((arg, one),), None), call)
        case ("sum" | "avg" | "mean") as name, (arg,) if not call.distinct and t.is_numeric(arg.type):
            if arg.type == t.FLOAT:
                arg = Cast(t.DOUBLE, arg.nullable, arg)
            return _made(item, "sum" if name == "sum" else "avg", arg, call)
        case ("min" | "max") as name, (arg,) if _is_plain(arg):
            return _made(item, "min" if name == "min" else "max", arg, call)
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.name.upper()}({distinct}{', '.join(str(arg.type) for arg in call.args)})"
    if call.name in _OF_ONE_ROW and refuse.changes:
        raise refuse.error(shown, "once the row that it took is gone, which one comes next is not known")
    raise refuse.error(shown, f"it has {_CAN} of plain values")


def _counts_rows(args: tuple[Expr, ...]) -> bool:
    """COUNT(*) and COUNT(1); COUNT(NULL) counts nothing."""
    return all(isinstance(arg, Literal) and arg.type != t.NULL for arg in args)


def _is_plain(arg: Expr) -> bool:
    """Whether values can be told apart and sorted by their numbers in Arrow."""
    return t.is_atomic(arg.type) and arg.type not in (t.VARIANT, t.NULL, t.CALENDAR_INTERVAL)


def _made(item: NamedExpr, function: str, arg: Expr | None, call: Call) -> Accumulator:
    if call.where is not None:
        value: Expr = Literal(t.INT, False, "1", 1) if arg is None else arg
        arg = Case(value.type, True, ((call.where, value),), None)
    return Accumulator(item.name, function, arg, call.type, call.nullable)  # type: ignore[arg-type]  # of Function


def _unbounded(keyed: bool, span: Span) -> DiagnosticError:
    return DiagnosticError(
        Diagnostic(
            codes.UNBOUNDED_STATE,
            "GROUP BY over changes keeps every group and the last row of every key for ever"
            if keyed
            else "an aggregate over changes keeps the last row of every key for ever",
            span,
            cause="a change takes back what its row has added, so the row must be remembered",
            fix=f"say how long a row and a group are kept that do not change, {keep_for(span)} on the model; "
            f"or let the state grow, {keep_all(span)}",
        )
    )

"""WITHIN GROUP (ORDER BY …) of aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.diagnostics import codes
from compiler.functions.aggregates import ORDERED_VALUE
from compiler.plan.expr import SortKey

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

_LISTS: Final = frozenset({"listagg", "string_agg"})


def bind_order(
    binder: ExpressionBinder, name: str, order: exp.Expr | None, tree: exp.Expr
) -> tuple[SortKey, ...]:
    """Binds what the rows of a group are sorted by.

    Args:
        binder: of the expression around the call.
        name: the aggregate, in lower case.
        order: ORDER BY, if there is one.
        tree: the call.

    Raises:
        DiagnosticError: an aggregate that takes no order, or lacks the one that it needs (HR106).
    """
    if order is None:
        if name in ORDERED_VALUE - {"mode"}:
            message = f"`{name}` needs WITHIN GROUP"
            fix = f"write {name}(0.5) WITHIN GROUP (ORDER BY x)"
            raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
        return ()
    if name not in _LISTS | ORDERED_VALUE:
        message = f"`{name}` takes no WITHIN GROUP"
        fix = "LISTAGG, MODE, PERCENTILE_CONT and PERCENTILE_DISC do"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    keys = order.expressions
    if name in ORDERED_VALUE and len(keys) != 1:
        message = f"`{name}` is over one value, and {len(keys)} are in ORDER BY"
        raise binder.error(codes.WRONG_ARGUMENTS, message, tree)
    return tuple(
        SortKey(binder.in_aggregate(key.this), bool(key.args.get("desc")), bool(key.args.get("nulls_first")))
        for key in keys
    )

"""Literals and casts.

All raise DiagnosticError for a mistake in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isinf
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from compiler.analysis import typing as rules
from compiler.analysis.certain import conversion_problem
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan import types as t
from compiler.plan.expr import Cast, Expr, Literal
from compiler.plan.expr_sql import quote_string
from compiler.syntax.intervals import interval_literal, interval_problem
from compiler.syntax.sqlglot_types import data_type, suffix

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder


def _suffixed(binder: ExpressionBinder, tree: exp.Expr, suffix: str) -> Expr:
    """A number with its type behind it: `1L`, `2.5BD`."""
    text = str(tree.this)
    found = rules.suffixed_type(text, suffix)
    if found is None:
        raise binder.error(codes.TYPE_MISMATCH, f"`{text}{suffix}` does not fit its type", tree)
    value = int(text) if t.is_integral(found) else float(text)
    return Literal(found, False, f"{text}{suffix}", value)


def bind_cast(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """CAST, TRY_CAST, `::`, typed literals, and numbers with a suffix."""
    behind = suffix(tree.args["to"])
    if behind is not None and isinstance(tree.this, exp.Literal):
        return _suffixed(binder, tree.this, behind)
    arg = binder.bind(tree.this)
    wanted = data_type(
        tree.args["to"], binder.fragment, lambda message: binder.error(codes.UNKNOWN_TYPE, message, tree)
    )
    target = rules.cast_result(wanted)
    # `x::INT` and CAST are one node, TRY_CAST was renamed to SAFE_CAST: see the dialect.
    attempt = bool(tree.args.get("safe"))
    if not rules.can_cast(arg.type, target):
        raise binder.error(codes.TYPE_MISMATCH, f"{arg.type} cannot be cast to {target}", tree)
    if not attempt:
        check_conversion(binder, arg, target, tree)
    return Cast(target, attempt or arg.nullable, arg, attempt)


def check_conversion(binder: ExpressionBinder, arg: Expr, target: t.DataType, tree: exp.Expr) -> None:
    """Refuses a constant that no run could convert."""
    problem = conversion_problem(arg, target)
    if problem is not None:
        cause = f"the conversion to {target} fails, and with it every run"
        fix = "TRY_CAST gives NULL instead" if isinstance(tree, (exp.Cast, exp.TryCast)) else None
        raise binder.error(codes.IMPOSSIBLE_VALUE, problem, tree, cause=cause, fix=fix)


def check_alternatives(
    binder: ExpressionBinder, values: Iterable[tuple[Expr, exp.Expr]], common: t.DataType
) -> None:
    """Refuses a text among values of another type, each with its place, that cannot become one of them."""
    for value, tree in values:
        problem = conversion_problem(value, common) if value.type == t.STRING != common else None
        if problem is not None:
            cause = f"the other values make all of them {common}, and the first row that takes this one fails"
            fix = "CAST the others to STRING, or write a value of their type"
            raise binder.error(codes.IMPOSSIBLE_VALUE, problem, tree, cause=cause, fix=fix)


def bind_literal(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """A number or a string."""
    text = tree.this
    if tree.args.get("is_string"):
        _check_quotes(binder, tree)
        return Literal(t.STRING, False, quote_string(text), text)
    found = rules.literal_type(text)
    if (isinstance(found, t.Decimal) and found.precision > 38) or (found == t.DOUBLE and isinf(float(text))):
        raise binder.error(codes.TYPE_MISMATCH, f"`{text}` fits no type of number", tree)
    value = int(text) if t.is_integral(found) else float(text)
    return Literal(found, False, text, value)


def _check_quotes(binder: ExpressionBinder, tree: exp.Expr) -> None:
    """Warns of a string in double quotes that is the name of a column."""
    if binder.warn is None or binder.place is not None or binder.scope.find((str(tree.this),)) is None:
        return
    span = binder.span(tree)
    if span.text.startswith('"'):
        binder.warn(
            Diagnostic(
                codes.QUOTED_COLUMN,
                f"{span.text} is a string here, and there is a column of that name",
                span,
                cause="in an expression, double quotes make a string, as in Spark",
                fix=f"write `{tree.this}` for the column, '{tree.this}' for the text",
            )
        )


def bind_interval(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """An INTERVAL."""
    literal = interval_literal(tree)
    if literal is None:
        message, fix = interval_problem(tree)
        raise binder.error(codes.WRONG_VALUE, message, tree, fix=fix)
    return literal


def _boolean(_: ExpressionBinder, tree: exp.Expr) -> Expr:
    return Literal(t.BOOLEAN, False, "TRUE" if tree.this else "FALSE", bool(tree.this))


CONSTANTS: Final[dict[type[exp.Expr], Callable[[ExpressionBinder, Any], Expr]]] = {
    exp.Cast: bind_cast,
    exp.TryCast: bind_cast,
    exp.Literal: bind_literal,
    exp.Boolean: _boolean,
    exp.Null: lambda _, _tree: Literal(t.NULL, True, "NULL", None),
    exp.HexString: lambda _, tree: Literal(t.BINARY, False, f"X'{tree.this}'", None),
    exp.Interval: bind_interval,
}

"""Functions whose first argument is a unit of time, written as a bare word: `TIMESTAMPDIFF(DAY, a, b)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.diagnostics import codes
from compiler.diagnostics.suggest import did_you_mean
from compiler.plan import types as t
from compiler.plan.expr import Expr, Literal

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

# Names with three arguments, by what Spark calls them.
UNIT_FUNCTIONS: Final = {
    "timestampadd": "timestampadd",
    "timestampdiff": "timestampdiff",
    "date_add": "timestampadd",
    "dateadd": "timestampadd",
    "date_diff": "timestampdiff",
    "datediff": "timestampdiff",
}
_UNITS = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
    "MICROSECOND",
)  # fmt: skip


def takes_unit(name: str, args: list[exp.Expr]) -> bool:
    """Whether the first argument of this call is a unit."""
    return name in UNIT_FUNCTIONS and len(args) == 3


def bind_unit(binder: ExpressionBinder, name: str, tree: exp.Expr) -> Expr:
    """A unit, which Spark wants as a bare word too.

    Raises:
        DiagnosticError: something else (HR206).
    """
    word = tree.name.upper().removeprefix("SQL_TSI_") if isinstance(tree, (exp.Column, exp.Literal)) else ""
    unit = word.removesuffix("S") if word.removesuffix("S") in _UNITS else word
    if unit not in _UNITS:
        message = f"`{name}`: argument 1 must be a unit of time"
        fix = did_you_mean(word, _UNITS) or f"units are {', '.join(_UNITS)}"
        raise binder.error(codes.TYPE_MISMATCH, message, tree, fix=fix)
    return Literal(t.STRING, False, unit, unit)

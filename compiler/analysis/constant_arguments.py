"""Constants among the arguments of a call that no row can be computed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from compiler.analysis.constants import check_alternatives
from compiler.diagnostics import codes
from compiler.functions.constant_arguments import CHECKS, Problem
from compiler.plan import types as t
from compiler.plan.expr import Expr, Literal

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

# From which argument on they are brought to one type.
_ALTERNATIVES: Final = {"array": 0, "coalesce": 0, "if": 1, "ifnull": 0, "nvl": 0, "nvl2": 1}
# The first argument is compared with the others.
_COMPARED: Final = frozenset({"between", "equal_null", "nullif"})


def check_arguments(
    binder: ExpressionBinder, name: str, bound: Sequence[Expr], trees: Sequence[exp.Expr], result: t.DataType
) -> None:
    """Looks at the constants of a call whose types fit.

    Args:
        binder: of the expression around it.
        name: the function, in lower case.
        bound: its arguments.
        trees: where each is written.
        result: the type of the call.

    Raises:
        DiagnosticError: one that fails, or makes the call NULL, on every row that comes to it (HR229).
    """
    first = _ALTERNATIVES.get(name)
    if first is not None:
        common = result.element if isinstance(result, t.Array) and name == "array" else result
        check_alternatives(binder, list(zip(bound, trees, strict=True))[first:], common)
    elif name in _COMPARED:
        for value, tree in zip(bound[1:], trees[1:], strict=True):
            binder.comparable("=", bound[0], value, tree)
    for check in CHECKS.get(name, ()):
        if check.place >= len(bound) or check.of_calls not in (None, len(bound)):
            continue
        arg = bound[check.place]
        if not isinstance(arg, Literal) or isinstance(arg.value, (bool, float)) or arg.value is None:
            continue
        problem = check.problem(arg.value) if check.of is None or check.of(bound[0].type) else None
        if problem is not None:
            raise constant_error(binder, problem, trees[check.place])


def constant_error(binder: ExpressionBinder, problem: Problem, tree: exp.Expr) -> Exception:
    """HR229 at a constant, ready to be raised."""
    return binder.error(codes.IMPOSSIBLE_VALUE, problem.message, tree, cause=problem.cause, fix=problem.fix)

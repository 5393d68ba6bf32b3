"""Lambdas: `transform(xs, x -> x + 1)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.typing import known
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.functions.lambdas import lambda_parameters
from compiler.functions.spec import TypeProblem
from compiler.plan.expr import Expr, Lambda, Variable

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder


def bind_lambda(binder: ExpressionBinder, function: str, left: Sequence[Expr], tree: exp.Expr) -> Expr:
    """Binds a lambda that is an argument of a function.

    Args:
        binder: of the expression around it.
        function: the name of the function, in lower case.
        left: the arguments before it, bound.
        tree: the lambda.

    Raises:
        DiagnosticError: the function takes no lambda there, or one of other parameters (HR206, HR209).
    """
    names = [parameter.name for parameter in tree.expressions]
    try:
        parameters = lambda_parameters(function, [known(arg) for arg in left])
    except TypeProblem as problem:
        raise binder.error(codes.TYPE_MISMATCH, f"`{function}`: {problem}", tree) from problem
    _check(binder, function, len(left), names, len(parameters), tree)
    variables = {
        name: Variable(arg.type, arg.nullable, name) for name, arg in zip(names, parameters, strict=False)
    }
    body = binder.in_lambda(tree.this, variables)
    return Lambda(body.type, body.nullable, tuple(names), body)


def _check(
    binder: ExpressionBinder, function: str, index: int, names: list[str], most: int, tree: exp.Expr
) -> None:
    if most == 0:
        message = f"`{function}`: argument {index + 1} cannot be a lambda"
        raise binder.error(codes.TYPE_MISMATCH, message, tree)
    if len({name.lower() for name in names}) < len(names):
        raise binder.error(codes.DUPLICATE_NAME, "two parameters of this lambda have one name", tree)
    if len(names) > most or (len(names) < most and not _may_leave_out(function)):
        plural = "" if most == 1 else "s"
        message = f"the lambda of `{function}` takes {most} parameter{plural}, not {len(names)}"
        raise binder.error(codes.WRONG_ARGUMENTS, message, tree)


def _may_leave_out(function: str) -> bool:
    """Whether the last parameter, the index of the element, may be missing."""
    return function in ("filter", "transform")


def unknown_variable(binder: ExpressionBinder, tree: exp.Expr) -> DiagnosticError:
    """The mistake of a name that is neither a column nor a parameter."""
    return binder.error(codes.UNKNOWN_COLUMN, f"unknown name `{tree.name}`", tree)

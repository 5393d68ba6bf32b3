"""Operators of expressions: the logical ones, those before a value, `||`, elements and fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from compiler.analysis.calls import bind_call
from compiler.analysis.predicates import bind_is
from compiler.diagnostics import codes
from compiler.plan import types as t
from compiler.plan.expr import Expr, FieldAccess, Literal, Op

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

_LONG_CHAIN = 50


def _joined(symbol: str, parts: Sequence[Expr]) -> Expr:
    result = parts[0]
    for part in parts[1:]:
        result = Op(t.BOOLEAN, result.nullable or part.nullable, symbol, (result, part))
    return result


def _logical(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    symbol = "AND" if isinstance(tree, exp.And) else "OR"
    # sqlglot nests long chains to the left; a loop keeps them off Python's stack.
    parts: list[exp.Expr] = []
    node: exp.Expr = tree
    while type(node) is type(tree):
        parts.append(node.args["expression"])
        node = node.this
    parts.append(node)
    bound = [binder.condition(part, f"an operand of {symbol}", True) for part in reversed(parts)]
    # A long chain is folded in halves: the passes behind this one go down the tree.
    while len(bound) > _LONG_CHAIN:
        bound = [_joined(symbol, bound[i : i + 2]) for i in range(0, len(bound), 2)]
    return _joined(symbol, bound)


def _not(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    inner = tree.this
    if isinstance(inner, exp.Is):
        return bind_is(binder, inner, negated=True)
    arg = binder.condition(inner, "the operand of NOT", True)
    return Op(t.BOOLEAN, arg.nullable, "NOT", (arg,))


def _negative(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    arg = binder.bind(tree.this)
    if isinstance(arg, Literal) and isinstance(arg.value, (int, float)) and t.is_numeric(arg.type):
        return Literal(arg.type, False, f"-{arg.sql}", -arg.value)
    if not (t.is_numeric(arg.type) or isinstance(arg.type, t.Interval) or arg.type == t.NULL):
        raise binder.error(codes.TYPE_MISMATCH, f"`-` is not defined for {arg.type}", tree)
    return Op(arg.type, arg.nullable, "NEG", (arg,))


def _complement(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    arg = binder.bind(tree.this)
    if not t.is_integral(arg.type):
        raise binder.error(codes.TYPE_MISMATCH, f"`~` is not defined for {arg.type}", tree)
    return Op(arg.type, arg.nullable, "~", (arg,))


def _concat(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    left, right = binder.bind(tree.this), binder.bind(tree.args["expression"])
    both = isinstance(left.type, t.Array) and isinstance(right.type, t.Array)
    found = t.common_type(left.type, right.type) if both else t.STRING
    if found is None or (isinstance(left.type, t.Array) != isinstance(right.type, t.Array)):
        raise binder.error(codes.TYPE_MISMATCH, f"`||` cannot join {left.type} and {right.type}", tree)
    return Op(found, left.nullable or right.nullable, "||", (left, right))


def _index(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    if isinstance(tree.this, exp.Column) and tree.this.sql().upper() == "MAP":
        return bind_call(binder, "map", list(tree.expressions), tree)
    arg, index = binder.bind(tree.this), binder.bind(tree.expressions[0])
    if isinstance(arg.type, t.Array) and t.is_integral(index.type):
        _check_place(binder, index, tree.expressions[0])
        return Op(arg.type.element, True, "[]", (arg, index))
    if isinstance(arg.type, t.Map):
        return Op(arg.type.value, True, "[]", (arg, index))
    raise binder.error(codes.TYPE_MISMATCH, f"{arg.type} has no element [{index.type}]", tree)


def _check_place(binder: ExpressionBinder, index: Expr, tree: exp.Expr) -> None:
    if isinstance(index, Literal) and isinstance(index.value, int) and index.value < 0:
        message = f"there is no element [{index.value}]"
        cause = "places begin with 0, and another fails on every row"
        fix = f"write element_at(…, {index.value}), which counts from the end"
        raise binder.error(codes.IMPOSSIBLE_VALUE, message, tree, cause=cause, fix=fix)


def _field(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    arg, name = binder.bind(tree.this), tree.args["expression"].name
    field = arg.type.field(name) if isinstance(arg.type, t.Struct) else None
    if field is None:
        raise binder.error(codes.UNKNOWN_COLUMN, f"{arg.type} has no field `{name}`", tree)
    return FieldAccess(field.type, arg.nullable or field.nullable, arg, field.name)


OPERATORS: dict[type[exp.Expr], Callable[[ExpressionBinder, Any], Expr]] = {
    exp.And: _logical,
    exp.Or: _logical,
    exp.Not: _not,
    exp.Neg: _negative,
    exp.BitwiseNot: _complement,
    exp.DPipe: _concat,
    exp.Bracket: _index,
    exp.Dot: _field,
}

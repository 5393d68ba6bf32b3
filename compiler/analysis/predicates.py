"""Predicates with a syntax of their own: IS, IN, BETWEEN, LIKE.

All raise DiagnosticError for a mistake in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from compiler.analysis.calls import bind_call
from compiler.analysis.constant_arguments import constant_error
from compiler.diagnostics import codes
from compiler.functions.constant_arguments import like, regex
from compiler.plan import types as t
from compiler.plan.expr import Expr, Literal, Op

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

_PATTERNS: dict[type[exp.Expr], str] = {exp.Like: "LIKE", exp.ILike: "ILIKE", exp.RegexpLike: "RLIKE"}


def bind_is(binder: ExpressionBinder, tree: exp.Expr, negated: bool = False) -> Expr:
    """IS [NOT] NULL, TRUE, FALSE, UNKNOWN and JSON."""
    arg, what = binder.bind(tree.this), tree.args["expression"]
    negation = "NOT " if negated else ""
    if isinstance(what, exp.Null):
        return Op(t.BOOLEAN, False, f"IS {negation}NULL", (arg,))
    if isinstance(what, exp.Boolean):
        return Op(t.BOOLEAN, False, f"IS {negation}{'TRUE' if what.this else 'FALSE'}", (arg,))
    if isinstance(what, exp.JSON) and not what.args.get("unique"):
        kind = str(what.this or "").lower()
        name = "is_json" if kind in ("", "false", "value") else f"is_json_{kind}"
        found = bind_call(binder, name, [tree.this], tree)
        return Op(t.BOOLEAN, False, "NOT", (found,)) if negated else found
    raise binder.unsupported(tree)


def bind_in(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """IN over a list of values."""
    if tree.args.get("query") is not None:
        raise binder.unsupported(tree.args["query"])
    args = [binder.bind(part) for part in (tree.this, *tree.expressions)]
    for value, part in zip(args[1:], tree.expressions, strict=True):
        binder.comparable("IN", args[0], value, part)
    return Op(t.BOOLEAN, any(a.nullable for a in args), "IN", tuple(args))


def bind_between(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """BETWEEN [SYMMETRIC]."""
    parts = (tree.this, tree.args["low"], tree.args["high"])
    args = [binder.bind(part) for part in parts]
    for value, part in zip(args[1:], parts[1:], strict=True):
        binder.comparable("BETWEEN", args[0], value, part)
    nullable = any(a.nullable for a in args)
    found = Op(t.BOOLEAN, nullable, "BETWEEN", tuple(args))
    if not tree.args.get("symmetric"):
        return found
    value, low, high = args
    return Op(t.BOOLEAN, nullable, "OR", (found, Op(t.BOOLEAN, nullable, "BETWEEN", (value, high, low))))


def bind_distinct(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """IS DISTINCT FROM."""
    same = binder.infix("<=>", tree)
    return Op(t.BOOLEAN, False, "NOT", (same,))


def bind_pattern(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    """LIKE, ILIKE and RLIKE."""
    escape: tuple[Expr, ...] = ()
    if isinstance(tree, exp.Escape):
        escape = (_escape(binder, tree.args["expression"]),)
        tree = tree.this
    op = _PATTERNS[type(tree)] + (" ESCAPE" if escape else "")
    args = (_string(binder, tree.this), _string(binder, tree.args["expression"]), *escape)
    _check_pattern(binder, args, tree)
    return Op(t.BOOLEAN, any(a.nullable for a in args), op, args)


def _escape(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    bound = binder.bind(tree)
    if isinstance(bound, Literal) and isinstance(bound.value, str) and len(bound.value) == 1:
        return bound
    fix = "write for example ESCAPE '!'"
    raise binder.error(codes.WRONG_VALUE, "ESCAPE must be one character, written out", tree, fix=fix)


def _check_pattern(binder: ExpressionBinder, args: Sequence[Expr], tree: exp.Expr) -> None:
    """Refuses a constant pattern that no text can be compared with."""
    _, pattern, *escape = args
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return
    if isinstance(tree, exp.RegexpLike):
        problem = regex(pattern.value)
    else:
        signs = [str(sign.value) for sign in escape if isinstance(sign, Literal)]
        problem = like(pattern.value, *signs)
    if problem is not None:
        raise constant_error(binder, problem, tree.args["expression"])


def _string(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    bound = binder.bind(tree)
    if isinstance(bound.type, (t.Array, t.Map, t.Struct)):
        raise binder.error(codes.TYPE_MISMATCH, f"a STRING is expected, not {bound.type}", tree)
    return bound


PREDICATES: Final[dict[type[exp.Expr], Callable[[ExpressionBinder, Any], Expr]]] = {
    exp.Is: bind_is,
    exp.In: bind_in,
    exp.Between: bind_between,
    exp.NullSafeNEQ: bind_distinct,
    exp.Like: bind_pattern,
    exp.ILike: bind_pattern,
    exp.RegexpLike: bind_pattern,
    exp.Escape: bind_pattern,
}

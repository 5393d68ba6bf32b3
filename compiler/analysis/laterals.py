"""What takes rows apart in a query: CROSS JOIN UNNEST, LATERAL, LATERAL VIEW, and explode() in SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.calls import bind_arguments, result_type
from compiler.analysis.generate import Generated, generate, outer_form, unnest
from compiler.analysis.grouping import SelectItem
from compiler.analysis.relations import Bound
from compiler.analysis.scope import Scope
from compiler.analysis.table_arguments import function_name
from compiler.diagnostics import codes
from compiler.diagnostics.suggest import did_you_mean
from compiler.functions import FUNCTIONS, lookup
from compiler.plan.expr import Call, Column
from compiler.plan.node import Node

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

# In FROM only, where Spark's DataFrames have no form of them.
_NOT_RUN = frozenset({"variant_explode", "variant_explode_outer"})
_GENERATORS = tuple(sorted(f.name for f in FUNCTIONS.values() if f.generator and f.name not in _NOT_RUN))


def takes_apart(tree: exp.Expr) -> bool:
    """Whether an entry of FROM takes the rows before it apart, rather than being a relation."""
    if isinstance(tree, exp.Lateral):
        return True
    call = tree.this if isinstance(tree, exp.Table) else None
    return isinstance(call, exp.Anonymous) and function_name(call) == "unnest"


def bind_lateral_join(binder: QueryBinder, left: Bound, join: exp.Join) -> Bound:
    """`CROSS JOIN UNNEST(xs) AS t (x)`, `LEFT JOIN LATERAL TABLE(f(x)) AS t (y) ON TRUE` and their like.

    Raises:
        DiagnosticError: another kind of join, or a mistake in the call.
    """
    outer = _is_outer(binder, join)
    bound = _bind_lateral(binder, left, join.this, outer)
    condition = join.args.get("on")
    if condition is None or _is_true(condition):
        return bound
    predicate = binder.expressions(bound.scope, "ON").condition(condition, "ON")
    return Bound(binder.builder.filter(bound.node, predicate, binder.span(condition)), bound.scope)


def bind_lateral_views(binder: QueryBinder, bound: Bound, tree: exp.Select) -> Bound:
    """`LATERAL VIEW [OUTER] explode(xs) t AS x`, one after the other.

    Raises:
        DiagnosticError: a mistake in one of them.
    """
    for view in tree.args.get("laterals") or ():
        bound = _bind_lateral(binder, bound, view, bool(view.args.get("outer")))
    return bound


def lift_generators(
    binder: QueryBinder, tree: exp.Select, node: Node, scope: Scope
) -> tuple[Node, dict[int, list[SelectItem]]]:
    """Puts a generator of SELECT under it.

    Returns:
        The rows that it gives, and what SELECT's items then are, by the identity of their trees.

    Raises:
        DiagnosticError: a second generator, one beside GROUP BY, or a mistake in it.
    """
    found = [(item, call) for item in tree.expressions if (call := _generator_of(item)) is not None]
    if not found:
        return node, {}
    if len(found) > 1:
        message = "only one function of a SELECT may give several rows"
        fix = "take the second array apart with LATERAL VIEW, or in a model of its own"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, found[1][1], fix=fix)
    item, call = found[0]
    if tree.args.get("group") is not None:
        message = f"`{function_name(call)}` cannot stand beside GROUP BY"
        fix = "group in one model, and take the array apart in the next"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, call, fix=fix)
    bound = _bind_generator(binder, scope, call, "SELECT", outer=False)
    names = [name.name for name in _names(item)]
    made, part = generate(binder.builder, node, bound, names, None, binder.span(item))
    items = [
        SelectItem(c.name, Column(c.field.type, c.field.nullable, c.field.name), item, binder.fragment)
        for c in part.columns
    ]
    return made, {id(item): items}


def generators(tree: exp.Select) -> dict[int, list[SelectItem]]:
    """Nothing for each generator of SELECT, where they have mistakes that have been told."""
    return {id(item): [] for item in tree.expressions if _generator_of(item) is not None}


def _generator_of(item: exp.Expr) -> exp.Anonymous | None:
    call = item.this if isinstance(item, (exp.Alias, exp.Aliases)) else item
    if not isinstance(call, exp.Anonymous):
        return None
    function = lookup(function_name(call))
    return call if function is not None and function.generator else None


def _names(item: exp.Expr) -> Sequence[exp.Expr]:
    if isinstance(item, exp.Aliases):
        return item.expressions
    return (item.args["alias"],) if isinstance(item, exp.Alias) else ()


def _bind_lateral(binder: QueryBinder, left: Bound, tree: exp.Expr, outer: bool) -> Bound:
    call = _called(binder, tree)
    alias = tree.alias or None
    if alias is not None and left.scope.part(alias) is not None:
        message = f"FROM has `{alias}` twice"
        raise binder.error(codes.DUPLICATE_NAME, message, tree, fix="give each an alias of its own")
    node, part = _generated(binder, left, tree, call, outer)
    return Bound(node, Scope((*left.scope.parts, part)))


def _generated(
    binder: QueryBinder, left: Bound, tree: exp.Expr, call: exp.Anonymous, outer: bool
) -> Generated:
    given = tree.args.get("alias")
    names = [name.name for name in given.args.get("columns") or ()] if given is not None else []
    span, alias = binder.span(tree), tree.alias or None
    numbered = bool(tree.args.get("ordinality"))
    if function_name(call) == "unnest":
        if len(call.expressions) != 1:
            message = f"UNNEST takes 1 argument, not {len(call.expressions)}"
            raise binder.error(codes.WRONG_ARGUMENTS, message, call, fix="write one UNNEST for each array")
        value = binder.expressions(left.scope, "UNNEST").bind(call.expressions[0])
        return unnest(binder.builder, left.node, value, names, alias, span, outer=outer, ordinality=numbered)
    if numbered:
        message = "WITH ORDINALITY belongs to UNNEST"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix="use posexplode")
    bound = _bind_generator(binder, left.scope, call, "LATERAL", outer=outer)
    return generate(binder.builder, left.node, bound, names, alias, span)


def _called(binder: QueryBinder, tree: exp.Expr) -> exp.Anonymous:
    """The call, without LATERAL and TABLE( )."""
    call = tree.this
    if isinstance(call, exp.Anonymous) and function_name(call) == "table" and len(call.expressions) == 1:
        call = call.expressions[0]
    if isinstance(call, exp.Anonymous):
        return call
    raise binder.error(
        codes.NOT_YET_STREAMING,
        "LATERAL takes a function here, not a query",
        tree,
        cause="a query would be run anew for every row of the stream",
        fix="join with the relation, or write LATERAL explode(xs) AS t (x)",
    )


def _bind_generator(
    binder: QueryBinder, scope: Scope, call: exp.Anonymous, clause: str, *, outer: bool
) -> Call:
    name = function_name(call)
    function = lookup(outer_form(name) if outer else name)
    if function is None or not function.generator or function.name in _NOT_RUN:
        known = function is not None or lookup(name) is not None
        message = f"`{name}` gives no rows" if known else f"unknown table function `{name}`"
        if function is not None and function.name in _NOT_RUN:
            message = f"`{name}` is not run on a stream"
        fix = did_you_mean(name, _GENERATORS) or f"functions that do are {', '.join(_GENERATORS)}"
        raise binder.error(codes.UNKNOWN_FUNCTION, message, call, fix=fix)
    expressions = binder.expressions(scope, clause)
    args = bind_arguments(expressions, function, list(call.expressions))
    found = result_type(expressions, function, args, call)
    return Call(found, True, function.name, args, deterministic=function.deterministic)


def _is_outer(binder: QueryBinder, join: exp.Join) -> bool:
    side, kind = (join.side or "").lower(), (join.kind or "").lower()
    if join.args.get("using"):
        raise binder.error(codes.UNSUPPORTED_SYNTAX, "USING cannot be said of an array's elements", join)
    if side == "" and kind in ("", "cross", "inner"):
        return False
    if side == "left" and kind in ("", "outer"):
        condition = join.args.get("on")
        if condition is not None and not _is_true(condition):
            message = "LEFT JOIN with what is taken apart takes ON TRUE only"
            fix = "keep the wanted elements before: UNNEST(filter(xs, x -> …)) … ON TRUE"
            raise binder.error(codes.UNSUPPORTED_SYNTAX, message, condition, fix=fix)
        return True
    message = f"{(side or kind).upper()} JOIN cannot take rows apart"
    fix = "write CROSS JOIN, or LEFT JOIN … ON TRUE to keep rows without elements"
    raise binder.error(codes.UNSUPPORTED_SYNTAX, message, join, fix=fix)


def _is_true(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.Boolean) and bool(condition.this)

"""Function calls: looked up in the catalogue, counted, typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.builder import cast_to
from compiler.analysis.catalog import Poisoned
from compiler.analysis.constant_arguments import check_arguments
from compiler.analysis.distinct import DISTINCT, check_set
from compiler.analysis.flink import bind_flink_call
from compiler.analysis.group_windows import bind_window_call
from compiler.analysis.lambdas import bind_lambda
from compiler.analysis.ordered import bind_order
from compiler.analysis.typing import known
from compiler.analysis.units import UNIT_FUNCTIONS, bind_unit, takes_unit
from compiler.analysis.user_functions import is_broken
from compiler.diagnostics import codes
from compiler.diagnostics.suggest import suggest
from compiler.functions import lookup, names
from compiler.functions.aggregates import ORDERED_VALUE
from compiler.functions.spec import Function, TypeProblem
from compiler.plan import types as t
from compiler.plan.expr import PROCTIME, Call, Expr, Literal
from compiler.plan.expr_sql import quote_string

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

# Functions of a FROM clause, with what to write instead.
_NOT_SCALAR = {
    "cumulate": "CUMULATE(TABLE t, DESCRIPTOR(ts), step, size) stands in FROM",
    "descriptor": "DESCRIPTOR(column) stands inside a window function in FROM",
}


def bind_call(
    binder: ExpressionBinder,
    name: str,
    args: list[exp.Expr],
    tree: exp.Expr,
    where: exp.Expr | None = None,
    order: exp.Expr | None = None,
    over: bool = False,
) -> Expr:
    """Binds a call by its catalogue entry.

    `where` is its FILTER, `order` its WITHIN GROUP, `over` says that OVER follows.

    Raises:
        DiagnosticError: unknown (HR205), wrong count (HR209) or types (HR206), misplaced aggregate (HR314).
    """
    if name == PROCTIME and not args:
        return Call(t.Timestamp(3), False, PROCTIME, ())
    bound_of_window = bind_window_call(binder, name, args, tree)
    if bound_of_window is not None:
        return bound_of_window
    rewritten = bind_flink_call(binder, name, args, tree, where)
    if rewritten is not None:
        return rewritten
    if takes_unit(name, args):
        name = UNIT_FUNCTIONS[name]
    function = _known(binder, name, tree)
    if function.aggregate and not over:
        binder.check_aggregate_allowed(name, tree)
    if function.window_only and not over:
        fix = f"write {name}(…) OVER (PARTITION BY … ORDER BY …)"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, f"`{name}` needs OVER", tree, fix=fix)
    if function.generator:
        message = f"`{name}` gives several rows and cannot stand inside an expression"
        fix = f"write it as an item of SELECT by itself, or LATERAL VIEW {name}(…) t AS x behind FROM"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
    args, distinct, ignore_nulls = _modifiers(args)
    if not function.aggregate and (distinct or where is not None):
        word = "DISTINCT" if distinct else "FILTER"
        raise binder.error(codes.UNSUPPORTED_SYNTAX, f"{word} belongs to an aggregate function", tree)
    if distinct and name not in DISTINCT:
        raise binder.error(
            codes.NOT_YET_STREAMING,
            f"DISTINCT inside `{name}` has no streaming form",
            tree,
            cause="Spark refuses DISTINCT aggregates on streams",
            fix=f"DISTINCT can stand in {', '.join(sorted(DISTINCT))}",
        )
    star = name == "count" and len(args) == 1 and isinstance(args[0], exp.Star)
    if star:
        args = []
    bound = bind_arguments(binder, function, args)
    condition = _condition(binder, where)
    within = bind_order(binder, name, order, tree)
    # What is sorted by is an argument of percentile_cont and its like.
    typed = (*bound, within[0].expr) if name in ORDERED_VALUE and within else bound
    found = t.BIGINT if star else result_type(binder, function, typed, tree)
    if distinct:
        check_set(binder, name, bound, args)
    check_arguments(binder, name, bound, args, found)
    if function.casts is not None:
        bound = tuple(cast_to(arg, wanted) for arg, wanted in zip(bound, function.casts, strict=False))
    return Call(
        type=found,
        nullable=function.nullable([known(arg) for arg in typed]),
        name=function.name,
        args=bound,
        distinct=distinct,
        where=condition,
        aggregate=function.aggregate,
        deterministic=function.deterministic,
        ignore_nulls=ignore_nulls,
        within=within,
        place=None if function.deterministic else binder.span(tree),
    )


def bind_arguments(binder: ExpressionBinder, function: Function, args: list[exp.Expr]) -> tuple[Expr, ...]:
    """The arguments in turn: a lambda's parameters have the types of what stands to its left.

    Raises:
        DiagnosticError: a mistake in one of them.
    """
    if function.aggregate:
        return tuple(binder.in_aggregate(arg) for arg in args)
    bound: list[Expr] = []
    if takes_unit(function.name, args):
        bound.append(bind_unit(binder, function.name, args[0]))
    for arg in args[len(bound) :]:
        is_lambda = isinstance(arg, exp.Lambda)
        bound.append(bind_lambda(binder, function.name, bound, arg) if is_lambda else binder.bind(arg))
    return tuple(bound)


def _condition(binder: ExpressionBinder, where: exp.Expr | None) -> Expr | None:
    if where is None:
        return None
    bound = binder.in_aggregate(where)
    if bound.type not in (t.BOOLEAN, t.NULL):
        raise binder.error(codes.TYPE_MISMATCH, f"FILTER must be BOOLEAN, not {bound.type}", where)
    return bound


def _modifiers(args: list[exp.Expr]) -> tuple[list[exp.Expr], bool, bool]:
    """Takes DISTINCT and IGNORE NULLS off the arguments."""
    if len(args) == 1 and isinstance(args[0], exp.Distinct):
        return list(args[0].expressions), True, False
    if args and isinstance(args[0], exp.IgnoreNulls):
        return [args[0].this, *args[1:]], False, True
    if args and isinstance(args[0], exp.RespectNulls):
        return [args[0].this, *args[1:]], False, False
    return args, False, False


def result_type(
    binder: ExpressionBinder, function: Function, args: tuple[Expr, ...], tree: exp.Expr
) -> t.DataType:
    """The type of a call.

    Raises:
        DiagnosticError: another number of arguments (HR209), or types that do not fit (HR206).
    """
    count = len(args)
    if count < function.min_args or (function.max_args is not None and count > function.max_args):
        raise binder.error(codes.WRONG_ARGUMENTS, _count_message(function, count), tree)
    try:
        return function.returns([known(arg) for arg in args])
    except TypeProblem as problem:
        raise binder.error(codes.TYPE_MISMATCH, f"`{function.label}`: {problem}", tree) from problem


def _count_message(function: Function, count: int) -> str:
    low, high = function.min_args, function.max_args
    wanted = f"{low}" if low == high else f"at least {low}" if high is None else f"{low} to {high}"
    plural = "" if wanted == "1" else "s"
    return f"`{function.label}` takes {wanted} argument{plural}, not {count}"


def _known(binder: ExpressionBinder, name: str, tree: exp.Expr) -> Function:
    function = lookup(name)
    if function is None and is_broken(name):
        raise Poisoned(name)
    if function is None:
        raise _unknown(binder, name, tree)
    return function


def _unknown(binder: ExpressionBinder, name: str, tree: exp.Expr) -> Exception:
    if name in _NOT_SCALAR:
        return binder.error(
            codes.UNSUPPORTED_SYNTAX,
            f"`{name.upper()}` cannot stand in {binder.clause}",
            tree,
            fix=_NOT_SCALAR[name],
        )
    near = suggest(name, names())
    return binder.error(
        codes.UNKNOWN_FUNCTION,
        f"unknown function `{name}`",
        tree,
        fix=f"did you mean `{near}`?" if near else None,
    )


# --- functions with a syntax of their own -----------------------------------


def bind_special(binder: ExpressionBinder, tree: exp.Expr) -> Expr | None:
    """Binds what sqlglot parsed by itself: EXTRACT … FROM, SUBSTRING … FROM, TRIM, POSITION, CURRENT_DATE."""
    if isinstance(tree, exp.Extract):
        part = exp.Literal.string(tree.this.name)
        return bind_call(binder, "date_part", [part, tree.args["expression"]], tree)
    if isinstance(tree, exp.Substring):
        args = [tree.this, tree.args.get("start"), tree.args.get("length")]
        return bind_call(binder, "substring", [arg for arg in args if arg is not None], tree)
    if isinstance(tree, exp.Trim):
        return _trim(binder, tree)
    if isinstance(tree, exp.StrPosition):
        return bind_call(binder, "locate", [tree.args["substr"], tree.this], tree)
    if isinstance(tree, exp.Overlay):
        names = ("this", "expression", "from_", "for_")
        return bind_call(
            binder, "overlay", [tree.args[n] for n in names if tree.args.get(n) is not None], tree
        )
    if isinstance(tree, exp.Array):
        return bind_call(binder, "array", list(tree.expressions), tree)
    if isinstance(tree, exp.Tuple):
        return bind_call(binder, "struct", list(tree.expressions), tree)
    if isinstance(tree, exp.CurrentDate):
        return bind_call(binder, "current_date", [], tree)
    if isinstance(tree, exp.CurrentTimestamp):
        return bind_call(binder, "current_timestamp", [], tree)
    if isinstance(tree, exp.Concat):
        # Two string literals in a row are one.
        parts = [binder.bind(part) for part in tree.expressions]
        if all(isinstance(part, Literal) and isinstance(part.value, str) for part in parts):
            text = "".join(str(part.value) for part in parts if isinstance(part, Literal))
            return Literal(t.STRING, False, quote_string(text), text)
    return None


def _trim(binder: ExpressionBinder, tree: exp.Expr) -> Expr:
    side = str(tree.args.get("position") or "BOTH").upper()
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
        side, "btrim" if tree.args.get("expression") else "trim"
    )
    characters = tree.args.get("expression")
    # Spark's two-argument form takes the characters second for btrim, first for ltrim and rtrim.
    if characters is None:
        return bind_call(binder, name, [tree.this], tree)
    args = [tree.this, characters] if name == "btrim" else [characters, tree.this]
    return bind_call(binder, name, args, tree)

"""Calls of Flink's functions, bound as the Spark SQL that they are rewritten to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.scope import Scope
from compiler.analysis.table_arguments import function_name
from compiler.analysis.typing import known
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import SourceFile
from compiler.frozen import frozen
from compiler.functions import FUNCTIONS
from compiler.functions.flink import NOT_RUN, REWRITES, Rewrite
from compiler.functions.flink.documents import MAKES_JSON
from compiler.functions.flink.spec import Asked
from compiler.functions.spec import TypeProblem
from compiler.plan.expr import Call, Expr, Op, transform
from compiler.plan.types import BOOLEAN
from compiler.syntax.dialect import Parsed, parse_expression
from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.json import CLAUSE

if TYPE_CHECKING:
    from compiler.analysis.expressions import ExpressionBinder

# Words that are calls without parentheses.
_WITHOUT_PARENTHESES = frozenset({"localtimestamp", "localtime", "current_time"})


@frozen(slots=True)
class _Parameters(Scope):
    """The parameters of a rewrite, which stand for arguments that have been bound."""

    bound: Mapping[str, Expr] = field(kw_only=True)

    def find(self, names: tuple[str, ...]) -> Expr | None:
        return self.bound.get(names[0]) if len(names) == 1 else None


def bind_flink_call(
    binder: ExpressionBinder, name: str, args: list[exp.Expr], tree: exp.Expr, where: exp.Expr | None = None
) -> Expr | None:
    """Binds a call of a function that only Flink has, or of a form that only Flink has.

    Args:
        binder: of the expression around it.
        name: in lower case.
        args: its arguments; the clauses of JSON functions are the last.
        tree: the call.
        where: the condition of FILTER.

    Returns:
        The expression, or None if it is no call of this kind.

    Raises:
        DiagnosticError: a function that cannot run (HR230), or a mistake in an argument.
    """
    refused = NOT_RUN.get(name)
    if refused is not None and name not in FUNCTIONS:
        message = f"`{name.upper()}` cannot run here"
        raise binder.error(codes.FLINK_FUNCTION, message, tree, cause=refused.reason, fix=refused.fix)
    forms = REWRITES.get(name, ())
    values = [arg for arg in args if _clause(arg) is None]
    if not any(_may_take(form, len(values)) for form in forms) or any(_is_special(a) for a in values):
        _check_count(binder, name, forms, len(values), tree)
        return None
    aggregate = any(form.aggregate for form in forms)
    if aggregate:
        binder.check_aggregate_allowed(name, tree)
    elif where is not None:
        raise binder.error(codes.UNSUPPORTED_SYNTAX, "FILTER belongs to an aggregate function", tree)
    bind = binder.in_aggregate if aggregate else binder.bind
    bound = [bind(arg) for arg in values]
    clauses = {clause: bind(arg.expressions[0]) for arg in args if (clause := _clause(arg)) is not None}
    asked = Asked(
        [known(arg) for arg in bound],
        {clause: known(value) for clause, value in clauses.items()},
        frozenset(i for i, arg in enumerate(values) if _makes_json(arg)),
    )
    form = next((form for form in forms if form.takes(asked.args)), None)
    if form is None:
        _check_count(binder, name, forms, len(values), tree)
        return None
    condition = bind(where) if where is not None else None
    return _filtered(_expand(binder, form, bound, clauses, asked, tree), condition)


def bind_niladic(binder: ExpressionBinder, tree: exp.Column) -> Expr | None:
    """Binds LOCALTIMESTAMP and its like, which are no columns; None if it is another name."""
    name = tree.name.lower()
    if tree.table or name not in _WITHOUT_PARENTHESES or tree.this.args.get("quoted"):
        return None
    return bind_flink_call(binder, name, [], tree)


def _clause(arg: exp.Expr) -> str | None:
    """The name of a clause that the dialect has made an argument of."""
    name = str(arg.this) if isinstance(arg, exp.Anonymous) else ""
    return name.removeprefix(CLAUSE) if name.startswith(CLAUSE) else None


def _may_take(form: Rewrite, count: int) -> bool:
    rest = bool(form.parameters) and form.parameters[-1].startswith("*")
    return count >= len(form.parameters) - 1 if rest else count == len(form.parameters)


def _is_special(arg: exp.Expr) -> bool:
    return isinstance(arg, (exp.Lambda, exp.Distinct, exp.Star, exp.Kwarg))


def _makes_json(arg: exp.Expr) -> bool:
    return isinstance(arg, exp.Anonymous) and function_name(arg) in MAKES_JSON


def _check_count(
    binder: ExpressionBinder, name: str, forms: Sequence[Rewrite], count: int, tree: exp.Expr
) -> None:
    """Refuses a call that no form takes, unless Spark has a function of that name."""
    if not forms or name in FUNCTIONS:
        return
    written = " or ".join(f"{name.upper()}({', '.join(form.parameters)})" for form in forms)
    message = f"`{name}` does not take {count} argument{'' if count == 1 else 's'} like these"
    raise binder.error(codes.WRONG_ARGUMENTS, message, tree, fix=f"write {written}")


def _expand(
    binder: ExpressionBinder,
    form: Rewrite,
    bound: Sequence[Expr],
    clauses: Mapping[str, Expr],
    asked: Asked,
    tree: exp.Expr,
) -> Expr:
    try:
        sql = form.sql if isinstance(form.sql, str) else form.sql(asked)
    except TypeProblem as problem:
        raise binder.error(codes.TYPE_MISMATCH, f"`{form.name}`: {problem}", tree) from problem
    fixed = [name for name in form.parameters if not name.startswith("*")]
    rest = [f"args{index}" for index in range(len(bound) - len(fixed))]
    parsed = _parsed(sql.replace("*args", ", ".join(rest)))
    names = dict(zip((*fixed, *rest), bound, strict=True))
    inner = binder.over(_Parameters((), bound={**clauses, **names}), parsed.fragment, binder.span(tree))
    try:
        return inner.bind(parsed.tree)
    except DiagnosticError as error:
        raise DiagnosticError(*(_of_call(found, form, sql) for found in error.diagnostics)) from error


def _of_call(found: Diagnostic, form: Rewrite, sql: str) -> Diagnostic:
    """The mistake in terms of what the user wrote."""
    _, _, said = found.message.partition("`: ")
    message = f"`{form.name}`: {said or found.message}"
    shown = sql if len(sql) <= 60 else f"{sql[:59]}…"
    return replace(found, message=message, cause=found.cause or f"in Spark it is `{shown}`")


@lru_cache(maxsize=512)
def _parsed(sql: str) -> Parsed:
    return parse_expression(Fragment.plain(SourceFile("flink", sql), 0, len(sql)))


def _filtered(expr: Expr, condition: Expr | None) -> Expr:
    """FILTER, put on the aggregates inside."""
    if condition is None:
        return expr

    def put(part: Expr) -> Expr | None:
        if not (isinstance(part, Call) and part.aggregate):
            return None
        both = condition if part.where is None else Op(BOOLEAN, True, "AND", (part.where, condition))
        return replace(part, where=both)

    return transform(expr, put)

"""Expressions as text of Spark SQL, the only form in which they leave the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compiler.plan.expr import (
    PROCTIME,
    Call,
    Case,
    Cast,
    Column,
    Expr,
    FieldAccess,
    Lambda,
    Literal,
    Op,
    Over,
    SortKey,
    Variable,
    columns_of,
    transform,
)

# op -> (precedence, template); a higher number binds tighter. `{}` is an argument.
OPERATORS: dict[str, tuple[int, str]] = {
    "OR": (1, "{} OR {}"),
    "AND": (2, "{} AND {}"),
    "NOT": (3, "NOT {}"),
    "=": (4, "{} = {}"),
    "<=>": (4, "{} <=> {}"),
    "<>": (4, "{} <> {}"),
    "<": (4, "{} < {}"),
    "<=": (4, "{} <= {}"),
    ">": (4, "{} > {}"),
    ">=": (4, "{} >= {}"),
    "IS NULL": (4, "{} IS NULL"),
    "IS NOT NULL": (4, "{} IS NOT NULL"),
    "IS TRUE": (4, "{} IS TRUE"),
    "IS FALSE": (4, "{} IS FALSE"),
    "IS NOT TRUE": (4, "{} IS NOT TRUE"),
    "IS NOT FALSE": (4, "{} IS NOT FALSE"),
    "LIKE": (4, "{} LIKE {}"),
    "LIKE ESCAPE": (4, "{} LIKE {} ESCAPE {}"),
    "ILIKE": (4, "{} ILIKE {}"),
    "RLIKE": (4, "{} RLIKE {}"),
    "BETWEEN": (4, "{} BETWEEN {} AND {}"),
    "IN": (4, ""),
    "|": (5, "{} | {}"),
    "^": (6, "{} ^ {}"),
    "&": (7, "{} & {}"),
    "+": (8, "{} + {}"),
    "-": (8, "{} - {}"),
    "||": (8, "{} || {}"),
    "*": (9, "{} * {}"),
    "/": (9, "{} / {}"),
    "%": (9, "{} % {}"),
    "DIV": (9, "{} DIV {}"),
    "NEG": (10, "-{}"),
    "~": (10, "~{}"),
    "[]": (11, "{}[{}]"),
}

# Words that Spark's parser could take for something else where a column's name stands.
_QUOTED_WORDS = frozenset(
    "all and anti any array as asc at between both by case cast column create cross current_date "
    "current_time current_timestamp current_user date day desc distinct div else end escape except exists "
    "extract false fetch filter first following for from full function group having hour if ignore in inner "
    "intersect interval into is join last lateral leading left like limit local map match minus minute month "
    "natural not null nulls offset on or order outer over overlaps partition position preceding range "
    "right rlike row rows second select semi set some struct substring table then timestamp to trailing trim "
    "true try_cast union unique unknown user using values variant when where window with within year".split()
)


def quote_name(name: str) -> str:
    """A name as Spark's parser reads it back: in backquotes unless it is a plain word."""
    plain = name.isascii() and name.isidentifier() and name.lower() not in _QUOTED_WORDS
    return name if plain else "`" + name.replace("`", "``") + "`"


def quote_string(value: str) -> str:
    """A string literal of Spark SQL."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def to_sql(expr: Expr) -> str:
    """The expression as Spark SQL text over the input's columns."""
    return _RENDER[type(expr)](expr)


def _call(expr: Call) -> str:
    args = ", ".join(to_sql(arg) for arg in expr.args)
    if expr.name == "count" and not expr.args:
        args = "*"
    nulls = " IGNORE NULLS" if expr.ignore_nulls else ""
    if expr.name == PROCTIME:
        return "current_timestamp()"
    text = f"{expr.name}({'DISTINCT ' if expr.distinct else ''}{args}){nulls}"
    if expr.within:
        text += f" WITHIN GROUP (ORDER BY {', '.join(sort_sql(key) for key in expr.within)})"
    return text if expr.where is None else f"{text} FILTER (WHERE {to_sql(expr.where)})"


def sort_sql(key: SortKey) -> str:
    """An item of ORDER BY as Spark SQL; where NULL goes is said if it is not Spark's default."""
    nulls = (
        "" if key.nulls_first is not key.descending else f" NULLS {'FIRST' if key.nulls_first else 'LAST'}"
    )
    return f"{to_sql(key.expr)}{' DESC' if key.descending else ''}{nulls}"


def _over(expr: Over) -> str:
    parts = [f"PARTITION BY {', '.join(map(to_sql, expr.partition))}"] if expr.partition else []
    if expr.order:
        parts.append(f"ORDER BY {', '.join(map(sort_sql, expr.order))}")
    if expr.order and expr.call.aggregate:
        far = expr.frame.preceding
        bound = "UNBOUNDED" if far is None else far
        if expr.frame.unit == "range" and far is not None:
            bound = f"INTERVAL '{far / 1000:f}' SECOND"
        parts.append(f"{expr.frame.unit.upper()} BETWEEN {bound} PRECEDING AND CURRENT ROW")
    return f"{_call(expr.call)} OVER ({' '.join(parts)})"


def _op(expr: Op) -> str:
    precedence, template = OPERATORS[expr.op]
    if expr.op == "IN":
        first, *rest = expr.args
        return f"{_inside(first, precedence)} IN ({', '.join(to_sql(arg) for arg in rest)})"
    if expr.op == "[]":
        return f"{_inside(expr.args[0], precedence)}[{to_sql(expr.args[1])}]"
    if len(expr.args) == 1 and expr.op == "NOT":
        return template.format(_inside(expr.args[0], precedence))
    # Left-associative: an equal precedence needs parentheses on the right only.
    texts = [_inside(arg, precedence - (i == 0 and precedence != 4)) for i, arg in enumerate(expr.args)]
    return template.format(*texts)


def _inside(expr: Expr, outer: int) -> str:
    text = to_sql(expr)
    if (isinstance(expr, Op) and OPERATORS[expr.op][0] <= outer) or (isinstance(expr, Case) and outer >= 10):
        return f"({text})"
    return text


def _lambda(expr: Lambda) -> str:
    # A column that has come into the body under a parameter's name must not be taken for it.
    taken = {name.lower() for name in columns_of(expr.body)}
    names = {name: _free(name, taken) for name in expr.parameters}

    def renamed(part: Expr) -> Expr | None:
        return replace(part, name=names.get(part.name, part.name)) if isinstance(part, Variable) else None

    parameters = ", ".join(quote_name(name) for name in names.values())
    # Spark's grammar has parentheses around two and more only.
    parameters = f"({parameters})" if len(names) > 1 else parameters
    return f"{parameters} -> {to_sql(transform(expr.body, renamed))}"


def _free(name: str, taken: set[str]) -> str:
    while name.lower() in taken:
        name += "_"
    return name


def _case(expr: Case) -> str:
    branches = " ".join(f"WHEN {to_sql(when)} THEN {to_sql(then)}" for when, then in expr.branches)
    default = "" if expr.default is None else f" ELSE {to_sql(expr.default)}"
    return f"CASE {branches}{default} END"


_RENDER: dict[type[Expr], Callable[[Any], str]] = {
    Column: lambda e: quote_name(e.name),
    Literal: lambda e: e.sql,
    Call: _call,
    Op: _op,
    Cast: lambda e: f"{'TRY_CAST' if e.attempt else 'CAST'}({to_sql(e.arg)} AS {e.type.sql})",
    Case: _case,
    Variable: lambda e: quote_name(e.name),
    Lambda: _lambda,
    Over: _over,
    FieldAccess: lambda e: f"{_inside(e.arg, 11)}.{quote_name(e.field)}",
}

"""What to write for IN and EXISTS (SELECT …) that cannot stand as they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.scope import Scope
from compiler.diagnostics.source import Span

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

_LONGEST = 60


def how_to_unite(tree: exp.Expr, span: Callable[[exp.Expr], Span]) -> str:
    """How a query with such a test is written without it, as far as the test stands beside OR in WHERE.

    Args:
        tree: EXISTS, or the query of IN.
        span: the place of a part of the tree.
    """
    test: exp.Expr | None = tree if isinstance(tree, exp.Exists) else tree.parent
    word, node = "", test
    if node is not None and isinstance(node.parent, exp.Not):
        word, node = "NOT ", node.parent
    others: list[exp.Expr] = []
    while node is not None and isinstance(node.parent, (exp.Or, exp.Paren)):
        above = node.parent
        if isinstance(above, exp.Or):
            others.append(above.args["expression"] if above.this is node else above.this)
        node = above
    while node is not None and isinstance(node.parent, (exp.And, exp.Paren)):
        node = node.parent
    in_where = node is not None and isinstance(node.parent, exp.Where)
    if test is None or not others or not in_where or any(o.find(exp.Query, exp.Exists) for o in others):
        return "filter by it in WHERE, or join with the relation"
    tested = "" if isinstance(test, exp.Exists) else f"{span(test.this).text} "
    shown = f"{tested}{word}{'IN' if tested else 'EXISTS'} (SELECT …)"
    rest = " OR ".join(span(other).text for other in others)
    rest = rest if len(rest) <= _LONGEST and "\n" not in rest else "the rest"
    return (
        f"unite two queries with UNION ALL that share no row: WHERE {rest}, "
        f"and WHERE {shown} AND ({rest}) IS NOT TRUE"
    )


def as_exists(
    binder: QueryBinder, scope: Scope, query: exp.Expr, values: Sequence[exp.Expr], negated: bool
) -> str:
    """EXISTS in place of IN, whose subquery has no column for the bound of time."""
    word = "NOT EXISTS" if negated else "EXISTS"
    generic = (
        f"write {word} (SELECT 1 FROM … WHERE …), with an equality and a bound between the event times "  # noqa: S608  # advice, and not run
        "that both sources declare by WATERMARK FOR"
    )
    return _written_out(binder, scope, query, values, word) or generic


def _written_out(
    binder: QueryBinder, scope: Scope, query: exp.Expr, values: Sequence[exp.Expr], word: str
) -> str | None:
    select = query.this if isinstance(query, exp.Subquery) else query
    from_ = select.args.get("from_") if isinstance(select, exp.Select) else None
    table = from_.this if from_ is not None else None
    columns = [item.this if isinstance(item, exp.Alias) else item for item in select.expressions]
    named = all(isinstance(column, exp.Column) for column in (*columns, *values))
    if not isinstance(table, exp.Table) or not named or select.args.get("joins") or select.args.get("group"):
        return None
    outer = [(p.alias, c) for p in scope.parts for c in p.columns if p.alias]
    time = next((f"{alias}.{c.name}" for alias, c in outer if c.field.is_event_time), None)
    inner = next((f.name for f in binder.relation(table).node.schema if f.is_event_time), None)
    if time is None or inner is None:
        return None
    taken = {alias.lower() for alias, _ in outer}
    letter = table.name[0].lower()
    alias = table.alias or (letter if letter not in taken else f"{letter}2")

    def qualified(column: exp.Expr) -> str:
        owner = next(a for a, c in outer if c.name.lower() == column.name.lower())
        return f"{owner}.{column.name}"

    equal = " AND ".join(
        f"{alias}.{column.name} = {qualified(value)}" for column, value in zip(columns, values, strict=True)
    )
    hour = "INTERVAL '1' HOUR"
    more = " AND …" if select.args.get("where") else ""
    return (
        f"write {word} (SELECT 1 FROM {table.name} {alias} WHERE {equal} "  # noqa: S608  # as above
        f"AND {alias}.{inner} BETWEEN {time} - {hour} AND {time} + {hour}{more})"
    )

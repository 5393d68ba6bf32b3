"""Expressions over what lies above filters and projections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compiler.plan.expr import Column, Expr, transform
from compiler.plan.operators import Filter, Project


def through(
    nodes: Iterable[Filter | Project], columns: Mapping[str, Expr], conditions: list[Expr]
) -> dict[str, Expr]:
    """What the columns are after filters and projections, inputs first; conditions are added to the list."""
    found = dict(columns)
    for node in nodes:
        if isinstance(node, Filter):
            conditions.append(inline(node.predicate, found))
        else:
            found = {item.name: inline(item.expr, found) for item in node.items}
    return found


def inline(expr: Expr, columns: Mapping[str, Expr]) -> Expr:
    """The expression with other ones in place of its columns."""
    return transform(expr, lambda part: columns[part.name] if isinstance(part, Column) else None)

"""What stands behind SELECT: items, stars written out, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.commas import check_comma
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.grouping import SelectItem, output_name
from compiler.analysis.over import named_windows
from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.suggest import did_you_mean
from compiler.plan.expr import Column

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

_ITEMS = "the items of SELECT are computed side by side, so none sees another's name"


def select_items(
    query: QueryBinder, tree: exp.Select, scope: Scope, made: dict[int, list[SelectItem]]
) -> list[SelectItem] | None:
    """All items with stars written out, or None if one is wrong; `made` are those of generators."""
    binder = query.expressions(scope, "SELECT", aggregates=True)
    binder.windows = named_windows(tree)
    aliases = {i.alias.lower(): i.this for i in tree.expressions if isinstance(i, exp.Alias)}
    items: list[SelectItem] = []
    complete = True
    for item in tree.expressions:
        if id(item) in made:
            items.extend(made[id(item)])
            continue
        try:
            found = _select_item(query, item, scope, binder)
        except DiagnosticError as error:
            query.reporter.extend(alias_unseen(query, d, aliases, _ITEMS) for d in error.diagnostics)
            found = None
        complete = complete and found is not None
        items.extend(found or ())
    return items if complete else None


def alias_unseen(
    query: QueryBinder, found: Diagnostic, aliases: Mapping[str, exp.Expr], cause: str
) -> Diagnostic:
    """Says so where an unknown column is a name that SELECT gives."""
    name = found.span.text.strip("`").lower() if found.span is not None else ""
    meant = aliases.get(name)
    if found.code is not codes.UNKNOWN_COLUMN or meant is None:
        return found
    if any(column.name.lower() == name for column in meant.find_all(exp.Column)):
        return found  # it is unknown there too
    return replace(found, cause=cause, fix=f"write the expression itself: {query.span(meant).text}")


def _select_item(
    query: QueryBinder, tree: exp.Expr, scope: Scope, binder: ExpressionBinder
) -> list[SelectItem]:
    star = _star(tree)
    if star is not None:
        return _star_items(query, tree, star, scope)
    alias = tree.alias if isinstance(tree, exp.Alias) else None
    inner = tree.this if isinstance(tree, exp.Alias) else tree
    expr = binder.bind(inner)
    check_comma(query, tree, scope)
    return [SelectItem(output_name(inner, alias), expr, tree, query.fragment)]


def _star_items(query: QueryBinder, tree: exp.Expr, star: exp.Star, scope: Scope) -> list[SelectItem]:
    columns = scope.columns()
    if isinstance(tree, exp.Column) and tree.table:
        part = scope.part(tree.table)
        if part is None:
            named = ", ".join(f"`{p.alias}`" for p in scope.parts if p.alias)
            fix = f"FROM has {named}" if named else None
            raise query.error(codes.UNKNOWN_RELATION, f"FROM has no `{tree.table}`", tree, fix=fix)
        columns = part.columns
    excluded = {e.name.lower() for e in star.args.get("except_") or ()}
    missing = excluded - {c.name.lower() for c in columns}
    if missing:
        name = min(missing)
        wrong = next(e for e in star.args["except_"] if e.name.lower() == name)
        fix = did_you_mean(name, [c.name for c in columns])
        raise query.error(
            codes.UNKNOWN_COLUMN, f"there is no column `{wrong.name}` to leave out", wrong, fix=fix
        )
    if star.args.get("replace") or star.args.get("rename"):
        raise query.error(codes.UNSUPPORTED_SYNTAX, "`* REPLACE` is not supported", tree)
    return [
        SelectItem(c.name, Column(c.field.type, c.field.nullable, c.field.name), tree, query.fragment)
        for c in columns
        if c.name.lower() not in excluded
    ]


def with_names(items: list[SelectItem], names: Sequence[str]) -> list[SelectItem]:
    """Items matched by position, of which the unnamed and the doubled take the names given."""
    if len(items) != len(names):
        return items
    seen: set[str] = set()
    found: list[SelectItem] = []
    for item, name in zip(items, names, strict=True):
        given = item if item.name is not None and item.name.lower() not in seen else replace(item, name=name)
        seen.add((given.name or "").lower())
        found.append(given)
    return found


def name_fix(text: str) -> str:
    """How an item without a name gets one."""
    if text.startswith('"'):
        return (
            f"double quotes make a string: for a column write `{text[1:-1]}`, for the text add AS and a name"
        )
    return f"add a name: `{text} AS …`"


def _star(tree: exp.Expr) -> exp.Star | None:
    if isinstance(tree, exp.Star):
        return tree
    if isinstance(tree, exp.Column) and isinstance(tree.this, exp.Star):
        return tree.this
    return None

"""The keys of GROUP BY: names, ordinals, aliases and expressions, GROUPING SETS, ROLLUP and CUBE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.group_windows import WindowScope, bound
from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan.expr import Column, Expr, columns_of, is_aggregate
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME

if TYPE_CHECKING:
    from compiler.analysis.grouping import SelectItem
    from compiler.analysis.select import QueryBinder

# A row is copied for each set.
_MOST_SETS = 1024

_Named = tuple[str | None, Expr]
KeySet = tuple[_Named, ...]
"""Keys that are grouped by together, with the names that they were given."""


@frozen(slots=True)
class GroupKeys:
    """What a GROUP BY groups by.

    Args:
        keys: all keys, each once, in the order in which they are written.
        sets: for each grouping set, the places of its keys; one set of all keys without GROUPING SETS.
    """

    keys: tuple[NamedExpr, ...]
    sets: tuple[frozenset[int], ...]

    @classmethod
    def plain(cls, keys: Sequence[NamedExpr]) -> GroupKeys:
        """A GROUP BY without grouping sets."""
        return cls(tuple(keys), (frozenset(range(len(keys))),))

    @property
    def is_plain(self) -> bool:
        """Whether there is one group for each combination of the keys."""
        return len(self.sets) == 1 and len(self.sets[0]) == len(self.keys)


def rollup(parts: Sequence[KeySet]) -> list[KeySet]:
    """All leading parts, the longest first: `(a, b), (a), ()`."""
    return [_joined(parts[:length]) for length in range(len(parts), -1, -1)]


def cube(parts: Sequence[KeySet], span: Span) -> list[KeySet]:
    """All choices of the parts.

    Raises:
        DiagnosticError: there are too many (HR320).
    """
    _check_count(2 ** len(parts), span)
    choices = product((True, False), repeat=len(parts))
    return [_joined([part for part, taken in zip(parts, choice, strict=True) if taken]) for choice in choices]


def combine(elements: Sequence[Sequence[KeySet]], span: Span) -> GroupKeys:
    """GROUP BY of several elements, each of one or more sets: every choice of one set from each.

    Raises:
        DiagnosticError: there are too many (HR320).
    """
    _check_count(prod(len(element) for element in elements), span)
    keys: list[NamedExpr] = []
    for element in elements:
        for name, expr in _joined(element):
            if not any(key.expr == expr for key in keys):
                keys.append(NamedExpr(free_name(name or "key", {k.name.lower() for k in keys}), expr))
    places = {id(expr): _place(keys, expr) for element in elements for _, expr in _joined(element)}
    sets = [frozenset(places[id(expr)] for _, expr in _joined(choice)) for choice in product(*elements)]
    return GroupKeys(tuple(keys), tuple(sets))


def _check_count(count: int, span: Span) -> None:
    if count > _MOST_SETS:
        raise DiagnosticError(
            Diagnostic(
                codes.GROUPING_SETS,
                f"GROUP BY has {count:,} grouping sets, and {_MOST_SETS:,} are the most",
                span,
                cause="each row is counted once in each set",
                fix="group by fewer columns",
            )
        )


def _place(keys: Sequence[NamedExpr], expr: Expr) -> int:
    return next(place for place, key in enumerate(keys) if key.expr == expr)


def _joined(sets: Sequence[KeySet]) -> KeySet:
    return tuple(named for keys in sets for named in keys)


def free_name(wanted: str, taken: set[str]) -> str:
    """The name, or the first of `name_2`, `name_3`, … that is not taken (lower case)."""
    if wanted.lower() not in taken:
        return wanted
    number = 2
    while f"{wanted}_{number}".lower() in taken:
        number += 1
    return f"{wanted}_{number}"


# --- SQL --------------------------------------------------------------------


def bind_keys(
    binder: QueryBinder,
    tree: exp.Select,
    scope: Scope,
    items: list[SelectItem],
    expressions: Sequence[Expr],
) -> GroupKeys:
    """The keys of a SELECT; `expressions` are all that is computed of them.

    Raises:
        DiagnosticError: a key that cannot be one, or too many grouping sets.
    """
    clause = tree.args.get("group")
    if clause is None:
        return GroupKeys.plain(())
    span = binder.span(clause)
    if clause.args.get("all"):
        return combine([[((i.name, i.expr),)] for i in items if not is_aggregate(i.expr)], span)
    reader = _Reader(binder, scope, items, expressions)
    elements = [reader.element(part) for part in clause.expressions]
    # Hive's spelling: GROUP BY a, b WITH ROLLUP, and GROUP BY a, b GROUPING SETS ((a, b), a).
    if clause.args.get("rollup"):
        elements = [rollup([_joined(element) for element in elements])]
    if clause.args.get("cube"):
        elements = [cube([_joined(element) for element in elements], span)]
    for sets in clause.args.get("grouping_sets") or ():
        elements = [reader.element(sets)]
    return combine(elements, span)


def check_keys(binder: QueryBinder, tree: exp.Select, scope: Scope) -> None:
    """Binds the keys of a SELECT whose items have mistakes, as far as they are no items themselves.

    Raises:
        DiagnosticError: a key that cannot be right.
    """
    clause = tree.args.get("group")
    names = {item.alias.lower() for item in tree.expressions if isinstance(item, exp.Alias)}
    for part in clause.expressions if clause is not None else ():
        if isinstance(part, exp.Literal) or (isinstance(part, exp.Column) and part.name.lower() in names):
            continue
        _Reader(binder, scope, [], []).element(part)


class _Reader:
    """Reads the elements of one GROUP BY."""

    def __init__(
        self, binder: QueryBinder, scope: Scope, items: list[SelectItem], expressions: Sequence[Expr]
    ) -> None:
        self._binder = binder
        self._scope = scope
        self._items = items
        self._window: Expr | None = None
        self._bounds: KeySet = ()
        if isinstance(scope, WindowScope):
            self._window = scope.window.bounds
            # The time follows from the end, so it is a key only where it is asked for.
            has_time = any(TIME in columns_of(expr) for expr in expressions)
            self._bounds = tuple((name, bound(name)) for name in (START, END, *([TIME] if has_time else [])))

    def element(self, tree: exp.Expr) -> list[KeySet]:
        """The grouping sets of an element; a plain key is one set."""
        if isinstance(tree, exp.Rollup):
            return rollup([self._set(part) for part in tree.expressions])
        if isinstance(tree, exp.Cube):
            return cube([self._set(part) for part in tree.expressions], self._binder.span(tree))
        if isinstance(tree, exp.GroupingSets):
            return [found for part in tree.expressions for found in self.element(part)]
        return [self._set(tree)]

    def _set(self, tree: exp.Expr) -> KeySet:
        named = [self._key(part) for part in _parts(tree)]
        return _joined([self._bounds if expr == self._window else ((name, expr),) for name, expr in named])

    def _key(self, tree: exp.Expr) -> _Named:
        if isinstance(tree, exp.Literal) and not tree.args.get("is_string"):
            chosen = self._by_ordinal(tree)
            return chosen.name, chosen.expr
        if isinstance(tree, exp.Column) and not tree.table:
            # As in Spark: a column of FROM wins, then an alias of SELECT.
            name = tree.name.lower()
            visible = any(c.name.lower() == name for c in self._scope.columns())
            item = next((i for i in self._items if i.name and i.name.lower() == name), None)
            if not visible and item is not None:
                if is_aggregate(item.expr):
                    message = f"`{tree.name}` is an aggregate and cannot be a key"
                    raise self._binder.error(codes.AGGREGATE_OF_AGGREGATE, message, tree)
                return item.name, item.expr
        expr = self._binder.expressions(self._scope, "GROUP BY").bind(tree)
        alias = next((i.name for i in self._items if i.expr == expr and i.name), None)
        if isinstance(expr, Column):
            return _last_name(tree) or expr.name, expr
        return alias, expr

    def _by_ordinal(self, tree: exp.Literal) -> SelectItem:
        number = int(tree.this) if str(tree.this).isdigit() else 0
        if not 1 <= number <= len(self._items):
            count = len(self._items)
            has = f"SELECT has {count} column{'' if count == 1 else 's'}"
            message = f"GROUP BY {tree.this} names no column: {has}"
            raise self._binder.error(codes.UNKNOWN_COLUMN, message, tree)
        return self._items[number - 1]


def _last_name(tree: exp.Expr) -> str | None:
    """The last part of a plain column, which names it."""
    if isinstance(tree, exp.Dot):
        return str(tree.args["expression"].name)
    return tree.name if isinstance(tree, exp.Column) else None


def _parts(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.Tuple):
        yield from tree.expressions
    elif isinstance(tree, exp.Paren):
        yield tree.this
    else:
        yield tree

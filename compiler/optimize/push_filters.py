"""Predicate push-down: a row that a filter drops is dropped before it is widened, united or multiplied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from compiler.plan.expr import (
    Column,
    Expr,
    Literal,
    Op,
    columns_of,
    conjunction,
    conjuncts,
    is_deterministic,
    transform,
    walk,
)
from compiler.plan.logical import LogicalPlan, sink_nodes
from compiler.plan.node import Node, rewritten
from compiler.plan.node import walk as walk_plan
from compiler.plan.operators import Boundary, Filter, Project, SeedJoin, Union, Window
from compiler.plan.operators.window import END, START, TIME

_BOUNDS: Final = frozenset((START, END, TIME))
# Operators that give a value for whatever they are given.
_TOTAL: Final = frozenset(
    {"OR", "AND", "NOT", "=", "<=>", "<>", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL", "BETWEEN", "IN"}
)


def push_filters(plan: LogicalPlan) -> LogicalPlan:
    """Moves filters through models, projections, windows, unions and joins with seeds, towards the source.

    They stay above what others read as well, since that is computed once for all; above whatever keeps
    state, which would else hold other rows; and above the watermark, which would else move by the rows that
    pass alone. A predicate goes below a projection only if it reads columns that are not computed there, and
    past another condition only if it cannot fail on the rows that the other one would have kept from it.
    """
    roots = sink_nodes(plan)
    readers: Counter[int] = Counter(id(root) for root in roots)
    readers.update(id(child) for node in walk_plan(*roots) for child in node.inputs)
    push = _Push()

    def moved(before: Node, node: Node) -> Node:
        made = push.down(node) if isinstance(node, Filter) else node
        if readers[id(before)] > 1:
            push.shared[id(made)] = made
        return made

    new = rewritten(roots, moved)
    return plan.with_sink_nodes(tuple(new[id(root)] for root in roots))


class _Push:
    """Filters on their way down. `shared` are the operators with several readers, by identity."""

    def __init__(self) -> None:
        self.shared: dict[int, Node] = {}

    def down(self, node: Filter) -> Node:
        """The filter as low as it can stand, as a whole or in parts."""
        whole = self._into(node.input, node.predicate, node.uid)
        if whole is not None:
            return whole
        stays: list[Expr] = []
        below: Node = node.input
        for number, part in enumerate(conjuncts(node.predicate)):
            lower = None
            if not stays or _cannot_fail(part):
                lower = self._into(below, part, f"{node.uid}.{number}")
            if lower is None:
                stays.append(part)
            else:
                below = lower
        return node if below is node.input else Filter(node.uid, below, conjunction(stays))

    def _into(self, node: Node, predicate: Expr, uid: str) -> Node | None:
        """The operator with a filter below it, or None if that has to stay above."""
        if id(node) in self.shared or not node.changelog.is_append or not is_deterministic(predicate):
            return None
        reads = columns_of(predicate)
        match node:
            case Boundary():
                return node.with_inputs((self._onto(node.input, predicate, uid),))
            case Filter() if _cannot_fail(predicate):
                lower = self._into(node.input, predicate, uid)
                return node.with_inputs((lower,)) if lower is not None else None
            case Project():
                items = {item.name: item.expr for item in node.items}
                if not all(isinstance(items[name], Column) for name in reads):
                    return None
                return node.with_inputs((self._onto(node.input, _renamed(predicate, items), uid),))
            case Window() if not reads & _BOUNDS:
                return node.with_inputs((self._onto(node.input, predicate, uid),))
            case SeedJoin() if _cannot_fail(predicate) and all(
                node.stream.schema.get(name) is not None for name in reads
            ):
                return node.with_inputs((self._onto(node.stream, predicate, uid), node.table))
            case Union():
                parts = (
                    self._onto(part, _renamed(predicate, _columns(node, part)), f"{uid}.{number}")
                    for number, part in enumerate(node.parts)
                )
                return node.with_inputs(tuple(parts))
            case _:
                return None

    def _onto(self, node: Node, predicate: Expr, uid: str) -> Node:
        """An input with the filter on it, or in it."""
        return self._into(node, predicate, uid) or Filter(uid, node, predicate)


def _columns(union: Union, part: Node) -> dict[str, Expr]:
    """The columns of a union in terms of one of its inputs."""
    pairs = zip(union.schema, part.schema, strict=True)
    return {field.name: Column(own.type, own.nullable, own.name) for field, own in pairs}


def _renamed(predicate: Expr, columns: Mapping[str, Expr]) -> Expr:
    return transform(predicate, lambda part: columns[part.name] if isinstance(part, Column) else None)


def _cannot_fail(expr: Expr) -> bool:
    """Whether it gives a value for every row: no arithmetic, no cast, no function."""
    return all(
        isinstance(part, (Column, Literal)) or (isinstance(part, Op) and part.op in _TOTAL)
        for part in walk(expr)
    )

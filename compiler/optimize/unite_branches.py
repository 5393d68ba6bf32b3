"""What a union takes of one input is made in one pass over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compiler.frozen import frozen
from compiler.plan.expr import Column, Expr, calls_python, conjunction, is_deterministic
from compiler.plan.inlining import through
from compiler.plan.node import Node, rewritten, walk
from compiler.plan.operators import Branches, Filter, Project, Union
from compiler.plan.operators.branches import Branch


def unite_branches(roots: tuple[Node, ...], trunk: Node) -> tuple[tuple[Node, ...], Node]:
    """Unions above the trunk, whose inputs Spark would compute once for each: with a read and a state each.

    Inputs that filters and projections make of the same rows become one, which makes several rows of each.
    Below the trunk those rows are there already.

    Args:
        roots: what the sinks of a query take.
        trunk: the operator that gives the stream's rows.
    """
    unions = {id(node) for node in walk(trunk) if isinstance(node, Union)}

    def change(node: Node, over: Node) -> Node:
        return _united(over) if id(node) in unions and isinstance(over, Union) else over

    new = rewritten((*roots, trunk), change)
    return tuple(new[id(root)] for root in roots), new[id(trunk)]


@frozen
class _Part:
    """An input of a union as a branch of what it is made of."""

    source: Node
    branch: Branch


def _united(union: Union) -> Node:
    found = [_part(node) for node in union.parts]
    homes: dict[int, list[int]] = {}
    for number, part in enumerate(found):
        if part is not None:
            homes.setdefault(id(part.source), []).append(number)
    shared = {numbers[0]: numbers for numbers in homes.values() if len(numbers) > 1}
    if not shared:
        return union
    gone = {number for numbers in shared.values() for number in numbers[1:]}
    parts = tuple(
        _branches(union, shared[number], [part for n in shared[number] if (part := found[n]) is not None])
        if number in shared
        else node
        for number, node in enumerate(union.parts)
        if number not in gone
    )
    return parts[0] if len(parts) == 1 else replace(union, parts=parts)


def _branches(union: Union, numbers: Sequence[int], parts: Sequence[_Part]) -> Node:
    uid = f"{union.uid}.branches{numbers[0] + 1}"
    together = replace(union, parts=tuple(union.parts[number] for number in numbers))
    return Branches(uid, parts[0].source, tuple(part.branch for part in parts), together.schema)


def _part(node: Node) -> _Part | None:
    """An input over the first operator above it that neither filters nor projects; None if it has to stay."""
    own: list[Filter | Project] = []
    source = node
    while isinstance(source, (Filter, Project)):
        own.append(source)
        source = source.input
    if not source.is_stream or not source.changelog.is_append:
        return None
    conditions: list[Expr] = []
    columns: dict[str, Expr] = {f.name: Column(f.type, f.nullable, f.name) for f in source.schema}
    columns = through(reversed(own), columns, conditions)
    values = tuple(columns[name] for name in node.schema.names)
    if not all(map(_may_move, (*conditions, *values))):
        return None
    return _Part(source, Branch(conjunction(conditions) if conditions else None, values))


def _may_move(expr: Expr) -> bool:
    """Whether it may be computed in one place: Python functions would be, for rows of all branches."""
    return is_deterministic(expr) and not calls_python(expr)

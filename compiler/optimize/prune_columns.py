"""Projection push-down: a query reads, parses and keeps the columns that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from compiler.plan.expr import Column, columns_of
from compiler.plan.node import Node, walk
from compiler.plan.operators import (
    Aggregate,
    Boundary,
    Branches,
    ChangeAggregate,
    Filter,
    FusedAggregate,
    Generate,
    Panes,
    Project,
    Rebalance,
    Scan,
    SeedJoin,
    Union,
    Watermark,
    Window,
)
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Schema

_BOUNDS: Final = frozenset((START, END, TIME))


def prune_columns(roots: tuple[Node, ...], trunk: Node) -> tuple[tuple[Node, ...], Node]:
    """Takes out what no sink of a query and no operator on the way reads.

    A source parses the columns that are left, and the rows of an epoch, which are kept while several sinks
    read them, have no others. An operator that keeps state gets what its state holds, and what it gives is
    left whole: Spark keeps nothing in a state that nobody reads, so that a column more in a sink would make
    another state of it.

    Args:
        roots: what the query's sinks take; it is left as it is.
        trunk: the operator whose rows are the query's stream.

    Returns:
        The same, pruned.
    """
    nodes = list(walk(*roots))
    needs: dict[int, set[str]] = {id(node): set() for node in nodes}
    behind_state: set[int] = set()
    for node in nodes:
        if node.is_stateful or any(id(child) in behind_state for child in node.inputs):
            behind_state.add(id(node))
    for root in roots:
        needs[id(root)].update(root.schema.names)
    for node in reversed(nodes):
        # Changes are told apart by their key, and what else they need is not written in one place.
        if id(node) in behind_state or not node.changelog.is_append:
            needs[id(node)].update(node.schema.names)
        for child, names in zip(node.inputs, _of_inputs(node, needs[id(node)]), strict=True):
            needs[id(child)].update(names)
    new: dict[int, Node] = {}
    for node in nodes:
        made = _pruned(node, tuple(new[id(child)] for child in node.inputs), needs[id(node)])
        if node is trunk and not any(node is root for root in roots):
            used = [name for name in made.schema.names if name in needs[id(node)]]
            made = _only(made, used, f"{node.uid}.used")
        new[id(node)] = made
    return tuple(new[id(root)] for root in roots), new[id(trunk)]


def _pruned(node: Node, inputs: tuple[Node, ...], wanted: set[str]) -> Node:
    """An operator over inputs that are pruned already."""
    match node:
        case Scan() if not node.marks_bad_records:
            return _scan(node, wanted)
        case Project():
            kept = tuple(item for item in node.items if item.name in wanted)
            return replace(node, input=inputs[0], items=kept or node.items[:1])
        case Branches():
            places = [i for i, field in enumerate(node.schema) if field.name in wanted] or [0]
            made = tuple(replace(b, values=tuple(b.values[i] for i in places)) for b in node.made)
            kept_columns = Schema(tuple(node.schema.fields[i] for i in places))
            return replace(node, input=inputs[0], made=made, columns=kept_columns)
        case Union():
            # What another reader of an input uses as well must not come along: columns go by their place.
            places = [i for i, field in enumerate(node.schema) if field.name in wanted] or [0]
            pairs = zip(inputs, node.parts, strict=True)
            parts = (
                _only(part, [before.schema.names[i] for i in places], f"{node.uid}.{number}")
                for number, (part, before) in enumerate(pairs)
            )
            return node.with_inputs(tuple(parts))
    same = all(made is child for made, child in zip(inputs, node.inputs, strict=True))
    return node if same else node.with_inputs(inputs)


def _of_inputs(node: Node, wanted: set[str]) -> Sequence[Iterable[str]]:
    """What an operator reads of each of its inputs, to give the columns that are wanted of it."""
    match node:
        case Boundary() | Rebalance():
            return [wanted]
        case Filter():
            return [wanted | columns_of(node.predicate)]
        case Project():
            items = [item for item in node.items if item.name in wanted] or node.items[:1]
            return [{name for item in items for name in columns_of(item.expr)}]
        case Generate():
            return [(wanted - set(node.names)) | columns_of(node.call)]
        case Window():
            return [(wanted - _BOUNDS) | {node.time_column}]
        case Watermark():
            return [wanted | {node.column}]
        case Aggregate() | ChangeAggregate():
            return [{name for expr in node.expressions for name in columns_of(expr)}]
        case FusedAggregate() | Panes():
            return [node.reads]
        case Branches():
            places = [i for i, field in enumerate(node.schema) if field.name in wanted] or [0]
            read = [branch.values[i] for branch in node.made for i in places]
            read += [branch.condition for branch in node.made if branch.condition is not None]
            return [{name for expr in read for name in columns_of(expr)}]
        case SeedJoin():
            reads = wanted if node.condition is None else wanted | columns_of(node.condition)
            return [_known(reads, node.stream.schema), node.table.schema.names]
        case Union():
            places = [i for i, field in enumerate(node.schema) if field.name in wanted] or [0]
            return [[part.schema.names[i] for i in places] for part in node.parts]
        case _:
            return [child.schema.names for child in node.inputs]


def _known(names: set[str], schema: Schema) -> set[str]:
    return {name for name in names if schema.get(name) is not None}


def _scan(scan: Scan, wanted: set[str]) -> Scan:
    """The source with the columns that are read; it still has to know of the others."""
    kept = tuple(field for field in scan.columns if field.name in wanted) or scan.columns.fields[:1]
    if len(kept) == len(scan.columns):
        return scan
    return replace(scan, columns=Schema(kept), declared=scan.declared or scan.columns)


def _only(node: Node, names: Sequence[str], uid: str) -> Node:
    """The operator's rows with these columns alone, in this order."""
    if node.schema.names == tuple(names) or not names:
        return node
    fields = [field for name in names if (field := node.schema.get(name)) is not None]
    items = tuple(NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in fields)
    return Project(uid, node, items)

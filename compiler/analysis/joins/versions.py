"""Which relations are versioned tables: histories that know a key and a time."""

from __future__ import annotations

from compiler.frozen import frozen
from compiler.plan.expr import Column, Literal
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, Project, Scan, TopN, Watermark
from compiler.plan.operators.project import NamedExpr
from compiler.plan.types import INT


@frozen(slots=True)
class Versions:
    """A versioned table.

    Args:
        history: its versions, or changes, as they come.
        key: columns that tell its rows apart.
        time: the event time from which a version is valid.
    """

    history: Node
    key: tuple[str, ...]
    time: str


@frozen(slots=True)
class NotVersioned:
    """Why a relation is no versioned table, and what to do."""

    cause: str
    fix: str


def versions_of(node: Node, name: str) -> Versions | NotVersioned:
    """A relation as a versioned table.

    Such are a source with a primary key and a watermark, the last row of each key by event time, and
    whatever else gives changes by key and keeps an event time.
    """
    history = _history(node)
    if history is not None:
        node, key = history
    else:
        key = source_key(node) if node.changelog.is_append else node.changelog.key
    if not key:
        return NotVersioned(
            f"`{name}` has no key that tells its rows apart, so no row replaces another",
            "declare PRIMARY KEY (…) NOT ENFORCED in its source, or keep the last row of each key: "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY key ORDER BY time DESC) = 1",
        )
    times = [f.name for f in node.schema if f.is_event_time]
    if len(times) != 1:
        return NotVersioned(
            f"`{name}` has {'several event times' if times else 'no event time'}, and one says from when on "
            "a version is valid",
            "select the one that is meant" if times else f"declare a WATERMARK in the source of `{name}`",
        )
    return Versions(node, key, times[0])


def _history(node: Node) -> tuple[Node, tuple[str, ...]] | None:
    """What the last row of each key by event time is kept of, and the key; None for any other relation.

    The kept row itself is too late a witness: an epoch may have seen several versions of it.
    """
    above: list[Project | Boundary] = []
    while isinstance(node, (Project, Boundary)):
        above.append(node)
        node = node.input
    if not isinstance(node, TopN) or not node.latest or node.emit != "changes":
        return None
    order = node.order[0].expr
    time = node.input.schema.get(order.name) if isinstance(order, Column) else None
    if time is None or not time.is_event_time:
        return None
    names = {key.name: key.name for key in node.partition if isinstance(key, Column)}
    base = node.input
    if node.rank is not None:
        columns = [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in base.schema]
        first = NamedExpr(node.rank, Literal(INT, False, "1", 1))
        base = Project(f"{node.uid}.rank", base, (*columns, first))
    for operator in reversed(above):
        base = operator.with_inputs((base,))
        if isinstance(operator, Project):
            given = {item.expr.name: item.name for item in operator.items if isinstance(item.expr, Column)}
            names = {key: given[name] for key, name in names.items() if name in given}
    return (base, tuple(names.values())) if len(names) == len(node.partition) else None


def source_key(node: Node) -> tuple[str, ...]:
    """The primary key of the source that a relation hands on row by row, as the relation names it."""
    names: dict[str, str] = {f.name.lower(): f.name for f in node.schema}
    while not isinstance(node, Scan):
        if isinstance(node, Project):
            given = {
                item.expr.name.lower(): names[item.name.lower()]
                for item in reversed(node.items)
                if isinstance(item.expr, Column) and item.name.lower() in names
            }
            names, node = given, node.input
        elif isinstance(node, (Boundary, Watermark)):
            node = node.input
        else:
            # A filter would make an older version valid again, where a newer one does not pass.
            return ()
    if not all(column.lower() in names for column in node.key):
        return ()
    return tuple(names[column.lower()] for column in node.key)

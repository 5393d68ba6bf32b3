"""What a graph looks like, whatever it is drawn with: panels of boxes, boxes of rows, arrows between boxes.

A box is a chain, a stage, or a source, model or sink. Its rows are operators, numbered from 1 in each panel,
so that a change of one query leaves the numbers of the others alone. A row that hangs below another one of
its box is set in where several do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from compiler.graphs.model import Edge, Operator, Query
from compiler.jobplan.durations import format_ms

Role = Literal["chain", "source", "model", "sink", "stage", "epoch", "table"]


class Fact(Struct, frozen=True):
    """Something to say of a panel or a row."""

    name: str
    text: str


class Row(Struct, frozen=True):
    """An operator in a box.

    Args:
        number: in its panel.
        depth: how far it is set in.
        after: the rows of its box that it takes rows from: number, and edge if it is no forward one.
        via: what brings it rows besides forward edges.
        facts: what else there is to say.
    """

    id: str
    number: int
    depth: int
    kind: str
    name: str
    does: str
    via: str
    after: tuple[tuple[int, str], ...] = ()
    facts: tuple[Fact, ...] = ()


class Box(Struct, frozen=True):
    """Rows that stand together."""

    id: str
    title: str
    role: Role
    rows: tuple[Row, ...]
    note: str = ""


class Arrow(Struct, frozen=True):
    """Rows of data go from one box to another."""

    source: str
    target: str
    kind: str
    label: str


class Panel(Struct, frozen=True):
    """A query, or the whole stream graph."""

    id: str
    title: str
    facts: tuple[Fact, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


class Picture(Struct, frozen=True):
    """A graph, ready to be drawn."""

    level: str
    title: str
    panels: tuple[Panel, ...]


class Group(Struct, frozen=True):
    """A box to be: its operators by id, inputs first."""

    id: str
    title: str
    role: Role
    operators: tuple[str, ...]
    note: str = ""


def draw_panel(
    id_: str,
    title: str,
    facts: Sequence[Fact],
    groups: Sequence[Group],
    operators: Sequence[Operator],
    edges: Sequence[Edge],
    arrows: Sequence[Arrow] = (),
    told: Callable[[Operator], Sequence[Fact]] = lambda _: (),
) -> Panel:
    """Lays operators out in boxes.

    Args:
        id_: of the panel.
        title: its heading.
        facts: what there is to say of it.
        groups: the boxes, in order.
        operators: of the graph.
        edges: of the graph.
        arrows: those between boxes; they follow from `edges` if they are left out.
        told: what else to say of an operator.
    """
    by_id = {operator.id: operator for operator in operators}
    inputs: dict[str, list[Edge]] = {}
    for edge in edges:
        inputs.setdefault(edge.target, []).append(edge)
    boxes: list[Box] = []
    number = 0
    for group in groups:
        tree = list(_tree(group.operators, inputs))
        numbers = {uid: number + i for i, (uid, _) in enumerate(tree, 1)}
        number += len(tree)
        rows = tuple(
            _row(by_id[uid], depth, inputs.get(uid, ()), numbers, told(by_id[uid])) for uid, depth in tree
        )
        boxes.append(Box(group.id, group.title, group.role, rows, group.note))
    drawn = tuple(arrows) or tuple(_arrows(groups, edges))
    return Panel(id_, title, tuple(facts), tuple(boxes), drawn)


def _row(
    operator: Operator,
    depth: int,
    inputs: Sequence[Edge],
    numbers: Mapping[str, int],
    told: Sequence[Fact],
) -> Row:
    return Row(
        id=operator.id,
        number=numbers[operator.id],
        depth=depth,
        kind=operator.kind,
        name=operator.part if operator.kind == "sink" else operator.id,
        does=operator.does,
        via=", ".join(dict.fromkeys(str(edge) for edge in inputs if edge.kind != "forward")),
        after=tuple(
            (numbers[edge.source], "" if edge.kind == "forward" else str(edge))
            for edge in inputs
            if edge.source in numbers
        ),
        facts=(*_operator_facts(operator), *told),
    )


def _tree(operators: Sequence[str], inputs: Mapping[str, Sequence[Edge]]) -> Iterator[tuple[str, int]]:
    """The operators of a box and how far each is set in: below the one that it takes rows from.

    Of several ways on, the longest comes last.
    """
    members = {uid: i for i, uid in enumerate(operators)}
    children: dict[str | None, list[str]] = {}
    for uid in operators:
        above = [edge.source for edge in inputs.get(uid, ()) if edge.source in members]
        children.setdefault(max(above, key=members.__getitem__, default=None), []).append(uid)
    size: dict[str | None, int] = {}
    for uid in reversed(operators):
        size[uid] = 1 + sum(size[child] for child in children.get(uid, ()))
    stack = [(uid, 0) for uid in reversed(children.get(None, []))]
    while stack:
        uid, depth = stack.pop()
        yield uid, depth
        below = sorted(children.get(uid, ()), key=lambda child: size[child])
        for i, child in enumerate(reversed(below)):
            stack.append((child, depth if i == 0 and len(below) == 1 else depth + 1))


def _arrows(groups: Sequence[Group], edges: Sequence[Edge]) -> Iterator[Arrow]:
    home = {uid: group.id for group in groups for uid in group.operators}
    seen: set[Arrow] = set()
    for edge in edges:
        source, target = home[edge.source], home[edge.target]
        arrow = Arrow(source, target, edge.kind, str(edge))
        if source != target and arrow not in seen:
            seen.add(arrow)
            yield arrow


def _operator_facts(operator: Operator) -> Iterator[Fact]:
    if operator.place is not None:
        yield Fact("place", f"{operator.place.file}:{operator.place.line}")
    if operator.changelog != "append":
        yield Fact("rows", operator.changelog)
    for column in operator.columns:
        if column.watermark_ms is not None:
            yield Fact("event time", f"{column.name}, watermark {format_ms(column.watermark_ms)} behind")
    if operator.columns:
        yield Fact("columns", ", ".join(f"{column.name} {column.type}" for column in operator.columns))


def query_facts(query: Query) -> tuple[Fact, ...]:
    """Trigger, watermark, state and reason of a query."""
    trigger = "available now" if query.trigger_ms is None else f"every {format_ms(query.trigger_ms)}"
    found = [
        Fact("runs", f"{trigger}, {query.output_mode} mode"),
        Fact("why", query.reason + ("; provisional until a first run" if query.provisional else "")),
    ]
    if query.watermarks:
        lines = [f"{mark.column} - {format_ms(mark.delay_ms)} ({mark.operator})" for mark in query.watermarks]
        least = "least of " if len(lines) > 1 else ""
        found.append(Fact("watermark", least + ", ".join(lines)))
    for state in query.state:
        keys = f" by {', '.join(state.keys)}" if state.keys else ""
        holds = f"; holds {', '.join(state.columns)}" if state.columns else ""
        text = f"{state.operator}{keys}: {state.bound}; {query.state_partitions} partitions{holds}"
        found.append(Fact("state", text))
    return tuple(found)

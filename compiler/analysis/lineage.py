"""Where a column comes from: the operators that hand it on, for diagnostics that must name one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from compiler.frozen import frozen
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.operators import Aggregate, Project, Union
from compiler.plan.schema import Field


@frozen(slots=True)
class Step:
    """A column of an operator's output, and the step above that it is handed on to."""

    node: Node
    field: Field
    above: Step | None = None

    def way(self) -> list[Step]:
        """The steps from where the column was asked for down to this one."""
        steps: list[Step] = []
        step: Step | None = self
        while step is not None:
            steps.append(step)
            step = step.above
        return steps[::-1]


def lineage(node: Node, name: str, follow: Callable[[Field], bool] = lambda _: True) -> Iterator[Step]:
    """The column on its way down, under the names that it has there; of a union in each of its inputs.

    It ends where the column is computed. Below a column that `follow` refuses nothing is looked at.
    """
    stack: list[tuple[Node, str, Step | None]] = [(node, name, None)]
    seen: set[tuple[int, str]] = set()
    while stack:
        below, known_as, above = stack.pop()
        field = below.schema.get(known_as)
        if field is None or (id(below), field.name) in seen:
            continue
        seen.add((id(below), field.name))
        step = Step(below, field, above)
        yield step
        if follow(field):
            stack.extend((child, source, step) for child, source in reversed(_sources(below, field)))


def _sources(node: Node, field: Field) -> list[tuple[Node, str]]:
    if isinstance(node, Union):
        place = node.schema.names.index(field.name)
        return [(part, part.schema.names[place]) for part in node.parts]
    if isinstance(node, (Project, Aggregate)):
        items = node.items if isinstance(node, Project) else node.keys
        found = [item.expr for item in items if item.name == field.name]
        return [(node.input, expr.name) for expr in found if isinstance(expr, Column)]
    if field.window is not None and field.window.window == node.uid:
        return []
    return [(child, field.name) for child in node.inputs]

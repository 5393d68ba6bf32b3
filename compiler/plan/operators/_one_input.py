"""What operators with a single input share."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from compiler.frozen import frozen
from compiler.plan.node import EdgeKind, Node


@frozen
class OneInput(Node):
    """An operator over one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        (only,) = inputs
        return replace(self, input=only)


@frozen
class KeyedState(OneInput):
    """An operator that keeps state by key over a stream: its rows move to where their key is kept."""

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @property
    def is_stateful(self) -> bool:
        return self.is_stream

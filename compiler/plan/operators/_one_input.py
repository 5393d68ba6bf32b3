"""What operators with a single input share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from compiler.plan.node import Node


@dataclass(frozen=True)
class OneInput(Node):
    """An operator over one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        (only,) = inputs
        return replace(self, input=only)

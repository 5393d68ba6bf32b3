"""Rows that move where nothing else would move them."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import Changelog
from compiler.plan.node import EdgeKind
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@frozen
class Rebalance(OneInput):
    """Ends a chain: rows are handed out evenly to as many tasks as there are, changes by their key.

    Args:
        partitions: how many tasks go on with them, None for as many as the query has state partitions.
    """

    kind: ClassVar[str] = "rebalance"

    partitions: int | None = None

    def _derive_schema(self) -> Schema:
        return self.input.schema

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_changelog(self) -> Changelog:
        return self.input.changelog

    def edge_from(self, index: int) -> EdgeKind:
        return "hash" if self.input.changelog.key else "rebalance"

    def edge_keys(self, index: int) -> tuple[str, ...]:
        return self.input.changelog.key

    def describe(self) -> str:
        to = f"to {self.partitions} tasks" if self.partitions is not None else "to all tasks"
        keys = self.input.changelog.key
        return f"{to} by {', '.join(keys)}" if keys else to

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Rebalance(id_, self.uid, inputs, self.input.changelog.key, self.partitions)

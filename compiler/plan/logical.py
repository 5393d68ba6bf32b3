"""A bound project: every name resolved, every expression typed."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

from compiler.connectors import Connector
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.jobplan.model import OptionValue, ScalarFunction
from compiler.plan.asked import Asked
from compiler.plan.node import Node

Delivery = Literal["exactly_once", "at_least_once"]


@frozen
class BoundRelation:
    """A source, model or seed and its plan, as others read it."""

    name: str
    kind: Literal["source", "model", "seed"]
    node: Node
    span: Span = field(repr=False)
    tags: tuple[str, ...] = ()


@frozen
class BoundSink:
    """A sink and the plan of the rows that it takes.

    `places` says where its options were written, by name; `asked_delivery` is None if it was left to the
    connector. `isolated` names what asks for queries of its own, the sink and all that it reads. `uid` is
    what ledgers and transactions go by, the name unless an option says otherwise; `trigger_ms` is that of its
    query, None for available_now; `parallelism` the number of its query's state partitions if a model or the
    sink says one. `metadata` are its columns that are no part of what is written as a row, each with the
    connector's key.
    """

    name: str
    node: Node
    connector: Connector
    options: tuple[tuple[str, OptionValue], ...]
    delivery: Delivery
    asked_delivery: Delivery | None
    primary_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    span: Span = field(repr=False)
    places: dict[str, Span] = field(repr=False, hash=False, compare=False)
    uid: str = ""
    tags: tuple[str, ...] = ()
    trigger_ms: int | None = None
    parallelism: Asked[int] | None = None
    isolated: frozenset[str] = frozenset()
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def takes_changes(self) -> bool:
        """Whether its rows may be changes by key."""
        return self.connector.upsert or dict(self.options).get("format") in self.connector.change_formats


@frozen
class LogicalPlan:
    """All relations in an order in which each follows what it reads, and all sinks.

    `read` holds the names (lower case) that something reads; `places` the spans of operators by uid;
    `references` what each model and sink names in its query, all in lower case;
    `functions` are the Python functions that expressions may call.
    """

    timezone: str
    relations: tuple[BoundRelation, ...]
    sinks: tuple[BoundSink, ...]
    read: frozenset[str]
    places: dict[str, Span] = field(repr=False, hash=False, compare=False)
    references: dict[str, tuple[str, ...]] = field(
        default_factory=dict, repr=False, hash=False, compare=False
    )
    functions: tuple[ScalarFunction, ...] = ()

    def with_sink_nodes(self, nodes: tuple[Node, ...]) -> LogicalPlan:
        """The plan with other operators under its sinks, in the same order."""
        sinks = tuple(replace(sink, node=node) for sink, node in zip(self.sinks, nodes, strict=True))
        return replace(self, sinks=sinks)


def sink_nodes(plan: LogicalPlan) -> tuple[Node, ...]:
    """The operators that the sinks take, in order."""
    return tuple(sink.node for sink in plan.sinks)

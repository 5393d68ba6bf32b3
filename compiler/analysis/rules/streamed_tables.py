"""Tables that change in place are no streams."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.connectors import CONNECTORS
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import Scan

_TABLES = frozenset(connector.name for connector in CONNECTORS if not connector.stream)


def streamed_tables(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR360 for a source that is read as a stream, where its connector can only look it up."""
    told: set[str] = set()
    for node in walk(*(sink.node for sink in plan.sinks)):
        if isinstance(node, Scan) and node.connector in _TABLES and node.uid not in told:
            told.add(node.uid)
            yield Diagnostic(
                codes.NOT_A_STREAM,
                f"`{node.uid}` is a table of a database, and is read as a stream",
                plan.places.get(node.uid),
                cause="a table does not say which of its rows are new, and may hold others when an epoch "
                "is replayed",
                fix="look it up, with FOR SYSTEM_TIME AS OF a column that is PROCTIME(); or read its changes "
                "from a topic, with format = 'debezium-json'",
            )

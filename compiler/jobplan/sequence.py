"""Which sources must tell the order in which the rows of an epoch arrived.

Two rows of one key in one epoch leave open which is the last. The order is known where a source is read and
nowhere else, and the first shuffle loses it; so it travels with the rows, from the scan to where it counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from compiler.jobplan import model as job
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node
from compiler.plan.operators import Scan


def wanting_sequence(
    sinks: Sequence[BoundSink], nodes: Sequence[Node], ids: Mapping[int, str]
) -> frozenset[str]:
    """Ids of the scans whose rows reach, unshuffled, something that needs their order.

    That is a sink which keeps one row a key, or an operator that reads changes out of rows.
    """
    pending = [node for node in nodes if node.orders_rows]
    pending += [sink.node for sink in sinks if sink.primary_key]
    found: set[str] = set()
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Scan):
            found.add(ids[id(node)])
        elif not node.is_stateful:
            # What an operator with state gives has an order of its own, or none.
            pending.extend(child for child in node.inputs if child.is_stream)
    return frozenset(found)


def with_sequence(operators: Sequence[job.Operator], scans: frozenset[str]) -> tuple[job.Operator, ...]:
    """The operators, with these scans asked for the order of their rows."""
    return tuple(
        msgspec.structs.replace(op, sequence=True) if isinstance(op, job.Scan) and op.id in scans else op
        for op in operators
    )


def event_times(sink: BoundSink) -> tuple[str, ...]:
    """The columns of a sink by which a later row is told from an earlier one, windows' ends first."""
    fields = [f for f in sink.node.schema if f.is_event_time]
    ends = [f.name for f in fields if f.window is not None and f.window.part == "end"]
    return (*ends, *(f.name for f in fields if f.name not in ends))

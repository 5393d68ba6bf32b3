"""A replayed epoch must give the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.expr import Call, walk
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk as walk_nodes


def nondeterministic(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR403 for rand(), uuid() and their like below a sink that delivers exactly once.

    A sink that has seen half of an epoch must see the other half of the same rows when the epoch is
    replayed after a crash.
    """
    seen: set[int] = set()
    for sink in plan.sinks:
        if sink.delivery != "exactly_once":
            continue
        for node in walk_nodes(sink.node):
            if id(node) in seen:
                continue
            seen.add(id(node))
            calls = (part for expr in node.expressions for part in walk(expr) if isinstance(part, Call))
            for call in calls:
                if not call.deterministic:
                    yield Diagnostic(
                        codes.NONDETERMINISTIC,
                        f"`{call.name}` gives another value when an epoch is replayed",
                        call.place or plan.places.get(node.uid, sink.span),
                        cause=f"sink `{sink.name}` delivers exactly once: a replay must give the same rows",
                        fix="derive the value from the row, for example with xxhash64(…), or say "
                        "delivery = 'at_least_once'",
                    )

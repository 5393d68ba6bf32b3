"""Lookup joins run on each epoch's rows, with what the table holds then."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import LookupJoin, LookupTable, Scan


def lookups(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR342 for state above a lookup join; warnings: HR341 not pinned, HR343 a source read both ways."""
    nodes = list(walk(*(sink.node for sink in plan.sinks)))
    told: set[int] = set()
    for node in nodes:
        if not node.is_stateful:
            continue
        for below in walk(*node.inputs):
            if isinstance(below, LookupJoin) and id(below) not in told:
                told.add(id(below))
                yield Diagnostic(
                    codes.LOOKUP_BELOW_STATE,
                    f"`{node.uid}` keeps state over the rows of this lookup join",
                    plan.places.get(below.uid),
                    cause="a lookup runs on what leaves the query's state, so that the table can be read "
                    "anew for each epoch",
                    fix="look up behind it, or read versions as of an event time instead",
                )
    streams = {node.uid for node in nodes if isinstance(node, Scan)}
    for table in (node for node in nodes if isinstance(node, LookupTable)):
        path = str(dict(table.options).get("path", ""))
        if table.connector == "filesystem" and "://" in path:
            yield Diagnostic(
                codes.LOOKUP_NOT_PINNED,
                f"the content of `{table.uid}` is not kept with an epoch",
                plan.places.get(table.uid),
                cause=f"'{path}' is not a local path; if it changes before an epoch is replayed after a "
                "crash, sinks see other rows",
                fix="write new files beside the old ones rather than over them",
            )
        if table.uid in streams:
            yield Diagnostic(
                codes.READ_BOTH_WAYS,
                f"`{table.uid}` is read as a stream and looked up as a table",
                plan.places.get(table.uid),
                cause="a lookup sees all that is there when an epoch begins, also what "
                "the stream has not come to",
                fix="declare two sources if that is not meant",
            )

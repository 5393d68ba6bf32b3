"""Queries of an ejected program: sinks beside a state have a query of their own there.

To keep what an epoch reads for both takes a source of headrace's own, which no plain program has.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from compiler.jobplan import model as job


def apart(query: job.Query) -> tuple[job.Query, ...]:
    """The query, or one for what passes its trunk and one for the sinks beside it, each with its own read."""
    if query.kept is None:
        return (query,)
    beside = query.beside
    rows = _with(query, beside, query.kept)
    return (
        _with(query, {sink.uid for sink in query.sinks} - beside, query.trunk),
        replace(rows, uid=f"{query.uid}.rows", state=(), output_mode="append"),
    )


def _with(query: job.Query, sinks: Collection[str], trunk: str) -> job.Query:
    """The query with some of its sinks, and the operators that these need."""
    kept = tuple(sink for sink in query.sinks if sink.uid in sinks)
    wanted = {trunk, *(sink.input for sink in kept)}
    for op in reversed(query.operators):
        if op.id in wanted:
            wanted.update(op.inputs)
    return replace(
        query,
        sinks=kept,
        operators=tuple(op for op in query.operators if op.id in wanted),
        trunk=trunk,
        changes=tuple(changes for changes in query.changes if changes.operator in wanted),
        kept=None,
    )

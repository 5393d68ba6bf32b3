"""A query's operators to DataFrames: once for the trunk, and for each epoch below it."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from compiler.jobplan.model import Query, Sink
from runtime.spark.changes import upserts
from runtime.spark.context import Context
from runtime.spark.operators import lower


def lower_trunk(query: Query, ctx: Context, begun: Mapping[str, DataFrame]) -> DataFrame:
    """The stream that the query's checkpoint counts the epochs of; what is in `begun` is there already."""
    return lower_to(query, query.trunk, ctx, begun)


def lower_epoch(
    query: Query, batch: DataFrame, sinks: tuple[Sink, ...], ctx: Context, kept: DataFrame | None = None
) -> dict[str, DataFrame]:
    """What each sink takes of an epoch, by the sink's uid.

    Args:
        query: the query.
        batch: the trunk's output.
        sinks: those that are to be written.
        ctx: of the epoch.
        kept: what the epoch has read, where sinks stand beside the trunk.
    """
    over, beside = {query.trunk: batch}, {} if kept is None else {_kept(query): kept}
    apart = query.beside
    rows = {sink.uid: _lower(query, sink.input, ctx, beside if sink.uid in apart else over) for sink in sinks}
    return {**rows, **{sink.uid: upserts(rows[sink.uid]) for sink in sinks if sink.before}}


def _kept(query: Query) -> str:
    assert query.kept is not None
    return query.kept


def below_trunk(query: Query) -> tuple[str, ...]:
    """Kinds of the operators that run on the trunk's rows of each epoch."""
    operators = {op.id: op for op in query.operators}
    found: dict[str, str] = {}

    def visit(identity: str) -> None:
        if identity == query.trunk or identity in found:
            return
        found[identity] = operators[identity].op
        for below in operators[identity].inputs:
            visit(below)

    apart = query.beside
    for sink in query.sinks:
        if not sink.removed and sink.uid not in apart:
            visit(sink.input)
    return tuple(found.values())


def lower_to(query: Query, identity: str, ctx: Context, begun: Mapping[str, DataFrame]) -> DataFrame:
    """What an operator gives, from the rows of others that are known already, by their ids."""
    return _lower(query, identity, ctx, dict(begun))


def _lower(query: Query, identity: str, ctx: Context, done: dict[str, DataFrame]) -> DataFrame:
    # Operators come in topological order, so one pass over those that are needed is enough.
    needed = _needed(query, identity, done)
    for op in query.operators:
        if op.id in needed and op.id not in done:
            done[op.id] = lower(op, [done[i] for i in op.inputs], ctx)
    return done[identity]


def _needed(query: Query, identity: str, done: Mapping[str, DataFrame]) -> set[str]:
    operators = {op.id: op for op in query.operators}
    needed: set[str] = set()
    pending = [identity]
    while pending:
        current = pending.pop()
        if current in needed or current in done:
            continue
        needed.add(current)
        pending.extend(operators[current].inputs)
    return needed

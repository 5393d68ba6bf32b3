"""The job graph: queries as chains and the exchanges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.chain.grouping import Group
from compiler.diagnostics.source import Span
from compiler.graphs.model import Chain, Edge, JobGraph, JobQuery, Query, StateStore, Watermark
from compiler.graphs.operators import INTERNAL, operator, writer
from compiler.jobplan import model as job
from compiler.plan.node import Node, walk


def job_graph(plan: job.JobPlan, groups: Sequence[Group], places: Mapping[str, Span]) -> JobGraph:
    """The graph of a job plan.

    Args:
        plan: the job plan, or a part of its queries.
        groups: what its queries were made of; they know columns and places.
        places: of operators, by uid.
    """
    by_uid = {group.uid: group for group in groups}
    return JobGraph(tuple(_query(query, by_uid[query.uid], places) for query in plan.queries))


def _query(query: job.Query, group: Group, places: Mapping[str, Span]) -> JobQuery:
    nodes = {node.uid: node for node in walk(*(sink.node for sink in group.sinks))}
    uids = {op.id: op.uid for op in query.operators}
    operators = [operator(nodes[op.uid], op.describe(), places) for op in query.operators]
    edges: list[Edge] = []
    for op in query.operators:
        node = nodes[op.uid]
        for index, source in enumerate(op.inputs):
            kind = node.edge_from(index)
            keys = shown(node.edge_keys(index)) if kind == "hash" else ()
            edges.append(Edge(uids[source], op.uid, kind, keys))
    spans = {sink.uid: sink.span for sink in group.sinks}
    changes = {uids[change.operator]: change for change in query.changes}
    members = {chain.id: [uids[id_] for id_ in chain.operators] for chain in query.chains}
    home = {uid: chain for chain, uids_ in members.items() for uid in uids_}
    for sink in query.sinks:
        given = uids[sink.input]
        made = writer(
            sink, str(nodes[given].changelog) if given in changes else "append", spans.get(sink.uid)
        )
        operators.append(made)
        edges.append(Edge(given, made.id, "forward"))
        members[home[given]].append(made.id)
    return JobQuery(
        query=_facts(query, nodes, uids),
        operators=tuple(operators),
        chains=tuple(Chain(id_, tuple(ops)) for id_, ops in members.items()),
        edges=tuple(edges),
    )


def _facts(query: job.Query, nodes: Mapping[str, Node], uids: Mapping[str, str]) -> Query:
    return Query(
        uid=query.uid,
        output_mode=query.output_mode,
        trigger_ms=query.trigger_ms,
        state_partitions=query.parallelism,
        provisional=query.provisional,
        reason=query.reason,
        sinks=tuple(sink.uid for sink in query.sinks if not sink.removed),
        watermarks=tuple(
            Watermark(op.uid, op.column, op.delay_ms)
            for op in query.operators
            if isinstance(op, job.Watermark)
        ),
        state=tuple(
            StateStore(
                operator=uids[state.operator],
                kind=state.kind,
                keys=shown(state.keys),
                columns=shown(nodes[uids[state.operator]].stored_columns),
                bound=state.bound,
            )
            for state in query.state
        ),
    )


def shown(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns for people."""
    return tuple(name.replace(INTERNAL, "") for name in names)

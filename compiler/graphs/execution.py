"""The execution plan: queries as the stages that Spark runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.graphs.model import Edge, ExecutionPlan, ExecutionQuery, JobGraph, JobQuery, Stage
from compiler.jobplan import model as job


def execution_plan(plan: job.JobPlan, graph: JobGraph) -> ExecutionPlan:
    """What Spark runs for a job plan, whose job graph is known already."""
    by_uid = {query.uid: query for query in plan.queries}
    return ExecutionPlan(tuple(_query(by_uid[drawn.query.uid], drawn) for drawn in graph.queries))


def _query(query: job.Query, drawn: JobQuery) -> ExecutionQuery:
    uids = {op.id: op.uid for op in query.operators}
    inputs: dict[str, list[Edge]] = {operator.id: [] for operator in drawn.operators}
    for edge in drawn.edges:
        inputs[edge.target].append(edge)
    stream = _upstream(uids[query.trunk], inputs)
    # Sinks beside the state take up again what the epoch has read, and do all that comes behind themselves.
    read = stream if query.kept is None else _upstream(uids[query.kept], inputs)
    stages = _stream_stages(drawn, stream, inputs)
    for number, sink in enumerate(query.sinks, 1):
        above = read if sink.uid in query.beside else stream
        below = [uid for uid in _upstream(f"sink:{sink.uid}", inputs) if uid not in above]
        table = {uid for uid in below if not _reaches(uid, above, inputs)}
        if table:
            stages.append(Stage(f"t{number}", "table", tuple(uid for uid in below if uid in table)))
        stages.append(Stage(f"w{number}", "epoch", tuple(uid for uid in below if uid not in table)))
    asked = {op.uid: op.partitions for op in query.operators if isinstance(op, job.Rebalance)}
    stages = _counted(stages, drawn, inputs, asked)
    removed = {f"sink:{sink.uid}" for sink in query.sinks if sink.removed}
    uses = sum(edge.source == uids[query.trunk] and edge.target not in removed for edge in drawn.edges)
    over = {
        uid
        for sink in query.sinks
        if sink.uid not in query.beside
        for uid in _upstream(f"sink:{sink.uid}", inputs)
    }
    others = {op.kind for op in drawn.operators if op.id in over and op.id not in stream} - {
        "project",
        "sink",
    }
    return ExecutionQuery(
        query=drawn.query,
        trunk=uids[query.trunk],
        # As `runtime.jobs.execution` decides, but for writers that go over their rows twice.
        persisted=uses > 1 or bool(query.state and others),
        kept=None if query.kept is None else uids[query.kept],
        operators=drawn.operators,
        stages=tuple(stages),
        edges=tuple(_edges(stages, inputs)),
    )


def _upstream(uid: str, inputs: Mapping[str, Sequence[Edge]]) -> dict[str, None]:
    """An operator and all above it, inputs first."""
    found: dict[str, None] = {}
    stack = [(uid, False)]
    while stack:
        current, done = stack.pop()
        if done:
            found[current] = None
        elif current not in found:
            stack.append((current, True))
            stack.extend((edge.source, False) for edge in reversed(inputs[current]))
    return found


def _reaches(uid: str, stream: Mapping[str, None], inputs: Mapping[str, Sequence[Edge]]) -> bool:
    return any(above in stream for above in _upstream(uid, inputs))


def _stream_stages(
    drawn: JobQuery, stream: Mapping[str, None], inputs: Mapping[str, Sequence[Edge]]
) -> list[Stage]:
    """Operators down to the trunk: forward edges and unions stay within a stage, the others end it."""
    root = {uid: uid for uid in stream}

    def find(uid: str) -> str:
        while root[uid] != uid:
            uid = root[uid]
        return uid

    for uid in stream:
        for edge in inputs[uid]:
            if edge.kind in ("forward", "union"):
                root[find(uid)] = find(edge.source)
    members: dict[str, list[str]] = {}
    for uid in stream:
        members.setdefault(find(uid), []).append(uid)
    sent = {edge.source for edge in drawn.edges if edge.kind == "broadcast"}
    return [
        Stage(f"s{number}", "table" if ops[-1] in sent else "stream", tuple(ops))
        for number, ops in enumerate(members.values(), 1)
    ]


def _counted(
    stages: Sequence[Stage],
    drawn: JobQuery,
    inputs: Mapping[str, Sequence[Edge]],
    asked: Mapping[str, int | None],
) -> list[Stage]:
    """The stages with their tasks: behind a shuffle as many as state partitions, unless asked otherwise."""
    stateful = {state.operator for state in drawn.query.state}
    found: list[Stage] = []
    for stage in stages:
        edges = [edge for uid in stage.operators for edge in inputs[uid]]
        shuffled = any(edge.kind in ("hash", "rebalance") for edge in edges)
        said = next((asked[uid] for uid in stage.operators if asked.get(uid) is not None), None)
        tasks = said or drawn.query.state_partitions if shuffled and stage.runs == "stream" else None
        state = tuple(uid for uid in stage.operators if uid in stateful)
        found.append(Stage(stage.id, stage.runs, stage.operators, tasks, state))
    return found


def _edges(stages: Sequence[Stage], inputs: Mapping[str, Sequence[Edge]]) -> Iterator[Edge]:
    """What moves between stages; an operator below the trunk may run in several of them."""
    homes: dict[str, list[str]] = {}
    for stage in stages:
        for uid in stage.operators:
            homes.setdefault(uid, []).append(stage.id)
    seen: set[Edge] = set()
    for stage in stages:
        for uid in stage.operators:
            for edge in inputs[uid]:
                if stage.id in homes[edge.source]:
                    continue
                made = Edge(homes[edge.source][0], stage.id, edge.kind, edge.keys)
                if made not in seen:
                    seen.add(made)
                    yield made

"""The pictures of the three graphs."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.explain.picture import Arrow, Fact, Group, Panel, Picture, Role, draw_panel, query_facts
from compiler.graphs.model import ExecutionQuery, Graphs, JobQuery, Operator, Query, Stage, StreamGraph


def pictures(graphs: Graphs) -> tuple[Picture, ...]:
    """A picture of each graph that is there."""
    title = f"{graphs.project}, target {graphs.target}"
    found: list[Picture] = []
    if graphs.stream is not None:
        found.append(Picture("stream", title, (_stream(graphs.stream),)))
    if graphs.job is not None:
        found.append(Picture("job", title, tuple(_job(query) for query in graphs.job.queries)))
    if graphs.execution is not None:
        panels = tuple(_execution(query) for query in graphs.execution.queries)
        found.append(Picture("execution", title, panels))
    return tuple(found)


def _stream(graph: StreamGraph) -> Panel:
    parts: dict[tuple[str, bool], list[Operator]] = {}
    for operator in graph.operators:
        # A sink may have the name of a model.
        parts.setdefault((operator.part, operator.kind == "sink"), []).append(operator)
    groups: list[Group] = []
    for (name, is_sink), operators in parts.items():
        reads = operators[0].kind in ("scan", "seed", "lookup_table") and operators[0].id == name
        role: Role = "sink" if is_sink else "source" if reads else "model"
        ids = tuple(operator.id for operator in operators)
        groups.append(Group(f"{role} {name}", name, role, ids))
    return draw_panel("stream", "stream graph", (), groups, graph.operators, graph.edges)


def _told(query: Query, operator: Operator) -> Sequence[Fact]:
    return [
        Fact(
            "state",
            f"{', '.join(state.columns) or 'keys only'} by {', '.join(state.keys) or 'nothing'}: "
            f"{state.bound}",
        )
        for state in query.state
        if state.operator == operator.id
    ]


def _job(query: JobQuery) -> Panel:
    facts = query.query
    groups = [
        Group(chain.id, f"chain {chain.id.removeprefix('c')}", "chain", chain.operators)
        for chain in query.chains
    ]
    return draw_panel(
        facts.uid,
        f"query {facts.uid}",
        query_facts(facts),
        groups,
        query.operators,
        query.edges,
        told=lambda operator: _told(facts, operator),
    )


def _execution(query: ExecutionQuery) -> Panel:
    facts = query.query
    kept = "kept while it is written" if query.persisted else "written as it is computed"
    groups = [_stage(stage) for stage in query.stages]
    stages = {stage.id: stage for stage in query.stages}
    trunk = next(stage.id for stage in query.stages if query.trunk in stage.operators)
    arrows: list[Arrow] = []
    for e in query.edges:
        label = str(e)
        if e.kind == "forward" and e.source == trunk:
            label = "rows of the epoch"
        elif e.kind == "forward" and query.kept is not None and stages[e.target].runs == "epoch":
            label = "what the epoch has read"
        arrows.append(Arrow(e.source, e.target, e.kind if label == str(e) else "epoch", label))
    told = [Fact("epoch", f"rows of {query.trunk}, {kept}")]
    if query.kept is not None:
        told.append(
            Fact(
                "read once",
                f"what an epoch reads of {query.kept} is kept for its state and for what needs none",
            )
        )
    return draw_panel(
        facts.uid,
        f"query {facts.uid}",
        (*query_facts(facts), *told),
        groups,
        query.operators,
        query.edges,
        arrows,
        told=lambda operator: _told(facts, operator),
    )


def _stage(stage: Stage) -> Group:
    notes: list[str] = []
    if stage.runs == "stream":
        tasks = "as many tasks as the source gives" if stage.tasks is None else f"{stage.tasks} tasks"
        notes.append(tasks)
    if stage.state:
        notes.append(f"state of {', '.join(stage.state)}")
    number, last = stage.id.lstrip("stw"), stage.operators[-1]
    titles: dict[str, tuple[str, Role]] = {
        "stream": (f"stage {number}", "stage"),
        "epoch": (f"write {last.removeprefix('sink:')}", "epoch"),
        "table": (f"table {stage.operators[0]}", "table"),
    }
    title, role = titles[stage.runs]
    return Group(stage.id, title, role, stage.operators, "; ".join(notes))

"""All graphs of a compiled project."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from compiler.chain.grouping import Group
from compiler.graphs.execution import execution_plan
from compiler.graphs.job import job_graph
from compiler.graphs.model import GRAPHS_VERSION, LEVELS, Graphs, Level
from compiler.graphs.stream import stream_graph
from compiler.jobplan.model import JobPlan
from compiler.plan.logical import LogicalPlan


def build_graphs(
    logical: LogicalPlan,
    groups: Sequence[Group],
    plan: JobPlan,
    levels: Collection[Level] = LEVELS,
) -> Graphs:
    """The graphs of a project.

    Args:
        logical: the project as it was bound.
        groups: what its queries were made of.
        plan: its job plan, or those of its queries that are of interest.
        levels: which graphs are wanted.
    """
    sinks = {sink.uid for query in plan.queries for sink in query.sinks}
    job = job_graph(plan, groups, logical.places)
    return Graphs(
        version=GRAPHS_VERSION,
        project=plan.project,
        target=plan.target,
        stream=stream_graph(logical, sinks) if "stream" in levels else None,
        job=job if "job" in levels else None,
        execution=execution_plan(plan, job) if "execution" in levels else None,
    )

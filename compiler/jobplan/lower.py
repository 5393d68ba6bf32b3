"""From groups of sinks to the job plan."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from compiler.chain.chains import build_chains
from compiler.chain.grouping import Group
from compiler.jobplan import model as job
from compiler.jobplan.sequence import event_times, wanting_sequence, with_sequence
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators.scan import lower_columns
from compiler.syntax.declarations import ProjectConfig
from compiler.syntax.python_functions import PythonFiles
from compiler.version import VERSION


def lower_project(
    config: ProjectConfig,
    groups: Sequence[Group],
    python: PythonFiles | None = None,
    scalars: tuple[job.ScalarFunction, ...] = (),
) -> job.JobPlan:
    """The job plan of a project for its target."""
    target = config.target
    return job.JobPlan(
        version=job.JOB_PLAN_VERSION,
        headrace=VERSION,
        project=config.name,
        target=target.name,
        timezone=config.timezone,
        settings=job.Settings(
            master=target.master,
            state_root=target.state,
            on_end="close" if target.on_end == "close" else "leave_open",
            spark=dict(target.spark),
        ),
        queries=tuple(_query(group, target.parallelism) for group in groups),
        functions=_functions(python, scalars) if python is not None and python.files else None,
    )


def _functions(python: PythonFiles, scalars: tuple[job.ScalarFunction, ...]) -> job.Functions:
    files = tuple(
        job.FunctionFile(file.path.removeprefix("functions/"), hashlib.sha256(file.text.encode()).hexdigest())
        for file in python.files
    )
    return job.Functions(python.digest, files, scalars)


def _query(group: Group, parallelism: int) -> job.Query:
    nodes = list(walk(*(sink.node for sink in group.sinks)))
    ids = {id(node): f"o{number}" for number, node in enumerate(nodes, 1)}
    operators = tuple(
        node.lower(ids[id(node)], tuple(ids[id(child)] for child in node.inputs)) for node in nodes
    )
    operators = with_sequence(operators, wanting_sequence(group.sinks, nodes, ids))
    chains, exchanges = build_chains(nodes, ids)
    return job.Query(
        uid=group.uid,
        operators=operators,
        trunk=ids[id(group.trunk)],
        sinks=tuple(lower_sink(sink, ids[id(sink.node)]) for sink in group.sinks),
        state=_state(nodes, ids),
        chains=chains,
        exchanges=exchanges,
        output_mode="update" if any(node.updates for node in nodes) else "append",
        trigger_ms=group.trigger_ms,
        parallelism=group.parallelism or parallelism,
        provisional=group.provisional,
        reason=group.reason,
        changes=tuple(
            job.Changes(ids[id(node)], node.changelog.key, node.changelog.kind == "retract")
            for node in nodes
            if not node.changelog.is_append
        ),
        kept=ids[id(group.kept)] if group.kept is not None else None,
    )


def _state(nodes: Sequence[Node], ids: dict[int, str]) -> tuple[job.State, ...]:
    """Stateful operators from the sink upwards: the order in which Spark numbers them."""
    found = (node.state(ids[id(node)]) for node in reversed(nodes))
    return tuple(state for state in found if state is not None)


def lower_sink(sink: BoundSink, input_: str) -> job.Sink:
    """The sink of a job plan that takes the rows of operator `input_`."""
    return job.Sink(
        uid=sink.uid,
        input=input_,
        connector=sink.connector.name,
        options=dict(sink.options),
        columns=lower_columns(sink.node.schema),
        delivery=sink.delivery,
        primary_key=sink.primary_key,
        partition_by=sink.partition_by,
        upsert=not sink.node.changelog.is_append,
        order_by=event_times(sink) if sink.primary_key and sink.node.changelog.is_append else (),
        before=sink.node.changelog.before and not sink.connector.shows_changes,
        metadata=dict(sink.metadata),
    )

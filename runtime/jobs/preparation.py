"""What has to be right before a query of the new plan may start.

All that can be found wrong is found before anything is changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.codec import to_json
from compiler.jobplan.model import (
    GroupMemory,
    JobPlan,
    LookupTable,
    Manifest,
    Options,
    Query,
    Scan,
    Sink,
)
from runtime.connectors import paths
from runtime.connectors.packages import modules_of
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer
from runtime.connectors.sources import SOURCES
from runtime.functions.scalars import register_functions
from runtime.jobs.environment import Environment
from runtime.jobs.execution import Execution
from runtime.jobs.executors import check_executors
from runtime.jobs.idle import needs_watch
from runtime.spark.cluster import is_local
from runtime.spark.context import Context
from runtime.state.checkpoint import Checkpoint
from runtime.state.compatibility import check_parallelism, check_reads, check_state
from runtime.state.plans import load_plan
from runtime.state.reads import read_names, stream_reads
from runtime.state.root import Current, StateRoot


@dataclass(frozen=True)
class Job:
    """A run's surroundings, the same for all its queries."""

    plan: JobPlan
    sha256: str
    project_dir: Path
    root: StateRoot
    session: SparkSession
    environment: Environment
    say: Callable[[str], None]
    warnings: list[Diagnostic] = field(default_factory=list)

    def sink_context(self, query: Query, begun: Mapping[str, Sink]) -> SinkContext:
        """What the writers of a query need, given its sinks as an earlier plan began the epoch in flight."""
        return SinkContext(
            self.session,
            self.plan.project,
            self.project_dir,
            self.say,
            last_committed=self.root.checkpoint(query.uid).last_committed,
            remembered=frozenset(
                uid for group in self.root.manifest().groups if group.uid == query.uid for uid in group.sinks
            ),
            begun=begun,
        )


def live_queries(plan: JobPlan, select: Collection[str] | None) -> tuple[Query, ...]:
    """The queries to run: those that are selected and have a sink left."""
    return tuple(
        query
        for query in plan.queries
        if (select is None or query.uid in select) and not all(sink.removed for sink in query.sinks)
    )


def check(job: Job, queries: tuple[Query, ...], full_refresh: bool) -> None:
    """Looks for what stands in the way of any query.

    Raises:
        DiagnosticError: with everything that was found.
    """
    found: list[Diagnostic] = []
    groups = {group.uid: group for group in job.root.manifest().groups}
    for query in queries:
        missing = job.environment.missing(query)
        found += missing
        if not missing:
            for op in job.environment.resolve(query).operators:
                if isinstance(op, Scan):
                    found += SOURCES[op.connector].check(op, job.project_dir)
        if not full_refresh:
            found += _collect(partial(_check_state, job, query, groups.get(query.uid)))
    # Threads of the driver see what it sees.
    if not is_local(str(job.session.sparkContext.master)) and not any(each.is_error for each in found):
        resolved = tuple(job.environment.resolve(query) for query in queries)
        found += check_executors(
            job.session, _written(job, resolved), _read(job, resolved), modules_of(queries)
        )
    warnings = [finding for finding in found if not finding.is_error]
    job.warnings.extend(map(job.environment.masked, warnings))
    if len(warnings) < len(found):
        raise DiagnosticError(*(finding for finding in found if finding.is_error))


def _written(job: Job, queries: Iterable[Query]) -> list[Path]:
    """The folders that a run writes to."""
    sinks = (sink for query in queries for sink in query.sinks if not sink.removed)
    return [job.root.path, *_local_paths(job, (sink.options for sink in sinks))]


def _read(job: Job, queries: Iterable[Query]) -> list[Path]:
    """The folders and files that a run reads, less those that are named by a pattern."""
    reads = (op for query in queries for op in query.operators if isinstance(op, (Scan, LookupTable)))
    return [path for path in _local_paths(job, (op.options for op in reads)) if path.exists()]


def _local_paths(job: Job, options: Iterable[Options]) -> list[Path]:
    named = (str(given["path"]) for given in options if "path" in given)
    return [paths.local(path, job.project_dir) for path in named if not paths.is_url(path)]


def refresh(job: Job, queries: tuple[Query, ...]) -> None:
    """Forgets the state of the queries and empties their sinks.

    The state goes first: killed in between, the next run is refused (its sinks hold rows whose state is
    gone) rather than going on from a state whose rows are not there.
    """
    writers: list[Writer] = []
    found: list[Diagnostic] = []
    for query in queries:
        try:
            writers.extend(writers_of(job, job.environment.resolve(query)).values())
        except DiagnosticError as error:
            found.extend(error.diagnostics)
    for writer in writers:
        found += _collect(writer.check_empty)
    if found:
        raise DiagnosticError(*found)
    for query in queries:
        job.root.forget(query.uid)
    for writer in writers:
        writer.empty()


def writers_of(job: Job, query: Query, begun: Mapping[str, Sink] | None = None) -> dict[str, Writer]:
    """A writer for each sink that is still there."""
    context = job.sink_context(query, begun or {})
    return {s.uid: SINKS[s.connector](s, context) for s in query.sinks if not s.removed}


def build(job: Job, query: Query, plan: JobPlan, sha256: str) -> Execution:
    """The execution of a query, its sinks claimed for the checkpoint.

    Raises:
        DiagnosticError: a sink is not ours to write.
    """
    resolved = job.environment.resolve(query)
    checkpoint = job.root.checkpoint(query.uid)
    checkpoint.tidy()
    incarnation = checkpoint.incarnation()
    begun = _sinks_that_began(job, query)
    writers = writers_of(job, resolved, begun)
    found: list[Diagnostic] = []
    for uid, writer in writers.items():
        # A sink that came after the epoch in flight had begun has nothing of it.
        last = checkpoint.last_begun - (begun is not None and uid not in begun)
        found += _collect(partial(writer.prepare, incarnation, last))
    if found:
        raise DiagnosticError(*found)
    register_functions(job.session, plan.functions, job.root.plan_folder(sha256) / "functions", plan.timezone)
    context = Context(
        session=job.session,
        project_dir=job.project_dir,
        plan_dir=job.root.plan_folder(sha256),
        streaming=True,
        query_folder=job.root.query_folder(query.uid),
        watches_times=needs_watch(query),
    )
    return Execution(resolved, plan.timezone, context, checkpoint, writers)


def unfinished(job: Job, query: Query) -> tuple[Query, JobPlan, str] | None:
    """The query, plan and sha256 that must finish an epoch in flight before `query` may go on.

    None if no epoch is in flight, or one that `query` itself may run: just as it was begun, or, if no sink
    has seen anything of it, as it is now. The second is how a query that fails on a row can be mended.
    """
    checkpoint = job.root.checkpoint(query.uid)
    current = job.root.current(query.uid)
    if not checkpoint.in_flight:
        return None
    closing = checkpoint.closed_at == checkpoint.last_begun
    if current is None or current.plan == job.sha256:
        return (query, job.plan, job.sha256) if closing else None
    plan, begun = _begun(job, query, current)
    if begun is None:
        raise checkpoint.broken(f"plan {current.plan} does not have the query")
    if _what_it_computes(begun, plan) == _what_it_computes(query, job.plan):
        return (query, job.plan, job.sha256) if closing else None
    if not closing and not _seen(job, begun, checkpoint):
        return None
    return begun, plan, current.plan


def _begun(job: Job, query: Query, current: Current) -> tuple[JobPlan, Query | None]:
    """The plan that began the newest epoch of a query, and the query as it is there."""
    plan = load_plan(job.root, current.plan)
    return plan, next((q for q in plan.queries if q.uid == query.uid), None)


def _sinks_that_began(job: Job, query: Query) -> dict[str, Sink] | None:
    """The sinks of an earlier plan that may have rows of the epoch in flight.

    None if any may, or no epoch is in flight.
    """
    current = job.root.current(query.uid)
    if not job.root.checkpoint(query.uid).in_flight or current is None or current.plan == job.sha256:
        return None
    _, begun = _begun(job, query, current)
    if begun is None:
        return None
    return {sink.uid: sink for sink in job.environment.resolve(begun).sinks if not sink.removed}


def _seen(job: Job, query: Query, checkpoint: Checkpoint) -> bool:
    """Whether a sink of the query holds the epoch in flight."""
    incarnation, epoch = checkpoint.incarnation(), checkpoint.last_begun
    for writer in writers_of(job, job.environment.resolve(query)).values():
        writer.prepare(incarnation, epoch)
        if writer.has(epoch):
            return True
    return False


def remember(job: Job, queries: tuple[Query, ...]) -> tuple[str, ...]:
    """Writes into the state root what is about to run; gives the uids of queries that are retired now."""
    manifest = job.root.manifest()
    planned = {query.uid for query in job.plan.queries if not all(s.removed for s in query.sinks)}
    gone = tuple(group.uid for group in manifest.groups if group.uid not in planned)
    running = {query.uid: _memory(query, job.root.checkpoint(query.uid)) for query in queries}
    kept = [running.pop(g.uid, g) for g in manifest.groups if g.uid in planned]
    job.root.write_manifest(
        Manifest(
            manifest.version,
            manifest.project,
            groups=(*kept, *running.values()),
            retired=tuple(uid for uid in dict.fromkeys((*manifest.retired, *gone)) if uid not in planned),
        )
    )
    for query in queries:
        checkpoint = job.root.checkpoint(query.uid)
        names = read_names(query)
        checkpoint.arrange(_reads_that_ran(job, query), names)
        if not query.state:
            # Whoever needed one is gone, and Spark takes it for a query's that has lost its operators.
            checkpoint.drop_state()
        job.root.write_current(query.uid, Current(job.sha256, checkpoint.closed_at is not None, names))
    return gone


def _check_state(job: Job, query: Query, memory: GroupMemory | None) -> list[Diagnostic]:
    checkpoint = job.root.checkpoint(query.uid)
    if checkpoint.last_begun < 0:
        return _check_logs(job, query, checkpoint)
    checkpoint.incarnation()
    found = check_parallelism(query, checkpoint.state_partitions) + _check_logs(job, query, checkpoint)
    if memory is not None:
        found += check_state(query, memory)
    current = job.root.current(query.uid)
    if current is not None and current.plan != job.sha256:
        try:
            plan = load_plan(job.root, current.plan)
        except DiagnosticError:
            # A plan of an older headrace matters only if it has something to finish.
            if checkpoint.in_flight:
                raise
            return found
        before = next((q for q in plan.queries if q.uid == query.uid), None)
        if before is not None:
            found += check_reads(query, before)
            if checkpoint.in_flight:
                found += job.environment.missing(before)
    return found


def _check_logs(job: Job, query: Query, checkpoint: Checkpoint) -> list[Diagnostic]:
    """What the logs of its sources say, which they write before an epoch begins."""
    if job.environment.missing(query):
        return []
    last = checkpoint.last_committed
    # A read that is back goes on where it was.
    done = checkpoint.left() | (checkpoint.ends(last, _reads_that_ran(job, query)) if last >= 0 else {})
    found: list[Diagnostic] = []
    for name, scan in stream_reads(job.environment.resolve(query)):
        if scan is not None:
            log = checkpoint.path / "sources" / name
            found += SOURCES[scan.connector].check_log(scan, log, done.get(name))
    return found


def _reads_that_ran(job: Job, query: Query) -> tuple[str, ...]:
    """The names of the query's reads in the order of the plan that has written its newest epochs.

    Raises:
        DiagnosticError: that plan cannot be read, and there is more than one read to be mistaken for another.
    """
    names = read_names(query)
    current = job.root.current(query.uid)
    if current is None or current.plan == job.sha256:
        return names
    if current.reads is not None:
        return current.reads
    # A state root of a headrace that did not note them.
    try:
        _, begun = _begun(job, query, current)
    except DiagnosticError:
        if len(names) > 1:
            raise
        return names
    return read_names(begun) if begun is not None else names


def _memory(query: Query, checkpoint: Checkpoint) -> GroupMemory:
    return GroupMemory(
        uid=query.uid,
        sinks=tuple(sink.uid for sink in query.sinks),
        reads=query.reads,
        state=query.state,
        parallelism=checkpoint.state_partitions or query.parallelism,
        beside=tuple(sorted(query.beside)),
    )


def _what_it_computes(query: Query, plan: JobPlan) -> str:
    """All that an epoch's rows and their way into the sinks depend on, as text to compare."""
    raw = json.loads(to_json(query))
    for sink in raw["sinks"]:
        # Changed by who says that an epoch may come again, after its sink could not tell whether it has it.
        del sink["delivery"]
        sink["options"] = {name: value for name, value in sink["options"].items() if not _is_travel(name)}
    parts = ("operators", "trunk", "kept", "sinks", "output_mode")
    return json.dumps([*(raw[part] for part in parts), plan.timezone, plan.settings.spark], sort_keys=True)


def _is_travel(option: str) -> bool:
    """Whether a sink's option says how rows get there, and neither which rows nor where.

    So a login that has changed, or a limit that was too small, may be mended while an epoch is in flight.
    """
    of_client = option.startswith("properties.") and option != "properties.bootstrap.servers"
    return of_client or option in ("username", "password", "max_retries", "timeout")


def _collect(step: Callable[[], list[Diagnostic] | None]) -> list[Diagnostic]:
    try:
        return step() or []
    except DiagnosticError as error:
        return list(error.diagnostics)

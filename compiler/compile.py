"""The compiler as one pure function: a loaded project in, a job plan or diagnostics out.

    load (project/) -> bind (analysis/) -> rules (analysis/rules/) -> optimize (optimize/)
         -> group into queries (chain/) -> lower (jobplan/)

Only the loader reads files; nothing here starts a JVM or imports Spark.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from compiler.analysis.bind import bind_project
from compiler.analysis.rules import PROJECT_RULES, RULES
from compiler.chain.beside import kept_read
from compiler.chain.grouping import Group, group_sinks
from compiler.chain.late_rows import check_late_rows
from compiler.chain.reads import with_own_reads
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.frozen import frozen
from compiler.jobplan.lower import lower_project
from compiler.jobplan.model import JobPlan, Manifest
from compiler.optimize import MERGE_SIBLINGS, READ_ONCE, SHARE_PANES, optimize, optimize_query
from compiler.plan.logical import LogicalPlan
from compiler.syntax.declarations import Project


@frozen
class Compiled:
    """What a compile gives; each stage can be looked at.

    Args:
        logical: every name resolved, models still told apart.
        optimized: after the optimizer, or None if there were errors before.
        groups: which sinks share a query.
        plan: the job plan, or None if there were errors.
        diagnostics: all findings, warnings included.
    """

    logical: LogicalPlan
    optimized: LogicalPlan | None
    groups: tuple[Group, ...]
    plan: JobPlan | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        """Whether nothing may run."""
        return any(d.is_error for d in self.diagnostics)


def compile_project(
    project: Project,
    reporter: Reporter,
    manifest: Manifest | None = None,
    without: Collection[str] = (),
    *,
    rechain: bool = False,
) -> Compiled:
    """Compiles a loaded project.

    Args:
        project: what was read from disk.
        reporter: holds what the loader found already.
        manifest: the memory of the state root, so that running queries keep their sinks; without it the
            grouping is provisional.
        without: names of optimizer rules to leave out, besides those that the project switches off.
        rechain: whether queries are formed as if none had run.
    """
    without = project.config.without.union(without)
    reporter.phase = "part"
    logical = bind_project(project, reporter)
    if not reporter.has_errors:
        for rule in RULES:
            reporter.extend(rule(logical))
        reporter.phase = "project"
        for rule in PROJECT_RULES:
            reporter.extend(rule(logical))
        reporter.phase = "part"
    if reporter.has_errors:
        return Compiled(logical, None, (), None, project.policy.judge(reporter.all()))
    optimized, groups = form_queries(logical, reporter, manifest, without, rechain=rechain)
    found = project.policy.judge(reporter.all(), complete=True)
    failed = any(d.is_error for d in found)
    plan = None if failed else lower_project(project.config, groups, project.python, optimized.functions)
    return Compiled(logical, optimized, groups, plan, found)


def form_queries(
    logical: LogicalPlan,
    reporter: Reporter,
    manifest: Manifest | None,
    without: Collection[str],
    *,
    rechain: bool = False,
) -> tuple[LogicalPlan, tuple[Group, ...]]:
    """The optimized plan and its queries, optimized each.

    Args:
        logical: without errors.
        reporter: takes what cannot go on as it was.
        manifest: the memory of the state root.
        without: names of all optimizer rules to leave out.
        rechain: whether queries are formed as if none had run.
    """
    optimized = optimize(logical, without)
    formed = group_sinks(
        optimized.sinks,
        manifest,
        reporter,
        merge_siblings=MERGE_SIBLINGS not in without,
        read_once=READ_ONCE not in without,
        share_panes=SHARE_PANES not in without,
        rechain=rechain,
    )
    groups = tuple(_optimized(group, without) for group in formed)
    reporter.extend(check_late_rows(groups, logical.places))
    return optimized, groups


def _optimized(group: Group, without: Collection[str]) -> Group:
    """A group with its query optimized."""
    roots = tuple(sink.node for sink in group.sinks)
    nodes, trunk = with_own_reads(*optimize_query(roots, group.trunk, without))
    sinks = (replace(sink, node=node) for sink, node in zip(group.sinks, nodes, strict=True))
    kept = kept_read(trunk) if group.kept is not None else None
    return replace(group, sinks=tuple(sinks), trunk=trunk, kept=kept)

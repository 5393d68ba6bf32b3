"""From YAML's steps to operators, by the same builder calls as SQL makes: one file a step.

To add a step: write its file, and the one of the same name under `compiler.syntax.steps`, and add its line
to `STEPS`.
"""

from __future__ import annotations

from typing import Final

from compiler.analysis.builder import Builder
from compiler.analysis.catalog import Catalog
from compiler.analysis.scope import Scope
from compiler.analysis.steps.aggregate import bind_aggregate
from compiler.analysis.steps.binder import Before, BindStep, Rows, StepsBinder
from compiler.analysis.steps.changelog import bind_changelog
from compiler.analysis.steps.dedup import bind_dedup
from compiler.analysis.steps.derive import bind_derive
from compiler.analysis.steps.distinct import bind_distinct
from compiler.analysis.steps.filter import bind_filter
from compiler.analysis.steps.join import bind_join
from compiler.analysis.steps.over import bind_over
from compiler.analysis.steps.process import bind_process
from compiler.analysis.steps.select import bind_select
from compiler.analysis.steps.top import bind_top
from compiler.analysis.steps.union import bind_union
from compiler.analysis.steps.unnest import bind_unnest
from compiler.analysis.steps.window import bind_session, bind_window
from compiler.diagnostics.diagnostic import Reporter
from compiler.plan.node import Node
from compiler.syntax.declarations import Step
from compiler.syntax.steps.aggregate import AggregateStep
from compiler.syntax.steps.changelog import ChangelogStep
from compiler.syntax.steps.dedup import DedupStep
from compiler.syntax.steps.derive import DeriveStep
from compiler.syntax.steps.distinct import DistinctStep
from compiler.syntax.steps.filter import FilterStep
from compiler.syntax.steps.join import JoinStep
from compiler.syntax.steps.match import MatchStep
from compiler.syntax.steps.over import OverStep
from compiler.syntax.steps.process import ProcessStep
from compiler.syntax.steps.select import SelectStep
from compiler.syntax.steps.top import TopStep
from compiler.syntax.steps.union import UnionStep
from compiler.syntax.steps.unnest import UnnestStep
from compiler.syntax.steps.window import SessionStep, WindowStep


def _bind_match(binder: StepsBinder, node: Node, scope: Scope, step: MatchStep, before: Before) -> Rows:
    # Few projects look for patterns; the modules that bind them are imported with the first one.
    from compiler.analysis.steps.match import bind_match

    return bind_match(binder, node, scope, step, before)


STEPS: Final[dict[type[Step], BindStep]] = {
    FilterStep: bind_filter,
    SelectStep: bind_select,
    DeriveStep: bind_derive,
    WindowStep: bind_window,
    SessionStep: bind_session,
    AggregateStep: bind_aggregate,
    DedupStep: bind_dedup,
    TopStep: bind_top,
    OverStep: bind_over,
    JoinStep: bind_join,
    MatchStep: _bind_match,
    ProcessStep: bind_process,
    UnionStep: bind_union,
    UnnestStep: bind_unnest,
    DistinctStep: bind_distinct,
    ChangelogStep: bind_changelog,
}


def steps_binder(catalog: Catalog, builder: Builder, reporter: Reporter) -> StepsBinder:
    """A binder of the steps of one model."""
    return StepsBinder(catalog, builder, STEPS, reporter.add)

"""Job-plan operators to DataFrames: one file an operator.

To add one: write `<op>.py` with a function `lower(op, inputs, ctx)` and add its line to `LOWERINGS`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from compiler.jobplan import model
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from compiler.jobplan.operators.panes import Panes
from runtime.spark.context import Context, Lowering
from runtime.spark.operators import (
    aggregate,
    branches,
    change_aggregate,
    change_join,
    changelog_functions,
    distinct,
    filter,
    fused_aggregate,
    generate,
    interval_join,
    late_rows,
    lookup_join,
    lookup_table,
    match,
    normalize,
    over,
    panes,
    process,
    project,
    rebalance,
    regular_join,
    scan,
    seed,
    seed_join,
    session,
    session_aggregate,
    temporal_join,
    top_n,
    union,
    values,
    watermark,
    window,
    window_join,
)

LOWERINGS: dict[type[model.Operator], Lowering] = {
    model.Scan: scan.lower,
    model.Seed: seed.lower,
    model.Values: values.lower,
    model.Watermark: watermark.lower,
    model.Filter: filter.lower,
    model.Match: match.lower,
    model.Process: process.lower,
    model.Branches: branches.lower,
    model.Project: project.lower,
    model.Generate: generate.lower,
    model.Window: window.lower,
    model.Session: session.lower,
    model.Aggregate: aggregate.lower,
    model.SessionAggregate: session_aggregate.lower,
    Panes: panes.lower,
    FusedAggregate: fused_aggregate.lower,
    model.Over: over.lower,
    model.TopN: top_n.lower,
    model.Distinct: distinct.lower,
    model.FromChangelog: changelog_functions.lower_from,
    model.ToChangelog: changelog_functions.lower_to,
    model.Normalize: normalize.lower,
    model.ChangeAggregate: change_aggregate.lower,
    model.Union: union.lower,
    model.Rebalance: rebalance.lower,
    model.SeedJoin: seed_join.lower,
    model.IntervalJoin: interval_join.lower,
    model.WindowJoin: window_join.lower,
    model.RegularJoin: regular_join.lower,
    model.ChangeJoin: change_join.lower,
    model.TemporalJoin: temporal_join.lower,
    model.LateRows: late_rows.lower,
    model.LookupTable: lookup_table.lower,
    model.LookupJoin: lookup_join.lower,
}


def lower(op: model.Operator, inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """The DataFrame that computes an operator's output."""
    return LOWERINGS[type(op)](op, inputs, ctx)

"""Operators of the job plan: one file each; the tag `op` tells them apart in JSON.

To add one: write its file and add it to `Operator`.
"""

from __future__ import annotations

from compiler.jobplan.operators.aggregate import Aggregate
from compiler.jobplan.operators.branches import Branches
from compiler.jobplan.operators.change_aggregate import ChangeAggregate
from compiler.jobplan.operators.change_join import ChangeJoin
from compiler.jobplan.operators.changelog_functions import FromChangelog, ToChangelog
from compiler.jobplan.operators.distinct import Distinct
from compiler.jobplan.operators.filter import Filter
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from compiler.jobplan.operators.generate import Generate
from compiler.jobplan.operators.interval_join import IntervalJoin
from compiler.jobplan.operators.late_rows import LateRows
from compiler.jobplan.operators.lookup_join import LookupJoin
from compiler.jobplan.operators.lookup_table import LookupTable
from compiler.jobplan.operators.match import Match
from compiler.jobplan.operators.normalize import Normalize
from compiler.jobplan.operators.over import Over
from compiler.jobplan.operators.panes import Panes
from compiler.jobplan.operators.process import Process
from compiler.jobplan.operators.project import Project
from compiler.jobplan.operators.rebalance import Rebalance
from compiler.jobplan.operators.regular_join import RegularJoin
from compiler.jobplan.operators.scan import Scan
from compiler.jobplan.operators.seed import Seed
from compiler.jobplan.operators.seed_join import SeedJoin
from compiler.jobplan.operators.session import Session
from compiler.jobplan.operators.session_aggregate import SessionAggregate
from compiler.jobplan.operators.temporal_join import TemporalJoin
from compiler.jobplan.operators.top_n import TopN
from compiler.jobplan.operators.union import Union
from compiler.jobplan.operators.values import Values
from compiler.jobplan.operators.watermark import Watermark
from compiler.jobplan.operators.window import Window
from compiler.jobplan.operators.window_join import WindowJoin

Operator = (
    Scan
    | Seed
    | Values
    | Watermark
    | Filter
    | Project
    | Generate
    | Window
    | Aggregate
    | Union
    | Rebalance
    | SeedJoin
    | IntervalJoin
    | WindowJoin
    | RegularJoin
    | ChangeJoin
    | Session
    | SessionAggregate
    | Panes
    | FusedAggregate
    | Match
    | TemporalJoin
    | Over
    | TopN
    | Distinct
    | FromChangelog
    | ToChangelog
    | Normalize
    | Branches
    | ChangeAggregate
    | LookupTable
    | LateRows
    | LookupJoin
    | Process
)

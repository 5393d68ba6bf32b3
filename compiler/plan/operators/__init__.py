"""The operators of the logical plan, one a file. A new one is a file here and a line in this list."""

from compiler.plan.operators.aggregate import Aggregate
from compiler.plan.operators.boundary import Boundary
from compiler.plan.operators.branches import Branches
from compiler.plan.operators.change_aggregate import ChangeAggregate
from compiler.plan.operators.change_join import ChangeJoin
from compiler.plan.operators.distinct import Distinct
from compiler.plan.operators.filter import Filter
from compiler.plan.operators.from_changelog import FromChangelog
from compiler.plan.operators.fused_aggregate import FusedAggregate
from compiler.plan.operators.generate import Generate
from compiler.plan.operators.interval_join import IntervalJoin
from compiler.plan.operators.late_rows import LateRows
from compiler.plan.operators.lookup_join import LookupJoin
from compiler.plan.operators.lookup_table import LookupTable
from compiler.plan.operators.match import Match
from compiler.plan.operators.normalize import Normalize
from compiler.plan.operators.over import Over
from compiler.plan.operators.panes import Panes
from compiler.plan.operators.process import Process
from compiler.plan.operators.project import Project
from compiler.plan.operators.rebalance import Rebalance
from compiler.plan.operators.regular_join import RegularJoin
from compiler.plan.operators.scan import Scan
from compiler.plan.operators.seed import SeedScan
from compiler.plan.operators.seed_join import SeedJoin
from compiler.plan.operators.session import Session
from compiler.plan.operators.session_aggregate import SessionAggregate
from compiler.plan.operators.temporal_join import TemporalJoin
from compiler.plan.operators.to_changelog import ToChangelog
from compiler.plan.operators.top_n import TopN
from compiler.plan.operators.union import Union
from compiler.plan.operators.values import Values
from compiler.plan.operators.watermark import Watermark
from compiler.plan.operators.window import Window
from compiler.plan.operators.window_join import WindowJoin

OPERATORS = (
    Scan,
    SeedScan,
    Values,
    Watermark,
    Boundary,
    Filter,
    Project,
    Generate,
    Window,
    Session,
    Aggregate,
    Branches,
    ChangeAggregate,
    SessionAggregate,
    Panes,
    FusedAggregate,
    Match,
    Over,
    TopN,
    Distinct,
    Process,
    SeedJoin,
    IntervalJoin,
    WindowJoin,
    RegularJoin,
    ChangeJoin,
    TemporalJoin,
    LookupTable,
    LateRows,
    LookupJoin,
    Union,
    Rebalance,
    FromChangelog,
    ToChangelog,
    Normalize,
)

__all__ = [
    "OPERATORS",
    "Aggregate",
    "Boundary",
    "Branches",
    "ChangeAggregate",
    "ChangeJoin",
    "Distinct",
    "Filter",
    "FromChangelog",
    "FusedAggregate",
    "Generate",
    "IntervalJoin",
    "LateRows",
    "LookupJoin",
    "LookupTable",
    "Match",
    "Normalize",
    "Over",
    "Panes",
    "Process",
    "Project",
    "Rebalance",
    "RegularJoin",
    "Scan",
    "SeedJoin",
    "SeedScan",
    "Session",
    "SessionAggregate",
    "TemporalJoin",
    "ToChangelog",
    "TopN",
    "Union",
    "Values",
    "Watermark",
    "Window",
    "WindowJoin",
]

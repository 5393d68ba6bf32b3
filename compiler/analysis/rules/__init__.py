"""Rules that judge a bound project, one a file. A new one is a file here and a line in this list.

They must run: each keeps a promise of the language or of delivery, and none of them changes the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compiler.analysis.rules.changelog_sink import changelog_sink
from compiler.analysis.rules.changes_input import changes_input
from compiler.analysis.rules.database_url import database_url
from compiler.analysis.rules.delivery import delivery
from compiler.analysis.rules.groups_over_state import groups_over_state
from compiler.analysis.rules.key_columns import key_columns
from compiler.analysis.rules.lookups import lookups
from compiler.analysis.rules.match_bounds import match_bounds
from compiler.analysis.rules.no_sink import no_sink
from compiler.analysis.rules.nondeterministic import nondeterministic
from compiler.analysis.rules.null_key import null_key
from compiler.analysis.rules.over_state import over_state
from compiler.analysis.rules.partition_columns import partition_columns
from compiler.analysis.rules.primary_key import primary_key
from compiler.analysis.rules.row_number import row_number
from compiler.analysis.rules.same_location import same_location
from compiler.analysis.rules.several_inputs import several_inputs
from compiler.analysis.rules.sink_columns import sink_columns
from compiler.analysis.rules.static_sink import static_sink
from compiler.analysis.rules.timeless_rows import timeless_rows
from compiler.analysis.rules.top_n_state import top_n_state
from compiler.analysis.rules.unused import unused
from compiler.analysis.rules.unused_watermark import unused_watermark
from compiler.analysis.rules.versioned_state import versioned_state
from compiler.analysis.rules.window_zone import window_zone
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan

Rule = Callable[[LogicalPlan], Iterable[Diagnostic]]

# What depends on nothing but a sink and what it reads, or a relation and what reads it.
RULES: tuple[Rule, ...] = (
    static_sink,
    sink_columns,
    partition_columns,
    key_columns,
    database_url,
    delivery,
    nondeterministic,
    primary_key,
    null_key,
    row_number,
    over_state,
    top_n_state,
    changes_input,
    changelog_sink,
    groups_over_state,
    window_zone,
    unused_watermark,
    several_inputs,
    match_bounds,
    versioned_state,
    lookups,
    timeless_rows,
    unused,
)

# What looks at all sources and sinks together. They see no model: a change of one leaves what they say.
PROJECT_RULES: tuple[Rule, ...] = (no_sink, same_location)

"""Optimizer rules, one a file, in the order in which they run. A new one is a file here and a line.

None changes results: every subset of them gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from compiler.optimize.drop_rank import drop_rank
from compiler.optimize.fuse_models import fuse_models
from compiler.plan.logical import LogicalPlan

Rule = Callable[[LogicalPlan], LogicalPlan]

RULES: tuple[Rule, ...] = (fuse_models, drop_rank)


def optimize(plan: LogicalPlan, without: Collection[str] = ()) -> LogicalPlan:
    """Runs all rules but those named in `without`."""
    for rule in RULES:
        if rule.__name__ not in without:
            plan = rule(plan)
    return plan

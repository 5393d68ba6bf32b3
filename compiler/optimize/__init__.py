"""Optimizer rules, one a file, in the order in which they run. A new one is a file here and a line.

None changes results: every subset of them gives the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from compiler.optimize.drop_rank import drop_rank
from compiler.optimize.fuse_models import fuse_models, part_models
from compiler.optimize.prune_columns import prune_columns
from compiler.optimize.push_filters import push_filters
from compiler.optimize.reuse_subplans import reuse_subplans
from compiler.optimize.unite_branches import unite_branches
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import Node

Rule = Callable[[LogicalPlan], LogicalPlan]
QueryRule = Callable[[tuple[Node, ...], Node], tuple[tuple[Node, ...], Node]]

RULES: Final[tuple[Rule, ...]] = (fuse_models, drop_rank, reuse_subplans, push_filters)
"""Rules over the whole project."""

QUERY_RULES: Final[tuple[QueryRule, ...]] = (unite_branches, prune_columns)
"""Rules over a query that has been formed: what its sinks take, and its trunk."""

MERGE_SIBLINGS: Final = "merge_siblings"
"""What `chain.siblings` does while queries are formed, for whoever leaves rules out."""

READ_ONCE: Final = "read_once"
"""What `chain.beside` does then."""

SHARE_PANES: Final = "share_panes"
"""What `chain.panes` does then."""

NAMES: Final = (*(rule.__name__ for rule in (*RULES, *QUERY_RULES)), MERGE_SIBLINGS, READ_ONCE, SHARE_PANES)
"""Names of all that can be left out."""


def optimize(plan: LogicalPlan, without: Collection[str] = ()) -> LogicalPlan:
    """Runs the rules over the project but those named in `without`."""
    if fuse_models.__name__ in without:
        plan = part_models(plan)
    for rule in RULES:
        if rule.__name__ not in without:
            plan = rule(plan)
    return plan


def optimize_query(
    roots: tuple[Node, ...], trunk: Node, without: Collection[str] = ()
) -> tuple[tuple[Node, ...], Node]:
    """Runs the rules over a query but those named in `without`; see `QueryRule`."""
    for rule in QUERY_RULES:
        if rule.__name__ not in without:
            roots, trunk = rule(roots, trunk)
    return roots, trunk

"""Whether a query leaves out just those late rows that its dead letters tell of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.chain.grouping import Group
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span
from compiler.plan.node import Node, walk
from compiler.plan.operators import LateRows, Scan, Watermark


def check_late_rows(groups: Sequence[Group], places: Mapping[str, Span]) -> Iterator[Diagnostic]:
    """HR315 for late rows that another query leaves out too, or one that reads more than their source.

    Each query has a watermark of its own, and epochs of its own, so only the one that leaves a row out
    can tell of it.
    """
    for group in groups:
        for late in _nodes(group):
            if not isinstance(late, LateRows):
                continue
            for other in groups:
                if other is not group and _leaves_out(other, late.source):
                    yield _cannot(late, places, f"query `{other.uid}` leaves late rows out too", group)
            if len([node for node in _nodes(group) if isinstance(node, Scan)]) > 1:
                yield _cannot(late, places, f"query `{group.uid}` has more than one read", group)


def _nodes(group: Group) -> list[Node]:
    return list(walk(*(sink.node for sink in group.sinks)))


def _leaves_out(group: Group, source: str) -> bool:
    marks = [n for n in _nodes(group) if isinstance(n, Watermark) and n.source == source]
    return bool(marks) and any(
        node.heeds_watermark and any(above is mark for above in walk(node) for mark in marks)
        for node in _nodes(group)
    )


def _cannot(late: LateRows, places: Mapping[str, Span], problem: str, group: Group) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_POLICY,
        f"late rows of source `{late.source}` cannot be dead letters: {problem}",
        places.get(late.uid),
        cause=f"the query that leaves them out, `{group.uid}`, tells of them, by its own watermark over this "
        "source alone",
        fix="declare the source once for each query that is to tell, each with a sink of its own; a query "
        "that runs already takes a new sink with --rechain or --full-refresh",
    )

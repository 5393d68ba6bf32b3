"""The tables that are printed, and the limits that headrace has to keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from bench.chaining.figures import Figures, Part, Spread
from bench.chaining.workloads import WORKLOADS

OURS: Final = "headrace"
WHOLE_ROWS: Final = 2_000_000
"""Limits of whole runs hold at this number of rows: with more of them start-up counts for less."""


class Limit(msgspec.Struct, frozen=True):
    """headrace must take at least `times` less CPU than the peer."""

    workload: str
    peer: str
    times: float
    part: Part = "rest"


LIMITS: Final = (
    Limit("W1", "per-sink", 1 / 0.92, "whole"),
    Limit("W2", "per-sink", 1.5),
    Limit("W2", "views", 1.8),
    Limit("W2", "tables", 1.8),
    Limit("W3", "per-model", 1.5),
    # A query a sink is the chain of models fused by hand.
    Limit("W3", "per-sink", 1.0),
    Limit("W3", "per-sink", 1 / 0.92, "whole"),
    Limit("W4", "per-sink", 2.5),
    Limit("W5", "per-sink", 2.0),
)


def table(figures: Figures) -> Iterator[str]:
    """Lines of what each system took for each workload."""
    yield f"{figures.rows:,} rows, CPU s of the rows; medians (least–most)"
    yield ""
    yield "| workload | system | runs | fixed CPU s | CPU s | whole CPU s | wall s | headrace takes less by |"
    yield "|---|---|---|---|---|---|---|---|"
    for workload in WORKLOADS:
        for system in dict.fromkeys(pair.system for pair in figures.pairs if pair.workload == workload):
            pairs = figures.of(workload, system)
            cells = [_cpu(figures, workload, system, part) for part in ("fixed", "rest", "whole")]
            shown = [cell.show(1) for cell in cells if cell is not None]
            shown.append(Spread.of([pair.all.wall for pair in pairs]).show(1))
            shown.append("" if system == OURS else _times(_less(figures, workload, system, "rest")))
            yield f"| {workload} | {system} | {len(pairs)} | {' | '.join(shown)} |"


def judge(figures: Figures) -> Iterator[tuple[str, bool]]:
    """Lines about the limits, and whether each is in order: reached, or not to be judged by these runs."""
    yield "| workload | peer | CPU | headrace takes less by | limit | |", True
    yield "|---|---|---|---|---|---|", True
    for limit in LIMITS:
        less = _less(figures, limit.workload, limit.peer, limit.part)
        if not (figures.of(limit.workload, limit.peer) and figures.of(limit.workload, OURS)):
            verdict, fine = "not measured", True
        elif limit.part == "whole" and figures.rows != WHOLE_ROWS:
            verdict, fine = f"holds at {WHOLE_ROWS:,} rows", True
        elif less is None:
            verdict, fine = "NOT REACHED: lost in the noise, it takes more rows", False
        else:
            fine = less.middle >= limit.times
            verdict = "reached" if fine else "NOT REACHED"
        cells = [limit.workload, limit.peer, limit.part, _times(less), f"{limit.times:.2f}x", verdict]
        yield f"| {' | '.join(cells)} |", fine


def _cpu(figures: Figures, workload: str, system: str, part: Part) -> Spread | None:
    pairs = figures.of(workload, system)
    return Spread.of([pair.cpu(part) for pair in pairs]) if pairs else None


def _less(figures: Figures, workload: str, peer: str, part: Part) -> Spread | None:
    theirs, ours = _cpu(figures, workload, peer, part), _cpu(figures, workload, OURS, part)
    return None if theirs is None or ours is None else theirs.over(ours)


def _times(less: Spread | None) -> str:
    return "" if less is None else less.show(2, "x")

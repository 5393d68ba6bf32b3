"""Spark SQL of a fused aggregate, for whoever runs it or writes it down."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.jobplan.operators.fused_aggregate import FusedAggregate, FusedBranch


def marks(branch: FusedBranch, time_us: str) -> Iterator[str]:
    """For each window of a row, its branch and its end in microseconds; NULL where the row is not of it.

    Args:
        branch: one of the aggregates.
        time_us: the column that holds a row's time in microseconds.
    """
    size, slide, offset = (ms * 1000 for ms in (branch.size_ms, branch.slide_ms, branch.offset_ms))
    last = f"{time_us} - pmod({time_us} - {offset}L, {slide}L)"
    for number in range(size // slide):
        mark = f"named_struct('branch', {branch.number}, 'end', {last} + {size - number * slide}L)"
        yield f"IF({branch.condition}, {mark}, NULL)" if branch.condition is not None else mark


def by_branch(op: FusedAggregate, values: dict[int, str], otherwise: str = "NULL") -> str:
    """The value of a row's branch, by the branches' numbers."""
    if len(values) == len(op.branches) and len(set(values.values())) == 1:
        return next(iter(values.values()))
    whens = " ".join(f"WHEN {number} THEN {value}" for number, value in values.items())
    return f"CASE {op.branch} {whens} ELSE {otherwise} END"


def slot(op: FusedAggregate, name: str, type_: str) -> str:
    """What a key slot holds of a row."""
    values = {
        branch.number: f"({key.sql})" for branch in op.branches for key in branch.keys if key.name == name
    }
    # A slot of a branch that has gone keeps its place in the state.
    return f"CAST({by_branch(op, values)} AS {type_})" if values else f"CAST(NULL AS {type_})"


def size_us(op: FusedAggregate) -> str:
    """The size of a row's window in microseconds."""
    return by_branch(op, {branch.number: str(branch.size_ms * 1000) for branch in op.branches})


def window_condition(op: FusedAggregate) -> str | None:
    """What must hold of a row in its window, if anything."""
    conditions = {b.number: b.window_condition for b in op.branches if b.window_condition is not None}
    return by_branch(op, conditions, otherwise="true") if conditions else None

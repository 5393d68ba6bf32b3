"""Spark SQL of a fused aggregate, for whoever runs it or writes it down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from compiler.jobplan.operators.fused_aggregate import FusedAggregate, FusedBranch

# Up to here each window is an expression of its own, which Spark compiles; beyond, that is too much code.
_MOST_WRITTEN_OUT: Final = 24
_NO_MARKS: Final = "CAST(array() AS ARRAY<STRUCT<branch: INT, `end`: BIGINT>>)"


def marks(op: FusedAggregate, time_us: str) -> str:
    """For each window of a row a struct of its branch and its end in microseconds, or NULL, as an array.

    Args:
        op: the operator.
        time_us: the column that holds a row's time in microseconds.
    """
    few = [branch for branch in op.branches if branch.size_ms // branch.slide_ms <= _MOST_WRITTEN_OUT]
    written = ", ".join(mark for branch in few for mark in _marks(branch, time_us))
    arrays = [f"array({written})"] if few else []
    arrays += [_many_marks(branch, time_us) for branch in op.branches if branch not in few]
    return arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"


def _marks(branch: FusedBranch, time_us: str) -> Iterator[str]:
    begun, size, slide = _period(branch, time_us)
    conditions = [f"({branch.condition})"] if branch.condition is not None else []
    for number in range(size // slide):
        if branch.cumulates:
            end = f"{begun} + {(number + 1) * slide}L"
            last = number + 1 == size // slide
            passed = [*conditions, *([] if last else [f"{time_us} < {end}"])]
        else:
            end = f"{begun} + {size - number * slide}L"
            passed = conditions
        mark = _mark(branch, end)
        yield f"IF({' AND '.join(passed)}, {mark}, NULL)" if passed else mark


def _many_marks(branch: FusedBranch, time_us: str) -> str:
    begun, size, slide = _period(branch, time_us)
    first = f"({time_us} - ({begun})) DIV {slide}L + 1L" if branch.cumulates else "1L"
    made = _mark(branch, f"{begun} + __number * {slide}L")
    found = f"transform(sequence({first}, {size // slide}L), __number -> {made})"
    return f"IF({branch.condition}, {found}, {_NO_MARKS})" if branch.condition is not None else found


def _period(branch: FusedBranch, time_us: str) -> tuple[str, int, int]:
    """Where the last period begins that a row lies in; size and slide, microseconds."""
    size, slide, offset = (ms * 1000 for ms in (branch.size_ms, branch.slide_ms, branch.offset_ms))
    period = size if branch.cumulates else slide
    return f"{time_us} - pmod({time_us} - {offset}L, {period}L)", size, slide


def _mark(branch: FusedBranch, end: str) -> str:
    return f"named_struct('branch', {branch.number}, 'end', {end})"


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


def start_us(op: FusedAggregate, end_us: str) -> str:
    """Where a row's window begins, in microseconds, by the column that holds its end."""

    def start(branch: FusedBranch) -> str:
        size, offset = branch.size_ms * 1000, branch.offset_ms * 1000
        if branch.cumulates:
            return f"{end_us} - 1L - pmod({end_us} - 1L - {offset}L, {size}L)"
        return f"{end_us} - {size}L"

    return by_branch(op, {branch.number: start(branch) for branch in op.branches})


def window_condition(op: FusedAggregate) -> str | None:
    """What must hold of a row in its window, if anything."""
    conditions = {b.number: b.window_condition for b in op.branches if b.window_condition is not None}
    return by_branch(op, conditions, otherwise="true") if conditions else None

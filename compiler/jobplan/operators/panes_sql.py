"""Spark SQL of panes, for whoever runs them or writes them down."""

from __future__ import annotations

from compiler.jobplan.operators.panes import PaneGroup, Panes

FIRST = "__headrace_first"
"""The column that says in which of its groups a row is counted."""


def only_group(op: Panes) -> str | None:
    """The number of a row's group where there is but one; None if there are more."""
    if len(op.groups) != 1:
        return None
    (group,) = op.groups
    return str(group.number) if group.condition is None else f"IF({group.condition}, {group.number}, 0)"


def groups(op: Panes) -> str:
    """For each group that takes a row, a struct of its number and whether the row is counted there."""
    every = [group for group in op.groups if group.condition is None]
    some = [group for group in op.groups if group.condition is not None]
    found = [_mark(str(group.number), "true" if group is every[0] else "false") for group in every]
    before: list[str] = []
    for group in some:
        first = "false" if every else f"NOT ({' OR '.join(before)})" if before else "true"
        found.append(f"IF({group.condition}, {_mark(str(group.number), first)}, NULL)")
        before.append(_holds(group))
    if not every:
        found.append(f"IF({' OR '.join(before)}, NULL, {_mark('0', 'true')})")
    return f"inline(array({', '.join(found)}))"


def _mark(number: str, first: str) -> str:
    return f"named_struct('number', {number}, 'first', {first})"


def _holds(group: PaneGroup) -> str:
    return f"coalesce({group.condition}, false)"


def pane(op: Panes, time_us: str) -> str:
    """The start of a row's pane in microseconds; all rows of no group are in one.

    Args:
        op: the operator.
        time_us: the column that holds a row's time in microseconds.
    """
    starts = {
        group.number: f"{time_us} - pmod({time_us} - {group.offset_ms * 1000}L, {group.size_ms * 1000}L)"
        for group in op.groups
    }
    return _by_group(op, starts, "0L")


def slot(op: Panes, name: str, type_: str) -> str:
    """What a key slot holds of a row."""
    keys = {group.number: f"({key.sql})" for group in op.groups for key in group.keys if key.name == name}
    return f"CAST({_by_group(op, keys, 'NULL')} AS {type_})"


def _by_group(op: Panes, values: dict[int, str], otherwise: str) -> str:
    if len(values) == len(op.groups) and len(set(values.values())) == 1 and not _leaves_out(op):
        return next(iter(values.values()))
    whens = " ".join(f"WHEN {number} THEN {value}" for number, value in values.items())
    return f"CASE {op.group} {whens} ELSE {otherwise} END"


def _leaves_out(op: Panes) -> bool:
    """Whether a row may be of no group."""
    return all(group.condition is not None for group in op.groups)

"""Several window aggregates as one scan, one shuffle and one state store.

Each row is exploded to one row per branch and window; the branch's number is the first key of the state. A
plain column with the mark of an event time closes groups as Spark's window struct does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.fused_aggregate import FusedAggregate, FusedBranch
from runtime.spark.context import Context, event_time, quote
from runtime.spark.operators.aggregate import TIME_KEY

_MICROSECONDS = "__headrace_us"
_MARK = "__headrace_mark"


def lower(op: FusedAggregate, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Explodes, computes the keys of each branch into the slots, and groups once."""
    (rows,) = inputs
    columns = [F.col(quote(name)) for name in rows.columns]
    time = F.unix_micros(F.col(quote(op.time_column)))
    marks = [mark for branch in op.branches for mark in _marks(branch)]
    timed = rows.select(*columns, time.alias(_MICROSECONDS))
    exploded = timed.select(
        *columns, F.expr(f"inline(array({', '.join(marks)}))").alias(op.branch, _MARK)
    ).where(f"{op.branch} IS NOT NULL")
    size = _case(op, {branch.number: str(branch.size_ms * 1000) for branch in op.branches}, op.branch)
    bounded = exploded.select(
        *columns,
        F.col(op.branch),
        F.expr(f"timestamp_micros({_MARK} - {size})").alias(op.start),
        F.timestamp_micros(F.col(_MARK)).alias(op.end),
        F.expr(f"timestamp_micros({_MARK} - 1000)").alias(op.time),
    )
    conditions = {b.number: b.window_condition for b in op.branches if b.window_condition is not None}
    if conditions:
        bounded = bounded.where(_case(op, conditions, op.branch, otherwise="true"))
    keyed = bounded.select(
        "*",
        F.col(op.end).alias(TIME_KEY, metadata=event_time(op.delay_ms)),
        *(F.expr(_slot(op, slot.name, slot.type)).alias(slot.name) for slot in op.slots),
    )
    grouped = keyed.groupBy(op.branch, TIME_KEY, *(slot.name for slot in op.slots)).agg(
        *(F.expr(value.sql).alias(value.name) for value in op.values)
    )
    return grouped.withColumnRenamed(TIME_KEY, op.end)


def _marks(branch: FusedBranch) -> Iterator[str]:
    """For each window of a row, its branch and its end in microseconds; NULL where the row is not of it."""
    size, slide, offset = (ms * 1000 for ms in (branch.size_ms, branch.slide_ms, branch.offset_ms))
    last = f"{_MICROSECONDS} - pmod({_MICROSECONDS} - {offset}L, {slide}L)"
    for number in range(size // slide):
        mark = f"named_struct('branch', {branch.number}, 'end', {last} + {size - number * slide}L)"
        yield f"IF({branch.condition}, {mark}, NULL)" if branch.condition is not None else mark


def _case(op: FusedAggregate, values: dict[int, str], over: str, otherwise: str = "NULL") -> str:
    if len(values) == len(op.branches) and len(set(values.values())) == 1:
        return next(iter(values.values()))
    whens = " ".join(f"WHEN {number} THEN {value}" for number, value in values.items())
    return f"CASE {over} {whens} ELSE {otherwise} END"


def _slot(op: FusedAggregate, name: str, type_: str) -> str:
    values = {
        branch.number: f"({key.sql})" for branch in op.branches for key in branch.keys if key.name == name
    }
    # A slot of a branch that has gone keeps its place in the state.
    return f"CAST({_case(op, values, op.branch)} AS {type_})" if values else f"CAST(NULL AS {type_})"

"""Merged window aggregates, and the panes below them, as PySpark."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.emit.code import TIME_KEY, Code, Scope, alias, expr, marked, select, steps, where
from compiler.emit.text import call, string
from compiler.jobplan import model as job
from compiler.jobplan.operators import fused_sql, panes_sql
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from compiler.plan.expr_sql import quote_name as quote


def panes(op: job.Panes, _inputs: Sequence[str], _scope: Scope) -> Code:
    """Each row as a pane of its own: only headrace's runtime puts rows together ahead of a stream."""
    us, first = "__headrace_us", panes_sql.FIRST
    only = panes_sql.only_group(op)
    calls = [select(["*", f"unix_micros({quote(op.time_column)}) AS {us}"])]
    if only is not None:
        calls.append(select(["*", f"{only} AS {op.group}", f"true AS {first}"]))
    else:
        calls.append(select(["*", f"{panes_sql.groups(op)} AS ({op.group}, {first})"]))
        calls.append(where(f"{op.group} IS NOT NULL"))
    keys = [alias(panes_sql.slot(op, slot.name, slot.type), slot.name) for slot in op.slots]
    partials = [alias(partial.single, partial.name) for partial in op.partials]
    pane = f"timestamp_micros({panes_sql.pane(op, us)}) AS {op.pane}"
    counted = f"IF({first}, 1L, 0L) AS {op.rows}"
    calls.append(select([op.group, pane, quote(op.time_column), *keys, *partials, counted]))
    return steps(*calls)


def fused(op: FusedAggregate, _inputs: Sequence[str], _scope: Scope) -> Code:
    """Rows exploded to branch, window and keys, grouped once."""
    us, mark = "__headrace_us", "__headrace_mark"
    marks = fused_sql.marks(op, us)
    calls = [
        select(["*", f"unix_micros({quote(op.time_column)}) AS {us}"]),
        select(["*", f"inline({marks}) AS ({op.branch}, {mark})"]),
        where(f"{op.branch} IS NOT NULL"),
        select(
            [
                "*",
                f"timestamp_micros({fused_sql.start_us(op, mark)}) AS {op.start}",
                f"timestamp_micros({mark}) AS {op.end}",
                f"timestamp_micros({mark} - 1000) AS {op.time}",
            ]
        ),
    ]
    condition = fused_sql.window_condition(op)
    if condition is not None:
        calls.append(where(condition))
    slots = [alias(fused_sql.slot(op, slot.name, slot.type), slot.name) for slot in op.slots]
    keys = [marked(op.end, TIME_KEY, op.delay_ms), *(expr(slot) for slot in slots)]
    names = [op.branch, TIME_KEY, *(slot.name for slot in op.slots)]
    values = [expr(value.sql) + f".alias({string(value.name)})" for value in op.values]
    calls += [
        call(".select", ['"*"', *keys]),
        f".groupBy({', '.join(map(string, names))})",
        call(".agg", values or ['F.count("*").alias("__agg_none")']),
        f".withColumnRenamed({string(TIME_KEY)}, {string(op.end)})",
    ]
    return steps(*calls)

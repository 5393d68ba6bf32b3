"""Runs job plans in DuckDB, over rows that are all there at once: which rows they give needs no Spark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import duckdb

from compiler.jobplan import model as job
from compiler.jobplan.operators.fused_aggregate import FusedAggregate, FusedBranch

_MACROS = (
    "try_divide(a, b) AS a / nullif(b, 0)",
    "unix_micros(t) AS epoch_us(t)",
    "timestamp_micros(us) AS make_timestamp(us)",
    "pmod(a, b) AS ((a % b) + b) % b",
)

Rows = Counter[tuple[object, ...]]


def rows_of_sinks(
    plan: job.JobPlan, database: duckdb.DuckDBPyConnection, tables: Mapping[str, str]
) -> dict[str, Rows]:
    """What each sink would hold.

    Args:
        plan: with operators of the kinds that this module knows.
        database: has the tables.
        tables: of sources and seeds, by uid.
    """
    found: dict[str, Rows] = {}
    for macro in _MACROS:
        database.execute(f"CREATE OR REPLACE MACRO {macro}")
    for query in plan.queries:
        views: dict[str, str] = {}
        for op in query.operators:
            views[op.id] = f"{query.uid}_{op.id}"
            text = _sql(op, [views[name] for name in op.inputs], tables)
            database.execute(f"CREATE OR REPLACE TEMP VIEW {views[op.id]} AS {text}")
        for sink in query.sinks:
            columns = ", ".join(_quoted(column.name) for column in sink.columns)
            rows = database.execute(f"SELECT {columns} FROM {views[sink.input]}").fetchall()
            found[sink.uid] = Counter(rows)
    return found


def _sql(op: job.Operator, inputs: list[str], tables: Mapping[str, str]) -> str:
    match op:
        case job.Scan() | job.Seed():
            columns = ", ".join(_quoted(column.name) for column in op.columns)
            return f"SELECT {columns} FROM {tables[job.original(op.uid)]}"
        case job.Watermark() | job.Rebalance():
            return f"SELECT * FROM {inputs[0]}"
        case job.Filter():
            return f"SELECT * FROM {inputs[0]} WHERE {_expr(op.predicate)}"
        case job.Project():
            return f"SELECT {_items(op.items)} FROM {inputs[0]}"
        case job.Union():
            return " UNION ALL ".join(f"SELECT * FROM {name}" for name in inputs)
        case job.Branches():
            parts = (
                f"SELECT {_items(tuple(map(job.Item, op.names, made.values)))} FROM {inputs[0]} "
                f"WHERE {_expr(made.condition or 'true')}"
                for made in op.made
            )
            return " UNION ALL ".join(parts)
        case job.SeedJoin():
            condition = _expr(op.condition or "true")
            return f"SELECT * FROM {inputs[0]} {op.kind} JOIN {inputs[1]} ON {condition}"
        case job.Window():
            cumulates = op.kind == "cumulate"
            branch = FusedBranch(0, "", None, op.size_ms, op.slide_ms, op.offset_ms, None, (), cumulates)
            return _windowed(branch, op.time_column, inputs[0], (op.start, op.end, op.time))
        case job.Aggregate():
            keys = [f"{_expr(key.sql)} AS {_quoted(key.name)}" for key in op.keys]
            values = [f"{_expr(item.sql)} AS {_quoted(item.name)}" for item in op.aggregates]
            assert op.window_time is None
            return f"SELECT {', '.join((*keys, *values))} FROM {inputs[0]} GROUP BY ALL"
        case job.Panes():
            return _panes(op, inputs[0])
        case FusedAggregate():
            return _fused(op, inputs[0])
        case _:
            raise NotImplementedError(op.op)


def _panes(op: job.Panes, rows: str) -> str:
    """Rows put together, as they are ahead of a stream; a group is computed by itself."""
    made: list[str] = []
    for group in op.groups:
        own = {key.name: _expr(key.sql) for key in group.keys}
        size = f"to_milliseconds({group.size_ms})"
        offset = f"TIMESTAMP '1970-01-01' + to_milliseconds({group.offset_ms})"
        slots = (f"CAST({own.get(s.name, 'NULL')} AS {_type(s.type)}) AS {s.name}" for s in op.slots)
        pane = f"time_bucket({size}, {_quoted(op.time_column)}, {offset}) AS {op.pane}"
        where = f" WHERE {_expr(group.condition)}" if group.condition else ""
        made.append(f"SELECT *, {group.number} AS {op.group}, {', '.join((pane, *slots))} FROM {rows}{where}")
    keys = ", ".join((op.group, op.pane, *(slot.name for slot in op.slots)))
    partials = [f"{_expr(partial.sql)} AS {partial.name}" for partial in op.partials]
    return f"SELECT {', '.join((keys, *partials))} FROM ({' UNION ALL '.join(made)}) GROUP BY {keys}"


def _fused(op: FusedAggregate, rows: str) -> str:
    exploded: list[str] = []
    for branch in op.branches:
        own = {key.name: _expr(key.sql) for key in branch.keys}
        slots = (f"CAST({own.get(s.name, 'NULL')} AS {_type(s.type)}) AS {s.name}" for s in op.slots)
        bounds = _windowed(branch, op.time_column, rows, (op.start, op.end, op.time))
        where = f" WHERE {_expr(branch.window_condition)}" if branch.window_condition else ""
        columns = ", ".join(("*", f"{branch.number} AS {op.branch}", *slots))
        exploded.append(f"SELECT {columns} FROM ({bounds}){where}")
    keys = ", ".join((op.branch, op.end, *(slot.name for slot in op.slots)))
    values = [f"{_expr(value.sql)} AS {value.name}" for value in op.values]
    return f"SELECT {', '.join((keys, *values))} FROM ({' UNION ALL '.join(exploded)}) GROUP BY {keys}"


def _windowed(branch: FusedBranch, time: str, rows: str, bounds: tuple[str, str, str]) -> str:
    """Rows with the bounds of each of their windows."""
    start, end, last = bounds
    slide = f"to_milliseconds({branch.slide_ms})"
    offset = f"TIMESTAMP '1970-01-01' + to_milliseconds({branch.offset_ms})"
    size = f"to_milliseconds({branch.size_ms})"
    conditions = [_expr(branch.condition)] if branch.condition else []
    if branch.cumulates:
        begin = f"time_bucket({size}, {_quoted(time)}, {offset})"
        over = f"{begin} + (__number + 1) * {slide}"
        conditions.append(f"{_quoted(time)} < {over}")
    else:
        begin = f"time_bucket({slide}, {_quoted(time)}, {offset}) - __number * {slide}"
        over = f"{begin} + {size}"
    where = f" WHERE {' AND '.join(map('({})'.format, conditions))}" if conditions else ""
    return (
        f"SELECT * EXCLUDE (__number), {begin} AS {start}, {over} AS {end}, "
        f"{over} - to_milliseconds(1) AS {last} "
        f"FROM {rows}, range({branch.size_ms // branch.slide_ms}) AS __numbers(__number){where}"
    )


def _items(items: tuple[job.Item, ...]) -> str:
    return ", ".join(f"{_expr(item.sql)} AS {_quoted(item.name)}" for item in items)


def _quoted(name: str) -> str:
    return f'"{name}"'


def _expr(sql: str) -> str:
    """Spark's text of an expression as DuckDB reads it."""
    return re.sub(r"\b(\d+)L\b", r"\1", sql.replace("`", '"'))


def _type(name: str) -> str:
    return "VARCHAR" if name == "STRING" else name

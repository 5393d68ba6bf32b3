"""Operators of a job plan as PySpark: what is said here does what `runtime/spark/operators/` does.

An emitter gives a base expression, None to go on with its first input, and the calls that follow it. To add
one: a function, and its line in `EMITTERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from compiler.emit.code import (
    TIME_KEY,
    CannotEjectError,
    Code,
    Scope,
    alias,
    expr,
    marked,
    select,
    steps,
    where,
)
from compiler.emit.fused import fused, panes
from compiler.emit.text import call, sql_string, string
from compiler.jobplan import model as job
from compiler.jobplan.formats import file_format, spark_options
from compiler.jobplan.operators.branches import rows_sql
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from compiler.jobplan.operators.stream_join import EventTime, OutputColumn
from compiler.plan.expr_sql import quote_name as quote

# Keeps filters above the watermark, see `runtime.spark.barrier`.
_BARRIER = '.where("spark_partition_id() >= 0")'
_MILLISECOND = "INTERVAL '0.001' SECOND"


def _times(delays: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{string(name)}: {delay}" for name, delay in delays.items()) + "}"


def _scan(op: job.Scan, _inputs: Sequence[str], _scope: Scope) -> Code:
    if op.connector != "filesystem":
        raise CannotEjectError(f"connector {op.connector}")
    if op.marks is not None:
        raise CannotEjectError("on_bad_record sets records aside")
    if op.metadata:
        raise CannotEjectError("METADATA columns")
    options = {
        "mode": "FAILFAST",
        "maxFileAge": "36500d",
        "enforceSchema": "false",
        **spark_options(op.options),
    }
    if "max_files_per_epoch" in op.options:
        options["maxFilesPerTrigger"] = str(op.options["max_files_per_epoch"])
    schema = ", ".join(f"{quote(c.name)} {c.type}" for c in op.declared or op.columns)
    given = [f"{name}={string(value)}" for name, value in options.items()]
    columns = [_required(op.uid, column) for column in op.columns]
    return Code(
        f"spark.readStream.name({string(op.read_name)})",
        (
            f".format({string(file_format(op.options))})",
            call(".schema", [string(schema)]),
            call(".options", given),
            f".load(location({string(str(op.options['path']))}))",
            select(columns),
        ),
    )


def _required(source: str, column: job.Column) -> str:
    name = quote(column.name)
    if column.nullable:
        return name
    text = sql_string(f"source {source}: {column.name} is NULL")
    return f"coalesce({name}, CAST(raise_error({text}) AS {column.type})) AS {name}"


def _seed(op: job.Seed, _inputs: Sequence[str], _scope: Scope) -> Code:
    schema = ", ".join(f"{quote(column.name)} {column.type}" for column in op.columns)
    return Code(
        "spark.read",
        (
            call(".schema", [string(schema)]),
            '.options(header=True, mode="FAILFAST", enforceSchema=False)',
            f".csv(location({string(op.path)}))",
        ),
    )


def _values(op: job.Values, _inputs: Sequence[str], _scope: Scope) -> Code:
    rows = ", ".join(f"({', '.join(row)})" for row in op.rows)
    names = ", ".join(quote(column.name) for column in op.columns)
    query = f"SELECT * FROM VALUES {rows} AS `values` ({names})"  # noqa: S608  # of the compiler's own text
    return Code(call("spark.sql", [string(query)]))


def _watermark(op: job.Watermark, _inputs: Sequence[str], _scope: Scope) -> Code:
    if op.idle_timeout_ms is not None:
        raise CannotEjectError("idle_timeout")
    if op.max_late_rows is not None:
        raise CannotEjectError("max_late_rows")
    name = quote(op.column)
    calls: list[str] = []
    if op.on_null == "drop":
        calls.append(where(f"{name} IS NOT NULL"))
    elif op.on_null == "fail":
        text = sql_string(f"source {op.source}: {op.column} is NULL")
        check = f"CASE WHEN {name} IS NULL THEN CAST(raise_error({text}) AS BOOLEAN) ELSE true END"
        calls.append(where(check))
    calls += [f".withWatermark({string(op.column)}, {string(f'{op.delay_ms} milliseconds')})", _BARRIER]
    return steps(*calls)


def _filter(op: job.Filter, _inputs: Sequence[str], _scope: Scope) -> Code:
    return steps(where(op.predicate))


def _project(op: job.Project, _inputs: Sequence[str], _scope: Scope) -> Code:
    return steps(select([alias(item.sql, item.name) for item in op.items]))


def _generate(op: job.Generate, _inputs: Sequence[str], _scope: Scope) -> Code:
    names = ", ".join(quote(name) for name in op.names)
    return steps(select(["*", f"{op.sql} AS ({names})"]))


def _branches(op: job.Branches, _inputs: Sequence[str], _scope: Scope) -> Code:
    columns = [marked(f"f{place}", name, op.event_times.get(name)) for place, name in enumerate(op.names)]
    return steps(select([rows_sql(op)]), call(".select", columns))


def _window(op: job.Window, _inputs: Sequence[str], scope: Scope) -> Code:
    time, zone = quote(op.time_column), sql_string(scope.timezone)
    if op.by_calendar:
        time = f"from_utc_timestamp({time}, {zone})"
    slide = op.size_ms if op.kind == "cumulate" else op.slide_ms
    spans = ", ".join(f"'{ms} milliseconds'" for ms in (op.size_ms, slide, op.offset_ms % slide))
    calls = [select(["*", f"window({time}, {spans}) AS __window"])]
    start, end, dropped = "__window.start", "__window.end", ['"__window"']
    if op.kind == "cumulate":
        step, first = op.slide_ms * 1000, "unix_micros(__window.start)"
        number = f"CAST(floor((unix_micros({time}) - {first}) / {step}) + 1 AS BIGINT)"
        ends = f"sequence({number}, {op.size_ms // op.slide_ms}L)"
        each = f"i -> timestamp_micros({first} + i * {step})"
        calls.append(select(["*", f"explode(transform({ends}, {each})) AS __end"]))
        end, dropped = "__end", ['"__window"', '"__end"']
    if op.by_calendar:
        start, end = (f"to_utc_timestamp({bound}, {zone})" for bound in (start, end))
    bounds = [
        marked(start, op.start, None),
        marked(end, op.end, op.delay_ms),
        marked(f"{end} - {_MILLISECOND}", op.time, op.delay_ms),
    ]
    return steps(*calls, call(".select", ['"*"', *bounds]), f".drop({', '.join(dropped)})")


def _aggregate(op: job.Aggregate, _inputs: Sequence[str], _scope: Scope) -> Code:
    closes = op.event_time_key
    names = [TIME_KEY if key.name == closes else f"__key_{i}" for i, key in enumerate(op.keys)]
    keys = [
        marked(key.sql, name, op.delay_ms if key.name == closes else None)
        for name, key in zip(names, op.keys, strict=True)
    ]
    values = [expr(a.sql) + f".alias({string(f'__agg_{i}')})" for i, a in enumerate(op.aggregates)]
    source = {key.name: name for name, key in zip(names, op.keys, strict=True)}
    source |= {item.name: f"__agg_{i}" for i, item in enumerate(op.aggregates)}
    calls = [
        call(".select", ['"*"', *keys]),
        f".groupBy({', '.join(string(name) for name in names)})",
        call(".agg", values or ['F.count("*").alias("__agg_none")']),
    ]
    if closes is not None:
        calls.append(_BARRIER)
    time = op.window_time.name if op.window_time is not None else None
    shown = [alias(source[name], name) for name in op.output if name != time]
    calls.append(select(shown))
    if op.window_time is not None:
        time_column = marked(op.window_time.sql, op.window_time.name, op.delay_ms)
        calls += [call(".select", ['"*"', time_column]), select([quote(name) for name in op.output])]
    return steps(*calls)


def _session_aggregate(op: job.SessionAggregate, _inputs: Sequence[str], _scope: Scope) -> Code:
    keys = [marked(quote(key.sql), f"__key_{i}", None) for i, key in enumerate(op.keys)]
    # Spark takes no session window as the only key, and folds a constant away.
    keys = keys or ['F.expr("pmod(spark_partition_id(), 1)").alias("__key_all")']
    names = [f"__key_{i}" for i in range(len(op.keys))] or ["__key_all"]
    values = [expr(a.sql) + f".alias({string(f'__agg_{i}')})" for i, a in enumerate(op.aggregates)]
    window = f"F.session_window({string(quote(op.time_column))}, {string(f'{op.gap_ms} milliseconds')})"
    shown = [f'F.col("__key_{i}").alias({string(key.name)})' for i, key in enumerate(op.keys)]
    shown += [f'F.col("__agg_{i}").alias({string(item.name)})' for i, item in enumerate(op.aggregates)]
    for name, sql, delay in (
        (op.start, "__session.start", None),
        (op.end, "__session.end", op.delay_ms),
        (op.time, f"__session.end - {_MILLISECOND}", op.delay_ms),
    ):
        if name is not None:
            shown.append(marked(sql, name, delay))
    return steps(
        call(".select", ['"*"', *keys]),
        call(".groupBy", [f'{window}.alias("__session")', *map(string, names)]),
        call(".agg", values or ['F.count("*").alias("__agg_none")']),
        _BARRIER,
        call(".select", shown),
        select([quote(name) for name in op.output]),
    )


def _distinct(op: job.Distinct, _inputs: Sequence[str], _scope: Scope) -> Code:
    if op.ttl_ms is not None:
        raise CannotEjectError("state_ttl")
    times = {column.name: column.delay_ms for column in op.columns if column.delay_ms is not None}
    first = {name: delay for name, delay in times.items() if name == op.event_time}
    names = ", ".join(string(column.name) for column in op.columns)
    return steps(
        f".transform(with_event_times, {_times(first)})",
        f".dropDuplicates([{names}])",
        f".transform(with_event_times, {_times(times)})",
    )


def _union(_op: job.Union, inputs: Sequence[str], _scope: Scope) -> Code:
    return steps(*(f".union({other})" for other in inputs[1:]))


def _rebalance(op: job.Rebalance, _inputs: Sequence[str], scope: Scope) -> Code:
    given = [str(op.partitions or scope.partitions), *(string(quote(key)) for key in op.keys)]
    return steps(call(".repartition", given))


_SEED_KINDS = {"inner": "inner", "left": "left", "semi": "left_semi", "anti": "left_anti", "cross": "inner"}
_STREAM_KINDS = {
    "inner": "inner",
    "left": "left_outer",
    "right": "right_outer",
    "full": "full_outer",
    "semi": "left_semi",
    "anti": "left_outer",
}


def _seed_join(op: job.SeedJoin, inputs: Sequence[str], _scope: Scope) -> Code:
    condition = expr(op.condition) if op.condition is not None else "F.lit(True)"
    given = [f"F.broadcast({inputs[1]})", condition, string(_SEED_KINDS[op.kind])]
    return steps(call(".join", given))


def _stream_join(
    inputs: Sequence[str],
    condition: str,
    kind: str,
    times: tuple[EventTime | None, EventTime | None],
    output: Sequence[OutputColumn],
) -> Code:
    delays = [{time.column: time.delay_ms} if time is not None else {} for time in times]
    right = f"with_event_times({inputs[1]}, {_times(delays[1])})"
    calls = [f".transform(with_event_times, {_times(delays[0])})"]
    if kind == "anti":
        right += '.withColumn("__matched", F.lit(True))'
    calls.append(call(".join", [right, expr(condition), string(_STREAM_KINDS[kind])]))
    if kind == "anti":
        calls.append('.where("__matched IS NULL")')
    calls.append(select([quote(column.name) for column in output]))
    of_output = {column.name: column.delay_ms for column in output if column.delay_ms is not None}
    return steps(*calls, f".transform(with_event_times, {_times(of_output)})")


def _interval_join(op: job.IntervalJoin, inputs: Sequence[str], _scope: Scope) -> Code:
    return _stream_join(inputs, op.condition, op.kind, (op.left_time, op.right_time), op.output)


def _window_join(op: job.WindowJoin, inputs: Sequence[str], _scope: Scope) -> Code:
    return _stream_join(inputs, op.condition, op.kind, (op.left_end, op.right_end), op.output)


def _regular_join(op: job.RegularJoin, inputs: Sequence[str], _scope: Scope) -> Code:
    if op.state_ttl_ms is not None:
        raise CannotEjectError("state_ttl")
    return _stream_join(inputs, op.condition, "inner", (None, None), op.output)


EMITTERS: dict[type, Callable[..., Code]] = {
    job.Scan: _scan,
    job.Seed: _seed,
    job.Values: _values,
    job.Watermark: _watermark,
    job.Filter: _filter,
    job.Project: _project,
    job.Generate: _generate,
    job.Window: _window,
    job.Aggregate: _aggregate,
    job.Panes: panes,
    FusedAggregate: fused,
    job.SessionAggregate: _session_aggregate,
    job.Distinct: _distinct,
    job.Union: _union,
    job.Rebalance: _rebalance,
    job.Branches: _branches,
    job.SeedJoin: _seed_join,
    job.IntervalJoin: _interval_join,
    job.WindowJoin: _window_join,
    job.RegularJoin: _regular_join,
}


def emit(op: job.Operator, inputs: Sequence[str], scope: Scope) -> Code:
    """An operator over variables.

    Raises:
        CannotEjectError: it has no form as plain PySpark.
    """
    emitter = EMITTERS.get(type(op))
    if emitter is None:
        if isinstance(op, job.LateRows):
            raise CannotEjectError("headrace's runtime knows what an epoch has read")
        raise CannotEjectError("its state is kept by headrace's runtime")
    return emitter(op, inputs, scope)

"""Unit tests of aggregate functions: the rows of a group in, its value out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from compiler.diagnostics.diagnostic import DiagnosticError, Reporter
from compiler.diagnostics.source import SourceFile
from compiler.jobplan.model import argument_field
from compiler.plan import types as t
from compiler.syntax.python_functions import AggregateFunction, read_python
from runtime.functions.aggregates import over_groups

_ARROW: dict[t.DataType, pa.DataType] = {
    t.BOOLEAN: pa.bool_(),
    t.TINYINT: pa.int8(),
    t.SMALLINT: pa.int16(),
    t.INT: pa.int32(),
    t.BIGINT: pa.int64(),
    t.FLOAT: pa.float32(),
    t.DOUBLE: pa.float64(),
    t.STRING: pa.string(),
    t.BINARY: pa.binary(),
    t.DATE: pa.date32(),
}


def aggregate(
    function: Callable[..., Any], rows: Iterable[Mapping[str, Any]], *, time: str | None = None
) -> Any:
    """Calls a function under `@headrace.aggregate` as a query does for one group, without Spark.

        rows = [{"at": noon, "price": 2.0, "qty": 3}, {"at": before, "price": 1.0, "qty": 1}]
        assert headrace.testing.aggregate(weighted, rows, time="at") == 1.75

    Args:
        function: its arguments take the columns of their names, with the types that it declares.
        rows: in any order; arguments whose column they lack are left to their defaults.
        time: the column that is the rows' event time. Without it they are sorted by their values alone.

    Returns:
        The value, of the declared type; None for NULL. Times are aware, in UTC.

    Raises:
        DiagnosticError: the function cannot be read (HR357).
        FunctionFailure: it failed, or gave a value of another type.
    """
    declared = _declared(function)
    rows = list(rows)
    parameters = [p for p in declared.parameters if not p.optional or all(p.name in row for row in rows)]
    names = [p.name for p in parameters]
    ordered = sorted(
        rows, key=lambda row: [_place(row[name]) for name in (*([time] if time else []), *names)]
    )
    columns = [
        pa.array([_aware(row[p.name]) for row in ordered], _arrow(p.type)) for p in parameters if p.type
    ]
    structs = pa.StructArray.from_arrays(columns, [argument_field(number) for number in range(len(columns))])
    groups = pa.ListArray.from_arrays([0, len(ordered)], structs)
    name = f"{declared.module}.{declared.name}"
    (found,) = over_groups(
        function, name, groups, _arrow(declared.returns), vectorized=declared.vectorized
    ).to_pylist()
    return found


def _declared(function: Callable[..., Any]) -> AggregateFunction:
    path = Path(inspect.getsourcefile(function) or "")
    reporter = Reporter()
    file = SourceFile(f"functions/{path.name}", path.read_text(encoding="utf-8"))
    read = read_python([file], reporter)
    found = next((f for f in read.functions if f.name == function.__name__), None)
    if isinstance(found, AggregateFunction):
        return found
    if function.__name__.lower() in read.broken:
        raise DiagnosticError(*reporter.all())
    raise TypeError(f"`{function.__name__}` is no function under @headrace.aggregate")


def _arrow(type_: t.DataType) -> pa.DataType:
    match type_:
        case t.Decimal():
            return pa.decimal128(type_.precision, type_.scale)
        case t.Timestamp():
            return pa.timestamp("us", "UTC")
        case t.Interval():
            return pa.duration("us")
        case t.Array():
            return pa.list_(_arrow(type_.element))
        case t.Map():
            return pa.map_(_arrow(type_.key), _arrow(type_.value))
        case t.Struct():
            return pa.struct([(field.name, _arrow(field.type)) for field in type_.fields])
    return _ARROW[type_]


def _place(value: Any) -> tuple[int, Any]:
    """Where a value is sorted: NULL first, NaN last."""
    if value is None:
        return 0, 0
    is_nan = isinstance(value, float) and value != value  # noqa: PLR0124  # how NaN is told
    return (2, 0) if is_nan else (1, _aware(value))


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value

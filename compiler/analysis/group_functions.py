"""Python aggregate functions, as state that Spark can keep and a call over it.

Spark 4.2 refuses aggregates in Python on a stream. So the groups collect the arguments, and the function is
called over each group that is emitted. What is state then are the rows' arguments alone: a function that is
mended goes on with the groups that are open.
"""

from __future__ import annotations

from compiler.analysis.aggregates import row_time
from compiler.analysis.user_functions import GroupFunction, aggregate_function
from compiler.jobplan.model import argument_field
from compiler.plan import types as t
from compiler.plan.expr import Call, Expr, Literal
from compiler.plan.expr_sql import quote_string
from compiler.plan.schema import Schema


def group_function(expr: Expr) -> GroupFunction | None:
    """The Python function of an aggregate, if it is one."""
    return aggregate_function(expr.name) if isinstance(expr, Call) and expr.aggregate else None


def group_rows(call: Call, schema: Schema) -> Expr:
    """The arguments of a group's rows, as an aggregate.

    They are sorted by event time, then by value: the order in which rows arrive after a shuffle is another in
    a replay.

    Args:
        call: the aggregate.
        schema: columns of the rows that are grouped.
    """
    time = row_time(schema)
    fields: list[tuple[str, Expr]] = []
    if time is not None:
        fields.append(("time", time))
    fields += [(argument_field(number), arg) for number, arg in enumerate(call.args)]
    struct = t.Struct(tuple(t.StructField(name, value.type, value.nullable) for name, value in fields))
    parts = [part for name, value in fields for part in (_text(name), value)]
    row = Call(struct, False, "named_struct", tuple(parts))
    rows = t.Array(struct, False)
    collected = Call(rows, False, "collect_list", (row,), where=call.where, aggregate=True)
    return Call(rows, False, "sort_array", (collected,))


def over_rows(function: GroupFunction, call: Call, rows: Expr) -> Expr:
    """The call of the function over what `group_rows` gave."""
    return Call(
        function.returns,
        True,
        function.sql_name,
        (rows,),
        deterministic=call.deterministic,
        place=call.place,
    )


def _text(value: str) -> Literal:
    return Literal(t.STRING, False, quote_string(value), value)

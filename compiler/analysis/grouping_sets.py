"""GROUPING SETS: each row is copied for each set, with NULL in the keys that the set leaves out.

Spark's own form has the mark of the event time on no key of the copies, so its groups would never close.
Here the keys of all sets, the window's bounds among them, stay plain columns, and the others are hidden
ones; aggregates go on reading the columns themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.analysis.group_keys import GroupKeys
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Call, Cast, Column, Expr, Literal, Op
from compiler.plan.expr_sql import quote_string
from compiler.plan.node import Node
from compiler.plan.operators import Generate
from compiler.plan.operators.project import NamedExpr, project_field

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder

_ID = "__headrace_grouping_id"
_PLACE = "__headrace_grouping_set"
_KEY = "__headrace_key_"


@frozen(slots=True)
class Expanded:
    """Rows copied for each grouping set.

    Args:
        node: gives the copies.
        keys: what they are grouped by: those of all sets, those that some leave out, and the set.
        of: for each key of the user's, its column in the result of the grouping.
    """

    node: Node
    keys: list[NamedExpr]
    of: list[Column]


def expand(builder: Builder, node: Node, group: GroupKeys, span: Span) -> Expanded:
    """Copies the rows for each set; without grouping sets nothing is added.

    Raises:
        DiagnosticError: a set without the window never closes (HR320).
    """
    if group.is_plain:
        keys = list(group.keys)
        return Expanded(node, keys, [Column(k.expr.type, k.expr.nullable, k.name) for k in keys])
    always = frozenset.intersection(*group.sets)
    if node.is_stream:
        _check_window(node, group, always, span)
    left_out = [place for place in range(len(group.keys)) if place not in always]
    copies = [_copy(group, left_out, number) for number in range(len(group.sets))]
    names = [*(f"{_KEY}{place}" for place in left_out), _ID, _PLACE]
    is_doubled = len(set(group.sets)) < len(group.sets)
    if not is_doubled:
        names.pop()
        copies = [copy[:-1] for copy in copies]
    made = Generate(builder.uid("grouping_sets", span), node, _inline(names, copies), tuple(names))
    of: list[Column] = []
    grouped: list[NamedExpr] = []
    for place, key in enumerate(group.keys):
        expr = key.expr if place in always else _hidden(made, f"{_KEY}{place}")
        grouped.append(NamedExpr(key.name, expr))
        of.append(Column(expr.type, expr.nullable, key.name))
    # Two sets that are alike give each group twice, so it takes the set's place to tell them apart.
    grouped += [NamedExpr(name, _hidden(made, name)) for name in (_ID, _PLACE) if name in names]
    return Expanded(made, grouped, of)


def grouping(call: Call, group: GroupKeys) -> Expr | None:
    """GROUPING(key) and GROUPING_ID(key, …) over the result of the grouping; None if one is no key.

    A bit is 1 where the set leaves the key out. As in Spark, GROUPING_ID() has one for each key in the order
    of GROUP BY; as in Flink, it can be given the keys.
    """
    places = [_place(group, arg) for arg in call.args] or list(range(len(group.keys)))
    bits: Expr = Literal(t.BIGINT, False, "0L", 0)
    if not group.is_plain:
        known = Column(t.BIGINT, False, _ID)
        if None in places:
            return None
        if places == list(range(len(group.keys))):
            bits = known
        else:
            for place in places:
                bit = _bit(known, len(group.keys) - 1 - (place or 0))
                bits = bit if place == places[0] else _plus_bit(bits, bit)
    elif None in places:
        return None
    return Cast(t.TINYINT, False, bits) if call.name == "grouping" else bits


def _place(group: GroupKeys, expr: Expr) -> int | None:
    return next((place for place, key in enumerate(group.keys) if key.expr == expr), None)


def _bit(known: Expr, number: int) -> Expr:
    shifted = Call(t.BIGINT, False, "shiftright", (known, Literal(t.INT, False, str(number), number)))
    return Op(t.BIGINT, False, "&", (shifted, Literal(t.BIGINT, False, "1L", 1)))


def _plus_bit(bits: Expr, bit: Expr) -> Expr:
    doubled = Op(t.BIGINT, False, "*", (bits, Literal(t.BIGINT, False, "2L", 2)))
    return Op(t.BIGINT, False, "+", (doubled, bit))


def _check_window(node: Node, group: GroupKeys, always: frozenset[int], span: Span) -> None:
    """A set without an event time among its keys would never close, where others do."""
    marked = [place for place, key in enumerate(group.keys) if project_field(key, node.schema).is_event_time]
    if always.intersection(marked):
        return
    if not marked:
        raise DiagnosticError(
            Diagnostic(
                codes.GROUPING_SETS,
                "grouping sets of a stream need a window",
                span,
                cause="a group without one changes for ever, and its keys do not tell of which set it is",
                fix="group by a window, or write a GROUP BY of its own for each set and unite them",
            )
        )
    name = group.keys[marked[0]].name
    raise DiagnosticError(
        Diagnostic(
            codes.GROUPING_SETS,
            f"a grouping set leaves out `{name}`, so its groups would never close",
            span,
            cause="a group of a stream ends with its window, so each set must have the window's bounds",
            fix="write them before the sets: GROUP BY window_start, window_end, ROLLUP (…)",
        )
    )


def _copy(group: GroupKeys, left_out: Sequence[int], number: int) -> list[Expr]:
    """The hidden columns of a row's copy for one set."""
    chosen = group.sets[number]
    last = len(group.keys) - 1
    bits = sum(1 << (last - place) for place in range(len(group.keys)) if place not in chosen)
    values: list[Expr] = []
    for place in left_out:
        expr = group.keys[place].expr
        missing = Cast(expr.type, True, Literal(t.NULL, True, "NULL", None))
        values.append(expr if place in chosen else missing)
    return [*values, Literal(t.BIGINT, False, f"{bits}L", bits), Literal(t.INT, False, str(number), number)]


def _inline(names: Sequence[str], copies: Sequence[Sequence[Expr]]) -> Call:
    columns = list(zip(*copies, strict=True))
    fields = tuple(
        t.StructField(name, values[0].type, any(value.nullable for value in values))
        for name, values in zip(names, columns, strict=True)
    )
    row = t.Struct(fields)
    structs = tuple(Call(row, False, "named_struct", _named(names, copy)) for copy in copies)
    array = Call(t.Array(row, False), False, "array", structs)
    return Call(row, False, "inline", (array,))


def _named(names: Sequence[str], values: Sequence[Expr]) -> tuple[Expr, ...]:
    pairs = zip(names, values, strict=True)
    return tuple(
        part for name, value in pairs for part in (Literal(t.STRING, False, quote_string(name), name), value)
    )


def _hidden(node: Node, name: str) -> Column:
    field = node.schema.get(name)
    assert field is not None
    return Column(field.type, field.nullable, name)

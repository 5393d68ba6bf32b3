"""UNNEST, LATERAL and explode(): puts a generator on the rows so far; both front ends come here."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.analysis.builder import Builder, count, identity
from compiler.analysis.scope import Part, Visible
from compiler.analysis.typing import known
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.functions import FUNCTIONS
from compiler.plan import types as t
from compiler.plan.expr import Call, Column, Expr, FieldAccess, Literal, Op
from compiler.plan.node import Node
from compiler.plan.operators import Generate
from compiler.plan.operators.project import NamedExpr

Generated = tuple[Node, Part]
"""The rows that were made, and the names of the new columns."""

_POSITION = "__pos"
_ELEMENT = "__element"


def outer_form(function: str) -> str:
    """The generator that gives a row of NULLs where the other gives none; itself if it always gives one."""
    return f"{function}_outer" if f"{function}_outer" in FUNCTIONS else function


def generate(
    builder: Builder, node: Node, call: Call, names: Sequence[str], alias: str | None, span: Span
) -> Generated:
    """Every row with the rows that a generator gives of it.

    Args:
        builder: makes the operators.
        node: the rows.
        call: the generator, over the rows' columns.
        names: of its columns; none to keep its own.
        alias: under which its columns can be named.
        span: where it is written.

    Raises:
        DiagnosticError: another number of names (HR223), or rows that are changes of a table (HR308).
    """
    found = call.type
    assert isinstance(found, t.Struct)
    own = [field.name for field in found.fields]
    shown = _checked_names(names, own, call.name, span)
    _check_rows(node, call.name, span)
    made = Generate(builder.uid("generate", span), node, call, _apart(node, shown, alias))
    return made, _part(made, made.names, shown, alias)


def unnest(
    builder: Builder,
    node: Node,
    value: Expr,
    names: Sequence[str],
    alias: str | None,
    span: Span,
    *,
    outer: bool,
    ordinality: bool,
) -> Generated:
    """Every row with every element of an array, or every entry of a map.

    The elements of an ARRAY of STRUCT are laid out in columns. `ordinality` adds their number, from 1, as
    the last column; `outer` keeps rows that have no element, with NULLs.

    Raises:
        DiagnosticError: the value is neither an array nor a map (HR206), or as for `generate`.
    """
    if not isinstance(value.type, (t.Array, t.Map)):
        message = f"UNNEST takes an ARRAY or a MAP apart, not {value.type}"
        raise DiagnosticError(Diagnostic(codes.TYPE_MISMATCH, message, span))
    of_structs = isinstance(value.type, t.Array) and isinstance(value.type.element, t.Struct)
    if not ordinality:
        call = _call("inline" if of_structs else "explode", value, outer)
        return generate(builder, node, call, names, alias, span)
    call = _call("posexplode", value, outer)
    numbered, part = generate(builder, node, call, _internal(call), alias, span)
    position, *elements = (_column(visible) for visible in part.columns)
    if of_structs:
        elements = _fields(elements[0])
    own = [element.field if isinstance(element, FieldAccess) else "col" for element in elements]
    own = ["key", "value"] if isinstance(value.type, t.Map) else own
    shown = _checked_names(names, [*own, "ordinality"], "UNNEST", span)
    # Spark counts from 0.
    number = Op(t.INT, position.nullable, "+", (position, Literal(t.INT, False, "1", 1)))
    taken = _apart(node, shown, alias)
    items = [NamedExpr(name, expr) for name, expr in zip(taken, [*elements, number], strict=True)]
    result = builder.project(numbered, [*identity(node.schema), *items], span)
    return result, _part(result, taken, shown, alias)


def _call(function: str, value: Expr, outer: bool) -> Call:
    found = FUNCTIONS[outer_form(function) if outer else function]
    return Call(found.returns([known(value)]), True, found.name, (value,))


def _internal(call: Call) -> list[str]:
    assert isinstance(call.type, t.Struct)
    return [_POSITION, *(f"{_ELEMENT}{i}" for i in range(1, len(call.type.fields)))]


def _fields(struct: Expr) -> list[Expr]:
    assert isinstance(struct.type, t.Struct)
    return [FieldAccess(f.type, struct.nullable or f.nullable, struct, f.name) for f in struct.type.fields]


def _column(visible: Visible) -> Expr:
    return Column(visible.field.type, visible.field.nullable, visible.field.name)


def _checked_names(names: Sequence[str], own: Sequence[str], what: str, span: Span) -> Sequence[str]:
    if names and len(names) != len(own):
        message = f"`{what}` gives {count(len(own), 'column')}, and {len(names)} are named"
        cause = f"the columns are {', '.join(own)}"
        raise DiagnosticError(Diagnostic(codes.COLUMN_NAMES, message, span, cause=cause))
    shown = names or own
    twice = next((name for i, name in enumerate(shown) if name.lower() in _lower(shown[:i])), None)
    if twice is not None:
        message = f"two columns of `{what}` are named `{twice}`"
        fix = "name them: AS t (a, b)"
        raise DiagnosticError(Diagnostic(codes.DUPLICATE_COLUMN, message, span, fix=fix))
    return shown


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


def _check_rows(node: Node, what: str, span: Span) -> None:
    if node.changelog.is_append:
        return
    raise DiagnosticError(
        Diagnostic(
            codes.NOT_YET_STREAMING,
            f"`{what}` over rows that are updated has no streaming form",
            span,
            cause="when a row is replaced, the rows that were made of it before would have to be taken back",
            fix="take the array apart before the aggregation or deduplication",
        )
    )


def _apart(node: Node, names: Sequence[str], alias: str | None) -> tuple[str, ...]:
    """The names, changed where the rows have such a column; users go on naming them as they wrote."""
    taken = {field.name.lower() for field in node.schema}
    found: list[str] = []
    for name in names:
        free = name
        while free.lower() in taken:
            free = f"{alias or 'made'}__{free}"
        taken.add(free.lower())
        found.append(free)
    return tuple(found)


def _part(node: Node, names: Sequence[str], shown: Sequence[str], alias: str | None) -> Part:
    fields = [node.schema.get(name) for name in names]
    visible = [Visible(name, field) for name, field in zip(shown, fields, strict=True) if field is not None]
    return Part(alias, tuple(visible))

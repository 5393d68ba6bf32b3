"""`FROM (VALUES (1, 'a'), (2, 'b')) AS v (x, y)`: a small table, written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.builder import cast_to
from compiler.analysis.constants import check_alternatives
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.scope import Scope
from compiler.diagnostics import codes
from compiler.plan import types as t
from compiler.plan.expr import Expr
from compiler.plan.node import Node
from compiler.plan.operators import Values
from compiler.plan.schema import Field, Schema

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


def bind_values(binder: QueryBinder, tree: exp.Values) -> Node:
    """Binds rows of constants; a column has the common type of its values.

    Raises:
        DiagnosticError: a value that is no constant, rows of different lengths, or types that do not meet.
    """
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in tree.expressions]
    for row, written in zip(rows, tree.expressions, strict=True):
        if len(row) != len(rows[0]):
            message = f"this row has {len(row)} values, the first {len(rows[0])}"
            raise binder.error(codes.COLUMN_NAMES, message, written)
    expressions = binder.expressions(Scope(()), "VALUES")
    bound = [[expressions.bind(value) for value in row] for row in rows]
    alias = tree.args.get("alias")
    names = [name.name for name in alias.args.get("columns") or ()] if alias is not None else []
    if names and len(names) != len(rows[0]):
        message = f"VALUES gives {len(rows[0])} columns, and {len(names)} are named"
        raise binder.error(codes.COLUMN_NAMES, message, tree)
    names = names or [f"col{index}" for index in range(1, len(rows[0]) + 1)]
    fields = tuple(
        _column(expressions, name, [row[index] for row in bound], [row[index] for row in rows])
        for index, name in enumerate(names)
    )
    cast = tuple(tuple(cast_to(value, f.type) for value, f in zip(row, fields, strict=True)) for row in bound)
    return Values(binder.builder.uid("values", binder.span(tree)), Schema(fields), cast)


def _column(binder: ExpressionBinder, name: str, values: list[Expr], trees: list[exp.Expr]) -> Field:
    found: t.DataType = t.NULL
    for value, tree in zip(values, trees, strict=True):
        wider = t.common_type(found, value.type)
        if wider is None:
            message = f"column `{name}` holds {found} and {value.type}, which have no common type"
            raise binder.error(codes.TYPE_MISMATCH, message, tree)
        found = wider
    check_alternatives(binder, zip(values, trees, strict=True), found)
    return Field(name, found, any(value.nullable for value in values))

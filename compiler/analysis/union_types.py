"""The types of a union's columns, which its inputs have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.analysis.certain import conversion_problem
from compiler.analysis.fits import may_be_none
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from compiler.diagnostics.source import Span
from compiler.plan import types as t
from compiler.plan.expr import Cast, Expr, Literal
from compiler.plan.node import Node
from compiler.plan.operators import Project

Place = Callable[[int, int], Span]


def union_types(parts: Sequence[Node], spans: Sequence[Span], place: Place) -> list[t.DataType]:
    """The type of each column.

    Args:
        parts: inputs with the same number of columns.
        spans: where each is written.
        place: where a column of an input is written, by the numbers of both.

    Raises:
        DiagnosticError: types without a common one, or texts that would be read as something else (HR213).
    """
    return [_common(parts, spans, place, index) for index in range(len(parts[0].schema))]


def union_error(
    message: str, span: Span, first: Span, cause: str | None = None, fix: str | None = None
) -> DiagnosticError:
    """HR213, ready to be raised."""
    return DiagnosticError(
        Diagnostic(
            codes.UNION_COLUMNS,
            message,
            span,
            cause=cause or "UNION ALL matches columns by position",
            fix=fix,
            related=(Label(first, "the first input"),),
        )
    )


def _common(parts: Sequence[Node], spans: Sequence[Span], place: Place, index: int) -> t.DataType:
    fields = [part.schema.fields[index] for part in parts]
    first, found = fields[0], fields[0].type
    for number, field in enumerate(fields[1:], 1):
        common = t.common_type(found, field.type)
        reads = common is not None and any(may_be_none(a, common) for a in (found, field.type))
        if common is None or (reads and not _are_read(parts, index, common)):
            of_first = f"{found} in the first input (`{first.name}`)"
            raise union_error(
                f"column {index + 1} is {field.type} here (`{field.name}`), and {of_first}",
                place(number, index),
                spans[0],
                *(_cause_and_fix(found, field.type, common) if common is not None else ()),
            )
        found = common
    return found


def _cause_and_fix(first: t.DataType, second: t.DataType, common: t.DataType) -> tuple[str, str]:
    text = second if may_be_none(second, common) else first
    return (
        f"a text would be read as {common}, and the first that is none would fail the query",
        f"CAST the other column AS {text}, or TRY_CAST this text AS {common}, which is NULL where it is none"
        if text is second
        else f"CAST this column AS {text}, or TRY_CAST the text AS {common}, which is NULL where it is none",
    )


def _are_read(parts: Sequence[Node], index: int, target: t.DataType) -> bool:
    """Whether all texts of a column are NULL, or constants that can be read."""
    for part in parts:
        expr = part.items[index].expr if isinstance(part, Project) else None
        if may_be_none(part.schema.fields[index].type, target) and not _is_read(expr, target):
            return False
    return True


def _is_read(expr: Expr | None, target: t.DataType) -> bool:
    if isinstance(expr, Cast) and isinstance(expr.arg, Literal) and expr.arg.type == t.NULL:
        return True
    return isinstance(expr, Literal) and conversion_problem(expr, target) is None

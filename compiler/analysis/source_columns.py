"""Columns of a source that its format cannot have, or that cannot be in its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.analysis.distinct import incomparable
from compiler.connectors.resolve import Resolved
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan import types as t
from compiler.plan.schema import Field
from compiler.syntax.declarations import SourceDecl


def column_problems(source: SourceDecl, resolved: Resolved, record: Sequence[Field]) -> Iterator[Diagnostic]:
    """HR232 for what a record cannot hold, HR206 for a key whose values cannot be compared."""
    fields = {field.name.lower(): field for field in record}
    connector = resolved.connector
    # What messages hold is told where their key and value are taken apart.
    if not connector.keyed_messages and resolved.options.get("format") == "csv":
        for column in source.columns:
            field = fields.get(column.name.value.lower())
            if field is not None and not t.is_atomic(field.type):
                yield Diagnostic(
                    codes.FORMAT_COLUMNS,
                    f"format `csv` of source `{source.name.value}` cannot hold column `{field.name}`",
                    column.name.span,
                    cause=f"CSV has no form for {field.type}",
                    fix="use the format json, or declare a STRING and take it apart: split(…), from_json(…)",
                )
    for name in source.primary_key:
        field = fields.get(name.value.lower())
        problem = incomparable(field.type) if field is not None else None
        if field is not None and problem is not None:
            message = f"column `{field.name}`, {field.type}, cannot be in a primary key"
            yield Diagnostic(codes.TYPE_MISMATCH, message, name.span, cause=problem)

"""Columns that a sink's format cannot hold."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.analysis.messages import has_csv_form
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.databases import is_of_jdbc
from compiler.plan import types as t
from compiler.plan.logical import BoundSink, LogicalPlan
from compiler.plan.schema import Field

# delta-spark 4.4.0 refuses them unless the table maps columns: DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES.
_NOT_IN_DELTA = frozenset(" ,;{}()\n\t=")


def sink_columns(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR217 for names that Delta, and types that CSV or a database cannot have."""
    for sink in plan.sinks:
        for field in sink.node.schema:
            problem = _problem(sink, field)
            if problem is not None:
                cause, fix = problem
                yield Diagnostic(
                    codes.SINK_SCHEMA,
                    f"sink `{sink.name}` cannot hold column `{field.name}`",
                    sink.span,
                    cause=cause,
                    fix=fix,
                )


def _problem(sink: BoundSink, field: Field) -> tuple[str, str] | None:
    if sink.connector.name == "delta" and _NOT_IN_DELTA & set(field.name):
        return "Delta takes no spaces and none of ,;{}()= in a name", "rename it with AS"
    # What messages hold is told where their key and value are taken apart (HR232).
    if (
        not sink.connector.keyed_messages
        and dict(sink.options).get("format") == "csv"
        and not has_csv_form(field.type)
    ):
        return f"CSV has no form for {field.type}", f"write to_json({field.name}), or use the format json"
    if sink.connector.name == "jdbc":
        elsewhere = is_of_jdbc(dict(sink.options))
        if field.type in (t.NULL, t.CALENDAR_INTERVAL, t.YEAR_MONTH, *([t.DAY_TIME] if elsewhere else [])):
            database = "JDBC" if elsewhere else "PostgreSQL"
            return f"{database} has no type for {field.type}", f"write CAST({field.name} AS STRING)"
    return None

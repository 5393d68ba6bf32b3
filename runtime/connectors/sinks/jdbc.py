"""Databases, by how their URLs begin."""

from __future__ import annotations

from compiler.jobplan.databases import is_of_jdbc
from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, Writer


def jdbc_writer(sink: Sink, ctx: SinkContext) -> Writer:
    """A writer for the database of the option `url`.

    Raises:
        DiagnosticError: it cannot be understood (HR104).
    """
    # Here, since only a run that writes to a database needs its client.
    if is_of_jdbc(sink.options):
        from runtime.connectors.sinks.database import DatabaseWriter

        return DatabaseWriter(sink, ctx)
    from runtime.connectors.sinks.postgres import PostgresWriter

    return PostgresWriter(sink, ctx)

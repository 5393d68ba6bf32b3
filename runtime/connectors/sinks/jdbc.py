"""Databases, by the scheme of their URL."""

from __future__ import annotations

from compiler.jobplan.model import Sink
from runtime.connectors.sinks.base import SinkContext, Writer


def jdbc_writer(sink: Sink, ctx: SinkContext) -> Writer:
    """A writer for the database of the option `url`.

    Raises:
        DiagnosticError: it is none that headrace writes to (HR104).
    """
    # Here, since only a run that writes to a database needs its client.
    from runtime.connectors.sinks.postgres import PostgresWriter

    return PostgresWriter(sink, ctx)

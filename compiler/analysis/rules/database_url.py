"""URLs of databases that can be written to."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.plan.logical import LogicalPlan

_KNOWN = ("jdbc:postgresql:", "postgresql:", "postgres:")


def database_url(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR104 for a URL of another database; one that begins with a variable is judged when it runs."""
    for sink in plan.sinks:
        url = str(dict(sink.options).get("url", ""))
        if sink.connector.name == "jdbc" and not url.startswith((*_KNOWN, "${env:")):
            yield Diagnostic(
                codes.WRONG_VALUE,
                f"sink `{sink.name}` cannot write to `{url.partition('//')[0]}`",
                sink.places.get("url", sink.span),
                cause="rows and the ledger of epochs share a transaction, which is built for PostgreSQL only",
                fix="write url = 'jdbc:postgresql://host:5432/database'",
            )

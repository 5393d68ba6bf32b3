"""URLs of databases that can be written to and read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.source import Span
from compiler.plan.logical import LogicalPlan
from compiler.plan.node import walk
from compiler.plan.operators import LookupTable, Scan

_KNOWN = ("jdbc:postgresql:", "postgresql:", "postgres:")


def database_url(plan: LogicalPlan) -> Iterator[Diagnostic]:
    """HR104 for a URL of another database; one that begins with a variable is judged when it runs."""
    for sink in plan.sinks:
        if sink.connector.name == "jdbc":
            cause = "rows and the ledger of epochs share a transaction, which is built for PostgreSQL only"
            yield from _judge(
                dict(sink.options),
                f"sink `{sink.name}` cannot write to",
                cause,
                sink.places.get("url", sink.span),
            )
    for node in walk(*(sink.node for sink in plan.sinks)):
        if isinstance(node, (LookupTable, Scan)) and node.connector == "jdbc":
            cause = "tables are read through PostgreSQL's own client"
            yield from _judge(
                dict(node.options), f"source `{node.uid}` cannot read", cause, plan.places.get(node.uid)
            )


def _judge(
    options: Mapping[str, object], problem: str, cause: str, place: Span | None
) -> Iterator[Diagnostic]:
    url = str(options.get("url", ""))
    if not url.startswith((*_KNOWN, "${env:")):
        yield Diagnostic(
            codes.WRONG_VALUE,
            f"{problem} `{url.partition('//')[0]}`",
            place,
            cause=cause,
            fix="write url = 'jdbc:postgresql://host:5432/database'",
        )

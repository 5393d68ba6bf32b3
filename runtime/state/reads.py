"""What a query's stream reads, in the order by which Spark knows how far each read has come."""

from __future__ import annotations

from compiler.jobplan.model import Query, Scan, Watermark


def stream_reads(query: Query) -> list[tuple[str, Scan | None]]:
    """The reads of a query's stream with their names, as the plan has them from left to right.

    A source with an idle timeout has one more: that of the times which move it on (`runtime.spark.control`).
    It has no scan.
    """
    operators = {op.id: op for op in query.operators}
    found: list[tuple[str, Scan | None]] = []

    def visit(identity: str) -> None:
        op = operators[identity]
        if isinstance(op, Scan):
            found.append((op.read_name, op))
        for below in op.inputs:
            visit(below)
        if isinstance(op, Watermark) and op.idle_timeout_ms is not None:
            found.append((control_name(op.source), None))

    visit(query.trunk)
    return found


def control_name(source: str) -> str:
    """The name of the read of the times that move a source on.

    A read's name may hold ASCII letters, digits and underscores only.
    """
    ascii_only = (c if c.isascii() and (c.isalnum() or c == "_") else f"_x{ord(c):x}_" for c in source)
    return f"{''.join(ascii_only)}_idle"


def read_names(query: Query) -> tuple[str, ...]:
    """The names of `stream_reads`."""
    return tuple(name for name, _ in stream_reads(query))

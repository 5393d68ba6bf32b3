"""What is said of a database's table that does not suit its sink."""

from __future__ import annotations

from compiler.diagnostics.codes import TABLE_MISMATCH
from compiler.diagnostics.diagnostic import Diagnostic


def missing(sink: str, table: str, statement: str) -> Diagnostic:
    """HR417 for a table that is not there, or that the login may not see; `statement` would make it."""
    return Diagnostic(
        TABLE_MISMATCH,
        f"sink {sink} writes to table {table}, which does not exist or cannot be read",
        fix=f"set create_table = true, or make it: {statement}",
    )


def mismatch(sink: str, table: str, has: str, cause: str, fix: str) -> Diagnostic:
    """HR417 for a table that has something which the sink cannot write to."""
    return Diagnostic(TABLE_MISMATCH, f"table {table} of sink {sink} has {has}", cause=cause, fix=fix)

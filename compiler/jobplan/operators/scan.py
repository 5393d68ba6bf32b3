"""Reading a source."""

from __future__ import annotations

from compiler.jobplan.operators.base import Column, JobOperator, Options


class Scan(JobOperator, frozen=True, tag="scan"):
    """Reads a source as a stream. `read_name` names the read in the checkpoint; it never changes."""

    id: str
    uid: str
    read_name: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    inputs: tuple[str, ...] = ()

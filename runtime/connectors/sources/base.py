"""What every source offers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame

from compiler.diagnostics.diagnostic import Diagnostic
from compiler.jobplan.model import Scan
from runtime.spark.context import Context, ddl_of


class Source(Protocol):
    """A connector that reads."""

    def check(self, scan: Scan, project_dir: Path) -> list[Diagnostic]:
        """What stands in the way of a run and can be seen without a session."""
        ...

    def check_log(self, scan: Scan, log: Path, done: str | None) -> list[Diagnostic]:
        """What the source's own log in the checkpoint says against its input as it is now.

        Args:
            scan: the source, with its options resolved.
            log: the log's folder.
            done: the offset up to which epochs that are done have read, as the source wrote it; None if
                there is none.
        """
        ...

    def read(self, scan: Scan, ctx: Context) -> DataFrame:
        """The stream, with at least the declared columns. Its read name must be `scan.read_name`.

        Metadata columns have the connector's own types; they are cast to the declared ones later.
        If `scan.sequence` asks for it and the source knows an order, each row says when it came
        (`runtime.connectors.sources.arrival`).
        """
        ...


@dataclass(frozen=True, slots=True)
class Reread:
    """What an epoch has read of a source.

    Args:
        before: the offset at which the epoch before it ended, as the source wrote it; None if there was none.
        after: the offset at which it ends itself.
        log: the folder of the source's own log in the checkpoint.
    """

    before: str | None
    after: str
    log: Path


class RereadableSource(Source, Protocol):
    """A source that can give what an epoch has read once more."""

    def reread(self, scan: Scan, ctx: Context, epoch: Reread) -> DataFrame | None:
        """The rows of `read`, but not as a stream; None if the epoch has read nothing."""
        ...


def schema_of(scan: Scan) -> str:
    """All columns of a record as DDL: Spark parses those that are asked for, but has to know the others."""
    columns = (column for column in scan.declared or scan.columns if column.name not in scan.metadata)
    return ddl_of(columns)

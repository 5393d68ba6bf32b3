"""What every connector offers whose sources can be looked up."""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import DataFrame

from compiler.jobplan.model import LookupTable
from runtime.spark.context import Context


class Lookup(Protocol):
    """A connector that reads a source as a table."""

    def read(self, table: LookupTable, ctx: Context) -> DataFrame:
        """The content for an epoch, with at least the declared columns.

        A replayed epoch must see what it saw before: what it reads is pinned in the query's folder.

        Raises:
            DiagnosticError: it cannot be read.
        """
        ...

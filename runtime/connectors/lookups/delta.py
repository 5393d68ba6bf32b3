"""Delta tables as tables."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.jobplan.model import LookupTable
from runtime.connectors import paths
from runtime.connectors.lookups.pins import Pins, folder_name
from runtime.connectors.sources.delta import mismatches, no_table
from runtime.spark.context import Context, ddl_of


class DeltaLookup:
    """An epoch reads one version of the table; a replay reads that version again."""

    def read(self, table: LookupTable, ctx: Context) -> DataFrame:
        """The version that was the newest when the epoch began."""
        assert ctx.query_folder is not None
        assert ctx.epoch is not None
        missing = no_table(table.uid, str(table.options["path"]), ctx.project_dir)
        if missing is not None:
            raise DiagnosticError(missing)
        path = str(table.options["path"])
        place = path if paths.is_url(path) else str(paths.local(path, ctx.project_dir))
        pins = Pins(ctx.query_folder / "lookups" / folder_name(table.uid))
        (version,) = pins.of(ctx.epoch, table.refresh_ms, lambda: (_newest(ctx, place),))
        rows = ctx.session.read.format("delta").option("versionAsOf", version).load(place)
        declared = ddl_of(table.columns)
        found = mismatches(table.uid, declared, rows.schema)
        if found:
            raise DiagnosticError(*found)
        return rows


def _newest(ctx: Context, place: str) -> str:
    jvm: Any = ctx.session._jvm  # Delta has no Python API for a table's version
    log = jvm.org.apache.spark.sql.delta.DeltaLog
    return str(log.forTableWithSnapshot(ctx.session._jsparkSession, place)._2().version())

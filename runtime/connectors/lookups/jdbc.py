"""Tables of a database as tables."""

from __future__ import annotations

import uuid

from pyspark.sql import DataFrame

from compiler.jobplan.model import LookupTable
from runtime.connectors import paths
from runtime.connectors.lookups.pins import Pins, folder_name, remove_but
from runtime.connectors.postgres import snapshot
from runtime.spark.context import Context, ddl_of


class JdbcLookup:
    """A table of PostgreSQL is read by one statement and kept in the query's folder as a Parquet file.

    So a replay reads what the epoch has read, whatever has happened to the table.
    """

    def read(self, table: LookupTable, ctx: Context) -> DataFrame:
        """The rows that were there when the epoch began."""
        assert ctx.query_folder is not None
        assert ctx.epoch is not None
        schema = ddl_of(table.columns)
        folder = ctx.query_folder / "lookups" / folder_name(table.uid)
        copies, pins = folder / "files", Pins(folder)
        timezone = str(ctx.session.conf.get("spark.sql.session.timeZone"))

        def take() -> tuple[str, ...]:
            name = f"{uuid.uuid4().hex}.parquet"
            snapshot.take(table.uid, table.options, schema, timezone, copies / name)
            return (name,)

        parts = pins.of(ctx.epoch, table.refresh_ms, take)
        remove_but(pins.parts(), copies)
        files = [paths.literal(str(copies / name)) for name in parts]
        return ctx.session.read.schema(schema).parquet(*files)

"""Reads a seed: a small CSV table, from the copy that belongs to the plan."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import Seed
from runtime.spark.context import Context, ddl_of, quote


def lower(op: Seed, _inputs: Sequence[DataFrame], ctx: Context) -> DataFrame:
    """Reads the copy in the state root, so that a replayed epoch meets the rows that it met before."""
    schema = ddl_of(op.columns)
    reader = ctx.session.read.schema(schema).options(header=True, mode="FAILFAST", enforceSchema=False)
    rows = reader.csv(str(ctx.plan_dir / "seeds" / f"{op.sha256}.csv"))
    return rows.select(*(F.col(quote(column.name)) for column in op.columns))

"""Joins a stream with a seed, which is sent to every task."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import SeedJoin
from runtime.spark.context import Context

_KINDS = {"inner": "inner", "left": "left", "semi": "left_semi", "anti": "left_anti", "cross": "inner"}


def lower(op: SeedJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Broadcasts the seed. A missing condition is always true, which for semi and anti is not a product."""
    stream, seed = inputs
    condition = F.lit(True) if op.condition is None else F.expr(op.condition)
    return stream.join(F.broadcast(seed), condition, _KINDS[op.kind])

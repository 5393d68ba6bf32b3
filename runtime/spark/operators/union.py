"""UNION ALL by position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from compiler.jobplan.model import Union
from runtime.spark.context import Context


def lower(_op: Union, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Columns take the names of the first input."""
    return reduce(DataFrame.union, inputs)

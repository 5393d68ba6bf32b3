"""UNION ALL by position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from compiler.jobplan.model import Union
from runtime.spark.changes import HIDDEN, visible
from runtime.spark.context import Context


def lower(_op: Union, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Columns take the names of the first input. An order of arrival is kept if every input has one."""
    common = [name for name in HIDDEN if all(name in rows.columns for rows in inputs)]
    return reduce(DataFrame.union, (rows.select(*visible(rows), *common) for rows in inputs))

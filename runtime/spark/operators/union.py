"""UNION ALL by position."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import DataFrame

from compiler.jobplan.model import Union
from runtime.spark.changes import HIDDEN, are_changes, as_inserts, visible
from runtime.spark.context import Context


def lower(_op: Union, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Columns take the names of the first input. An order of arrival is kept if every input has one.

    Beside changes, the rows of an input that only come are changes too.
    """
    if any(are_changes(rows) for rows in inputs):
        inputs = [as_inserts(rows) for rows in inputs]
    common = [name for name in HIDDEN if all(name in rows.columns for rows in inputs)]
    return reduce(DataFrame.union, (rows.select(*visible(rows), *common) for rows in inputs))

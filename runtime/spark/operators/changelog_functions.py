"""Rows that become changes, and changes that become rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import FromChangelog, ToChangelog
from compiler.jobplan.operators.base import OP_COLUMN, SEQUENCE_COLUMN
from runtime.spark.changes import INSERT, are_changes
from runtime.spark.context import Context, quote

# What the failure mapper looks for.
UNKNOWN_MARKER = "[headrace:unknown_operation]"


def lower_from(op: FromChangelog, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """The operation of each row, from its code; the order of arrival is handed on."""
    (rows,) = inputs
    code = F.col(quote(op.op_column))
    operation = _translated(code, op.operations)
    if not op.skip_unknown:
        text = F.concat(
            F.lit(f"{UNKNOWN_MARKER} operator={op.uid} column={op.op_column} value="),
            F.coalesce(code, F.lit("NULL")),
        )
        operation = F.coalesce(operation, F.raise_error(text).cast("string"))
    order = [F.col(SEQUENCE_COLUMN)] if SEQUENCE_COLUMN in rows.columns else []
    changes = rows.select(*(F.col(quote(name)) for name in op.columns), operation.alias(OP_COLUMN), *order)
    return changes.where(F.col(OP_COLUMN).isNotNull()) if op.skip_unknown else changes


def lower_to(op: ToChangelog, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """The code of each change, from its operation; rows that only ever come are insertions."""
    (rows,) = inputs
    operation = F.col(OP_COLUMN) if are_changes(rows) else F.lit(INSERT)
    code = _translated(operation, op.codes)
    order = [SEQUENCE_COLUMN] if SEQUENCE_COLUMN in rows.columns else []
    named = rows.select("*", code.alias(_CODE)).where(F.col(_CODE).isNotNull())
    columns = [F.col(_CODE if name == op.op_column else quote(name)).alias(name) for name in op.columns]
    return named.select(*columns, *order)


_CODE = "__headrace_code"


def _translated(value: Column, table: Mapping[str, str]) -> Column:
    """The value's entry in the table, or NULL."""
    found: Column = F.lit(None).cast("string")
    for key, entry in table.items():
        found = F.when(value == key, F.lit(entry)).otherwise(found)
    return found

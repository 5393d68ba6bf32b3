"""Columns that travel with the rows and are in no schema: what a change does, and when its row arrived."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.operators.base import OP_COLUMN, SEQUENCE_COLUMN
from runtime.spark.context import quote

INSERT, UPDATE, DELETE, BEFORE = "+I", "+U", "-D", "-U"

HIDDEN = (OP_COLUMN, SEQUENCE_COLUMN)


def sequence(at: Column, place: Column, part: Column, row: Column) -> Column:
    """The order of arrival, of one type for all sources so that unions can hold it.

    Args:
        at: microseconds since 1970 of what the row came in: a file, a message.
        place: what it came in, to tell those of one time apart.
        part: number of the part of that place.
        row: number of the row in its part.
    """
    return F.struct(
        at.cast("bigint").alias("at"),
        place.cast("string").alias("place"),
        part.cast("bigint").alias("part"),
        row.cast("bigint").alias("row"),
    ).alias(SEQUENCE_COLUMN)


def hidden(rows: DataFrame) -> list[Column]:
    """The hidden columns that the rows have: an operator that gives a row for a row selects them last."""
    return [F.col(name) for name in HIDDEN if name in rows.columns]


def visible(rows: DataFrame) -> list[Column]:
    """All other columns, in order."""
    return [F.col(quote(name)) for name in rows.columns if name not in HIDDEN]


def are_changes(rows: DataFrame) -> bool:
    """Whether the rows are changes."""
    return OP_COLUMN in rows.columns


def as_inserts(rows: DataFrame) -> DataFrame:
    """The rows as changes, if they are none yet: each comes."""
    return rows if are_changes(rows) else rows.withColumn(OP_COLUMN, F.lit(INSERT))


def each_by_itself(rows: DataFrame) -> DataFrame:
    """Changes that name the rows that go, of which some may be missing: none is half of a pair any more."""
    alone = F.when(F.col(OP_COLUMN).isin(BEFORE, DELETE), DELETE).otherwise(INSERT)
    return rows.select(*visible(rows), alone.alias(OP_COLUMN))


def upserts(rows: DataFrame) -> DataFrame:
    """Changes that name the rows that go, as a table by key takes them.

    The other half of a `-U` replaces it. What goes by itself goes before what comes, which counts.
    """
    late = F.when(F.col(OP_COLUMN) == DELETE, 0).otherwise(1)
    kept = rows.where(F.col(OP_COLUMN) != BEFORE)
    return kept.select(*visible(kept), OP_COLUMN, sequence(F.lit(0), F.lit(""), F.lit(0), late))


def keep_if(rows: DataFrame, condition: Column) -> DataFrame:
    """Rows that pass; a change that does not becomes the deletion of its key.

    What was there under the key before may have passed, and then has to go.
    """
    if not are_changes(rows):
        return rows.where(condition)
    passes = F.coalesce(condition, F.lit(False)) & (F.col(OP_COLUMN) != DELETE)
    op = F.when(passes, F.col(OP_COLUMN)).otherwise(F.lit(DELETE)).alias(OP_COLUMN)
    rest = [column for column in HIDDEN if column != OP_COLUMN and column in rows.columns]
    return rows.select(*visible(rows), op, *rest)

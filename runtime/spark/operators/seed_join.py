"""Joins a stream with a seed, which is sent to every task."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import SeedJoin
from runtime.spark.changes import are_changes, each_by_itself, hidden, keep_if, visible
from runtime.spark.context import Context

_KINDS = {"inner": "inner", "left": "left", "semi": "left_semi", "anti": "left_anti", "cross": "inner"}
_FOUND = "__headrace_found"


def lower(op: SeedJoin, inputs: Sequence[DataFrame], _ctx: Context) -> DataFrame:
    """Broadcasts the seed. A missing condition is always true, which for semi and anti is not a product."""
    stream, seed = inputs
    condition = F.lit(True) if op.condition is None else F.expr(op.condition)
    if op.by_row:
        return each_by_itself(_join_rows(stream, seed, condition, op.kind))
    joined = _join_changes if are_changes(stream) else _join_rows
    return joined(stream, seed, condition, op.kind)


def _join_rows(stream: DataFrame, seed: DataFrame, condition: Column, kind: str) -> DataFrame:
    joined = stream.join(F.broadcast(seed), condition, _KINDS[kind])
    return joined.select(*visible(joined), *hidden(joined))


def _join_changes(stream: DataFrame, seed: DataFrame, condition: Column, kind: str) -> DataFrame:
    """Every change comes through: one that finds no row it needs becomes the deletion of its key."""
    marked = seed.select("*", F.lit(True).alias(_FOUND))
    joined = stream.join(F.broadcast(marked), condition, "left")
    found = F.lit(True) if kind == "left" else F.col(_FOUND)
    return keep_if(joined, found).drop(_FOUND)

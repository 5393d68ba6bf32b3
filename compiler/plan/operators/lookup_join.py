"""A stream with what a table holds at the moment."""

from __future__ import annotations

from typing import ClassVar, Literal

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators.seed_join import SeedJoin


@frozen
class LookupJoin(SeedJoin):
    """Joins each row with the rows that `table` holds when the row's epoch begins; inner or left.

    No state is kept, and rows that are out are not corrected. It runs on the rows of each epoch, below the
    query's stream: only there can a table be read anew, and the same again if the epoch is replayed.
    """

    kind: ClassVar[str] = "lookup_join"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        stream, table = inputs
        condition = to_sql(self.condition) if self.condition is not None else None
        kind: Literal["inner", "left"] = "left" if self.join == "left" else "inner"
        return job.LookupJoin(id_, self.uid, (stream, table), kind, condition)

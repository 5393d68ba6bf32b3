"""FROM_CHANGELOG: appended rows read as changes of a table."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import Changelog
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema

# Names of the kinds of change, as in Flink, and how a change carries them. The row before an update says that
# its key has another row from now on, or, if the update changed the key, none: it deletes, and the row after
# the update, which follows it, decides.
OPERATIONS = {"INSERT": "+I", "UPDATE_BEFORE": "-D", "UPDATE_AFTER": "+U", "DELETE": "-D"}


@frozen
class FromChangelog(OneInput):
    """Takes a column for the operation of each row.

    Args:
        key: columns of the table's key.
        op_column: the column, which the output has no more.
        kinds: name of the kind of change, by code.
        skip_unknown: whether a row with another code is left out; otherwise it fails the epoch.
        truthful: whether it is believed that a row is inserted only where none was, and deleted whole.
    """

    kind: ClassVar[str] = "from_changelog"

    key: tuple[str, ...]
    op_column: str
    kinds: tuple[tuple[str, str], ...]
    skip_unknown: bool
    truthful: bool = True

    def _derive_schema(self) -> Schema:
        return Schema(tuple(f for f in self.input.schema if f.name != self.op_column))

    def _derive_changelog(self) -> Changelog:
        # With rows before updates there are more deletions.
        exact = self.truthful and all(kind != "UPDATE_BEFORE" for _, kind in self.kinds)
        return Changelog("upsert", self.key, exact)

    @property
    def orders_rows(self) -> bool:
        return True

    def describe(self) -> str:
        return f"{self.op_column} by {', '.join(self.key)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.FromChangelog(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            op_column=self.op_column,
            operations={code: OPERATIONS[kind] for code, kind in self.kinds},
            skip_unknown=self.skip_unknown,
            columns=self.schema.names,
        )

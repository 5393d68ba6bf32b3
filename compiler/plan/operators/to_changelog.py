"""TO_CHANGELOG: every change of a table as an appended row."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.from_changelog import OPERATIONS
from compiler.plan.schema import Field, Schema
from compiler.plan.types import STRING


@frozen
class ToChangelog(OneInput):
    """Puts the operation of each change into a column: the key first, then the operation, then the rest.

    Args:
        key: columns that come first.
        op_column: name of the new column.
        codes: code by name of the kind of change; other changes are left out.
    """

    kind: ClassVar[str] = "to_changelog"

    key: tuple[str, ...]
    op_column: str
    codes: tuple[tuple[str, str], ...]

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_schema(self) -> Schema:
        fields = self.input.schema.fields
        first = [f for name in self.key for f in fields if f.name == name]
        rest = [f for f in fields if f.name not in self.key]
        return Schema((*first, Field(self.op_column, STRING, nullable=False), *rest))

    def describe(self) -> str:
        return f"{self.op_column}: {', '.join(kind for kind, _ in self.codes)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.ToChangelog(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            op_column=self.op_column,
            # No change is a row before an update, and its name must not give the code of a deletion.
            codes={OPERATIONS[kind]: code for kind, code in self.codes if kind != "UPDATE_BEFORE"},
            columns=self.schema.names,
        )

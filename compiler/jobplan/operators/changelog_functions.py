"""FROM_CHANGELOG and TO_CHANGELOG."""

from __future__ import annotations

from compiler.jobplan.operators.base import JobOperator


class FromChangelog(JobOperator, frozen=True, tag="from_changelog"):
    """Takes `op_column` for the operation of each row: `operations` has it by code.

    A code that is not among them fails the epoch, or drops its row. `columns` are those that are left.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    op_column: str
    operations: dict[str, str]
    skip_unknown: bool
    columns: tuple[str, ...]

    def describe(self) -> str:
        return f"{self.op_column} is the operation: {_pairs(self.operations)}"


class ToChangelog(JobOperator, frozen=True, tag="to_changelog"):
    """Appends every change: `columns` are those of the output, of which `op_column` holds its code.

    `codes` has the code by operation; a change whose operation is not among them is left out.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    op_column: str
    codes: dict[str, str]
    columns: tuple[str, ...]

    def describe(self) -> str:
        return f"the operation is {self.op_column}: {_pairs(self.codes)}"


def _pairs(table: dict[str, str]) -> str:
    return ", ".join(f"{key} → {value}" for key, value in table.items())

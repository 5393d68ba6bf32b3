"""Reading a source."""

from __future__ import annotations

from msgspec import field

from compiler.jobplan.operators.base import Column, JobOperator, Options, location, original


class Scan(JobOperator, frozen=True, tag="scan"):
    """Reads a source as a stream. `read_name` names the read in the checkpoint; it never changes.

    `columns` are those that the query uses, and `declared` all that the source has if it has others besides.
    `metadata` are those of the columns that are no part of a record: name to the connector's key.
    With `marks`, a record that cannot be read is a row whose first mark holds its text and whose second
    says where it stood; in all other rows the first is NULL. Without, it fails the epoch.
    `key` are the columns of the primary key, where each record is a change of its row.
    `sequence` asks for the column that orders the rows of an epoch (`SEQUENCE_COLUMN`).
    """

    id: str
    uid: str
    read_name: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    inputs: tuple[str, ...] = ()
    sequence: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    marks: tuple[str, str] | None = None
    declared: tuple[Column, ...] = ()
    key: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The source's uid, which the query's other reads of it have too."""
        return original(self.uid)

    @property
    def record(self) -> tuple[Column, ...]:
        """The columns of a record that are used."""
        return tuple(column for column in self.columns if column.name not in self.metadata)

    def describe(self) -> str:
        where = location(self.options)
        columns = ", ".join(column.name for column in self.columns)
        return f"{self.uid} from {self.connector}{f' {where}' if where else ''} ({columns})"

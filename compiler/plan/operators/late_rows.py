"""Rows that came too late for the operators that take a source's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.operators.late_rows import (
    LETTER_COLUMN,
    TIME_COLUMN,
)
from compiler.jobplan.operators.late_rows import (
    LateRows as LowLateRows,
)
from compiler.jobplan.operators.late_rows import (
    Way as LowWay,
)
from compiler.plan import types as t
from compiler.plan.changelog import APPEND, Changelog
from compiler.plan.expr_sql import quote_name, to_sql
from compiler.plan.node import Node
from compiler.plan.operators._one_input import OneInput
from compiler.plan.operators.aggregate import Aggregate
from compiler.plan.operators.boundary import Boundary
from compiler.plan.operators.filter import Filter
from compiler.plan.operators.project import Project, lower_items
from compiler.plan.operators.rebalance import Rebalance
from compiler.plan.operators.scan import Scan
from compiler.plan.operators.session import Session
from compiler.plan.operators.session_aggregate import SessionAggregate
from compiler.plan.operators.union import Union
from compiler.plan.operators.watermark import Watermark
from compiler.plan.operators.window import Window
from compiler.plan.schema import Field, Schema

Reader = Aggregate | Session | SessionAggregate
"""Operators whose late rows can be told: what closes them is a time of the row, or of its windows."""

Step = Filter | Project | Watermark | Window | Union
"""Operators through which a row can be followed to a reader."""

PASSED: Final = (Boundary, Rebalance)
"""Operators that give the rows that they take."""

LETTERS: Final = Schema(
    (
        Field("source", t.STRING, nullable=False),
        Field("reason", t.STRING, nullable=False),
        Field("raw", t.STRING),
        Field("position", t.STRING),
        Field("event_time", t.TIMESTAMP),
    )
)
"""The columns of a dead letter."""


@frozen
class Way:
    """The operators from a source's scan to a reader of its rows, each with the input that they come from."""

    reader: Reader
    steps: tuple[tuple[Step, Node], ...]


@frozen
class LateRows(OneInput):
    """Dead letters of a source: its late rows, and its bad records if `bad_records` says so.

    It stands below whatever its readers' rows go to, so that it runs in their query, and reads what the epoch
    has read of the source once more. The binder puts it over the source, and over what takes the readers'
    rows as soon as these are known.

    Args:
        source: name of the source.
        scan: the source's read, of whole records.
        ways: to the operators that leave late rows out.
        bad_records: whether bad records are dead letters too.
    """

    kind: ClassVar[str] = "late_rows"

    source: str
    scan: Scan
    bad_records: bool
    ways: tuple[Way, ...] = ()

    def _derive_schema(self) -> Schema:
        return LETTERS

    def _derive_changelog(self) -> Changelog:
        return APPEND

    def takes_changes(self, index: int) -> bool:
        return True

    def describe(self) -> str:
        return f"of {self.source} for {', '.join(way.reader.uid for way in self.ways)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        scan = replace(self.scan, marks_bad_records=True).lower("scan", ())
        assert isinstance(scan, job.Scan)
        ways = tuple(LowWay(part_of(way.reader), _lower(way), _end(way.reader)) for way in self.ways)
        return LowLateRows(id_, self.uid, inputs, self.source, scan, ways, self.bad_records)


def part_of(node: Node) -> str:
    """The model that an operator belongs to."""
    return node.uid.partition(".")[0]


def _lower(way: Way) -> tuple[job.Filter | job.Project | job.Watermark | job.Window, ...]:
    found: list[job.Filter | job.Project | job.Watermark | job.Window] = []
    above = "scan"
    carried = [LETTER_COLUMN]
    for number, (step, taken) in enumerate(way.steps):
        id_ = f"s{number}"
        if isinstance(step, (Project, Union)):
            items = lower_items(step.items) if isinstance(step, Project) else _renamed(step, taken)
            found.append(job.Project(id_, step.uid, (above,), (*items, *_same(carried))))
        else:
            made = step.lower(id_, (above,))
            assert isinstance(made, (job.Filter, job.Watermark, job.Window))
            found.append(made)
        if isinstance(step, Watermark):
            above, id_ = id_, f"t{number}"
            time = job.Item(TIME_COLUMN, quote_name(step.column))
            found.append(job.Project(id_, step.uid, (above,), (*_same([*step.schema.names, *carried]), time)))
            carried = [LETTER_COLUMN, TIME_COLUMN]
        above = id_
    return tuple(found)


def _renamed(union: Union, taken: Node) -> tuple[job.Item, ...]:
    """What a union makes of an input: its columns under the names of the first."""
    return tuple(
        job.Item(name, quote_name(before))
        for name, before in zip(union.schema.names, taken.schema.names, strict=True)
    )


def _same(names: list[str]) -> tuple[job.Item, ...]:
    return tuple(job.Item(name, quote_name(name)) for name in names)


def _end(reader: Reader) -> str:
    """The time by which a reader judges a row, over the rows that it takes."""
    if isinstance(reader, Aggregate):
        closing = reader.event_time_key
        assert closing is not None
        return to_sql(next(key.expr for key in reader.keys if key.name == closing.name))
    return f"timestampadd(MILLISECOND, {reader.gap_ms}, {quote_name(reader.time_column)})"

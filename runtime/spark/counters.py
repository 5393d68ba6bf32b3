"""Counts of what a query sets aside, told by Spark with each epoch's progress.

Spark computes them beside the rows (`Dataset.observe`); a filter is not pushed below such a point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from compiler.jobplan.model import original

BAD_RECORDS: Final = "bad records"
NO_EVENT_TIME: Final = "rows without an event time"
_TIMES: Final = "times"
_SEPARATOR: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows of a source that a policy took out of the stream."""

    source: str
    reason: str
    rows: int


@dataclass(frozen=True, slots=True)
class SeenTimes:
    """What an epoch saw of a source: how many rows, and the greatest event time (ms since 1970)."""

    source: str
    rows: int
    greatest_ms: int | None


def count_set_aside(rows: DataFrame, source: str, reason: str, condition: SparkColumn) -> DataFrame:
    """The same rows; those that meet the condition are counted under the source and the reason."""
    return rows.observe(f"{source}{_SEPARATOR}{reason}", F.count(F.when(condition, F.lit(1))).alias("rows"))


def watch_times(rows: DataFrame, source: str, column: SparkColumn) -> DataFrame:
    """The same rows; their number and greatest event time are told."""
    return rows.observe(
        f"{source}{_SEPARATOR}{_TIMES}",
        F.count(F.lit(1)).alias("rows"),
        F.unix_millis(F.max(column)).alias("greatest"),
    )


def set_aside(metrics: Mapping[str, Any]) -> Iterator[SetAside]:
    """What an epoch's progress says was set aside."""
    for name, row in metrics.items():
        source, separator, reason = name.rpartition(_SEPARATOR)
        # Further reads of a source in a query set the same rows aside.
        if separator and reason != _TIMES and original(source) == source:
            yield SetAside(source, reason, int(row["rows"]))


def seen_times(metrics: Mapping[str, Any]) -> Iterator[SeenTimes]:
    """What an epoch's progress says of event times."""
    for name, row in metrics.items():
        source, separator, what = name.rpartition(_SEPARATOR)
        if separator and what == _TIMES:
            greatest = row["greatest"]
            yield SeenTimes(source, int(row["rows"]), None if greatest is None else int(greatest))

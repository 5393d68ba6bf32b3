"""What a bench of a sink offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from compiler.jobplan.model import Column, Options, Sink
from runtime.connectors.sinks import SINKS
from runtime.connectors.sinks.base import SinkContext, Writer


@dataclass(frozen=True)
class Comparison:
    """Two ways to write the same rows; each is called with the number of the round.

    Args:
        name: what is compared.
        limit: least throughput of ours, as a part of theirs.
        ours, theirs: write all rows once.
        rounds: how often each is measured, so that the ratio is told to a part of what the limit allows.
    """

    name: str
    limit: float
    ours: Callable[[int], object]
    theirs: Callable[[int], object]
    rounds: int = 5


class SinkBench(Protocol):
    """A sink's comparisons. `packages` are Maven coordinates that they need."""

    name: str
    packages: tuple[str, ...]

    def comparisons(
        self, session: SparkSession, rows: DataFrame, folder: Path
    ) -> AbstractContextManager[Sequence[Comparison]]:
        """The comparisons, while servers run that they need."""
        ...


def writer(
    session: SparkSession,
    folder: Path,
    connector: str,
    options: Options,
    rows: DataFrame,
    primary_key: tuple[str, ...] = (),
) -> Writer:
    """A headrace sink for the rows, prepared for its first epoch."""
    columns = tuple(Column(field.name, field.dataType.simpleString()) for field in rows.schema.fields)
    sink = Sink("bench", "rows", connector, options, columns, "exactly_once", primary_key)
    made = SINKS[connector](sink, SinkContext(session, "bench", folder, print))
    made.prepare("bench", -1)
    return made

"""What a lowering needs besides the operator and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class Context:
    """Where a plan is being lowered.

    Args:
        session: the session to read with; on an epoch's batch that of the batch.
        project_dir: what relative paths are relative to.
        plan_dir: the state root's copy of the plan, with its seeds.
        streaming: whether the result is a stream (the trunk) or an epoch's rows (below it).
        query_folder: the query's folder in the state root, where there is one.
        epoch: the number of the epoch whose rows are lowered; only below the trunk.
        watches_times: whether each source's event times are told, as an idle timeout needs.
    """

    session: SparkSession
    project_dir: Path
    plan_dir: Path
    streaming: bool
    query_folder: Path | None = None
    epoch: int | None = None
    watches_times: bool = False


class Typed(Protocol):
    """What has a name and a type."""

    @property
    def name(self) -> str:
        """As it is, without quotes."""
        ...

    @property
    def type(self) -> str:
        """As DDL."""
        ...


Lowering = Callable[[Any, Sequence[DataFrame], Context], DataFrame]

# Spark finds event time by this key of a column's metadata; the value is the delay in milliseconds.
DELAY_KEY = "spark.watermarkDelayMs"


def quote(name: str) -> str:
    """A name as Spark's parser takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def ddl_of(columns: Iterable[Typed]) -> str:
    """Columns with their types, as Spark's parser takes a schema."""
    return ", ".join(f"{quote(column.name)} {column.type}" for column in columns)


def struct_of(columns: Iterable[Typed]) -> StructType:
    """The same as a type of Spark's."""
    found = StructType.fromDDL(ddl_of(columns))
    assert isinstance(found, StructType)
    return found


def event_time(delay_ms: int | None) -> dict[str, Any]:
    """Column metadata that marks an event time, or takes the mark away if there is no delay."""
    return {} if delay_ms is None else {DELAY_KEY: delay_ms}

"""What every sink offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from compiler.jobplan.formats import key_fields
from compiler.jobplan.model import Sink
from compiler.jobplan.operators.base import OP_COLUMN
from runtime.spark.context import Typed, quote, struct_of


@dataclass(frozen=True, slots=True)
class SinkContext:
    """Where a sink writes.

    Args:
        session: the session of the run; an epoch's batch has its own.
        project: name of the project, part of what marks an output as ours.
        project_dir: what relative paths are relative to.
        say: prints for development sinks.
        last_committed: the newest epoch that is done under the checkpoint (-1: none). One that has begun
            after it is in flight, and its rows may be in the output.
        remembered: uids of the sinks that the query had when it last began to run.
        begun: the sinks, by uid, as an earlier plan has them that began the epoch in flight.
    """

    session: SparkSession
    project: str
    project_dir: Path
    say: Callable[[str], None]
    last_committed: int = -1
    remembered: frozenset[str] = frozenset()
    begun: Mapping[str, Sink] = field(default_factory=dict)


class Writer(Protocol):
    """Writes the epochs of one sink, each once.

    An epoch is known by the incarnation of its checkpoint, the sink's uid and its number. Writing one
    again that is there already must change nothing.
    """

    @property
    def location(self) -> str:
        """Where the rows are, as a person would look for them."""
        ...

    @property
    def rows_written(self) -> int:
        """Rows that this run has written."""
        ...

    @property
    def passes(self) -> int:
        """How often `write` computes the batch; more than once asks for it to be persisted."""
        ...

    def prepare(self, incarnation: str, last_epoch: int) -> None:
        """Claims the output for a checkpoint that has begun epochs up to `last_epoch` (-1: none).

        Raises:
            DiagnosticError: the output is someone else's, or of another incarnation.
        """
        ...

    def has(self, epoch: int) -> bool:
        """Whether the output holds the epoch, or a part of it, as far as the sink can know.

        Called after `prepare`.
        """
        ...

    def write(self, epoch: int, batch: DataFrame) -> bool:
        """Writes an epoch; False says that it was there already and the batch was not computed."""
        ...

    def check_empty(self) -> None:
        """Looks whether `empty` may do its work; called before anything is deleted.

        Raises:
            DiagnosticError: the output is someone else's.
        """
        ...

    def empty(self) -> None:
        """Deletes what this sink wrote, and only that. Called after `check_empty` alone."""
        ...


def columns_of(sink: Sink, batch: DataFrame) -> DataFrame:
    """The sink's columns with their types, and without marks that only mean something to a stream."""
    names = [column.name for column in sink.columns]
    # Mostly the query has made them so. Then a projection is only work: a call to the JVM for each part of
    # each column, and a plan that is analyzed once more.
    if batch.columns == names and len(_fitting(sink, batch)) == len(names):
        return batch
    return batch.select(*_columns(sink, batch))


def changes_of(sink: Sink, batch: DataFrame, *more: Column) -> DataFrame:
    """As `columns_of`, with the operation of each change in front, if they are changes, and `more` behind."""
    return batch.select(*([OP_COLUMN] if sink.upsert else []), *_columns(sink, batch), *more)


def placed_by(sink: Sink) -> list[Column]:
    """By what an epoch's rows are put into tasks, of which each notes by itself that its part is written.

    A row must get into the same task whenever the epoch runs, and rows of one key into one. So they go by
    what a replay gives alike to the bit, of their key if there is one: a sum of floating-point numbers, and a
    list, depend on the order in which rows came. Rows that have no such column are all one task's.
    """
    keys = {name.lower() for name in (*key_fields(sink.options),) or sink.primary_key}
    fields = struct_of(sink.columns).fields
    among = [field for field in fields if not keys or field.name.lower() in keys]
    exact = [field.name for field in among if _is_exact(field.dataType)]
    if exact:
        return [F.col(quote(name)) for name in exact]
    # Always 0, which Spark must not know: it makes one task of rows that are placed by a constant.
    return [F.pmod(F.hash(F.col(quote(fields[0].name)).isNull()), F.lit(1))]


def _is_exact(kind: t.DataType) -> bool:
    if isinstance(kind, t.StructType):
        return all(_is_exact(field.dataType) for field in kind.fields)
    return not isinstance(kind, (t.FloatType, t.DoubleType, t.ArrayType, t.MapType, t.VariantType))


def _columns(sink: Sink, batch: DataFrame) -> list[Column]:
    fitting = _fitting(sink, batch)
    columns: list[Column] = []
    for name, kind in _types(sink.columns).items():
        column = F.col(quote(name))
        columns.append(column if name in fitting else column.cast(kind).alias(name, metadata={}))
    return columns


def _fitting(sink: Sink, batch: DataFrame) -> set[str]:
    """Names of the sink's columns that the batch has as they are to be, so that a cast changes nothing."""
    wanted = _types(sink.columns)
    found = batch.schema.fields
    return {f.name for f in found if f.name in wanted and f.dataType == wanted[f.name] and not f.metadata}


@lru_cache(maxsize=128)
def _types(columns: tuple[Typed, ...]) -> dict[str, t.DataType]:
    """Types by name; kept, since Spark parses them."""
    return {field.name: field.dataType for field in struct_of(columns).fields}

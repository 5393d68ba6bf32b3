"""What the three graphs are made of: frozen values that are JSON with a version.

An operator's id is its uid, so it stays what it was when other operators come or go; the writer of a sink is
`sink:<uid>`. Operators come inputs first. Times are milliseconds.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from compiler.plan.node import EdgeKind

GRAPHS_VERSION = 1

Level = Literal["stream", "job", "execution"]
LEVELS: tuple[Level, ...] = ("stream", "job", "execution")


class Place(Struct, frozen=True):
    """Where the user wrote it; lines and columns are counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Column(Struct, frozen=True, omit_defaults=True):
    """A column of an operator's output; if it is an event time, its watermark lags `watermark_ms` behind."""

    name: str
    type: str
    nullable: bool = True
    watermark_ms: int | None = None


class Operator(Struct, frozen=True, omit_defaults=True):
    """An operator, or the writer of a sink.

    Args:
        id: see the module.
        kind: `scan`, `filter`, …, `sink`.
        does: what it does, on one line.
        part: the source, model, seed or sink that it belongs to.
        changelog: whether its rows stay (`append`) or are changes.
        columns: of its output.
    """

    id: str
    kind: str
    does: str
    part: str
    changelog: str = "append"
    place: Place | None = None
    columns: tuple[Column, ...] = ()


class Edge(Struct, frozen=True, omit_defaults=True):
    """Rows go from one operator (or stage) to another; `keys` place them if the kind is `hash`."""

    source: str
    target: str
    kind: EdgeKind
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"hash({', '.join(self.keys)})" if self.kind == "hash" else self.kind


class StreamGraph(Struct, frozen=True):
    """All operators as they were written, before the optimizer; a model is a part, not an operator."""

    operators: tuple[Operator, ...]
    edges: tuple[Edge, ...]


class StateStore(Struct, frozen=True):
    """What a stateful operator keeps, and for how long: `bound` is a sentence."""

    operator: str
    kind: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    bound: str


class Watermark(Struct, frozen=True):
    """An event time of a query; its watermark is the least of all of them."""

    operator: str
    column: str
    delay_ms: int


class Query(Struct, frozen=True):
    """What is known of a query besides its operators; see `jobplan.model.Query`."""

    uid: str
    output_mode: str
    trigger_ms: int | None
    state_partitions: int
    provisional: bool
    reason: str
    sinks: tuple[str, ...]
    watermarks: tuple[Watermark, ...]
    state: tuple[StateStore, ...]


class Chain(Struct, frozen=True):
    """Operators that run without a hand-over in between, by id."""

    id: str
    operators: tuple[str, ...]


class JobQuery(Struct, frozen=True):
    """A query as chains; edges that are not `forward` are the exchanges between them."""

    query: Query
    operators: tuple[Operator, ...]
    chains: tuple[Chain, ...]
    edges: tuple[Edge, ...]


class JobGraph(Struct, frozen=True):
    """The project after the optimizer, as queries of chains."""

    queries: tuple[JobQuery, ...]


class Stage(Struct, frozen=True):
    """Operators that one set of tasks runs.

    Args:
        runs: `stream`: as part of the query's stream. `epoch`: on the rows of each epoch. `table`: a table
            that does not stream, broadcast to the tasks that ask for it.
        tasks: how many, None if that is up to the source.
        state: ids of the operators whose state its tasks keep.
    """

    id: str
    runs: Literal["stream", "epoch", "table"]
    operators: tuple[str, ...]
    tasks: int | None = None
    state: tuple[str, ...] = ()


class ExecutionQuery(Struct, frozen=True):
    """A query as stages.

    Operator `trunk` gives the stream's rows; `persisted` says that those of an epoch are kept while it is
    written, as they are used more than once. `kept` is the read whose rows of an epoch are kept for the
    stream and for sinks that need no state.
    """

    query: Query
    trunk: str
    persisted: bool
    operators: tuple[Operator, ...]
    stages: tuple[Stage, ...]
    edges: tuple[Edge, ...]
    kept: str | None = None


class ExecutionPlan(Struct, frozen=True):
    """What Spark runs."""

    queries: tuple[ExecutionQuery, ...]


class Graphs(Struct, frozen=True, omit_defaults=True):
    """The graphs of a project for one target; those that were not asked for are None."""

    version: int
    project: str
    target: str
    stream: StreamGraph | None = None
    job: JobGraph | None = None
    execution: ExecutionPlan | None = None

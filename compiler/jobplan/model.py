"""The job plan: what the compiler hands to the runtime, and the only thing that passes between them.

A job plan is JSON with a version. It holds queries; a query holds operators in topological order, each
with the ids of its inputs. Expressions are Spark SQL text over the columns of the operator's inputs,
names quoted where they must be. `${env:NAME}` stays a reference: the runtime resolves it, and no plan,
log or artifact holds a secret.

Times are milliseconds, sizes bytes, unless a field says otherwise.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

JOB_PLAN_VERSION = 1
MANIFEST_VERSION = 1

OptionValue = str | int | float | bool
Options = dict[str, OptionValue]


class Column(Struct, frozen=True):
    """A column of an operator's output: `type` is Spark DDL."""

    name: str
    type: str
    nullable: bool = True


class Item(Struct, frozen=True):
    """A named expression."""

    name: str
    sql: str


# --- operators: one class each; `op` tells them apart in JSON ---------------


class _Operator(Struct, frozen=True, tag_field="op"):
    """Base of all operators; JSON begins with the tag that tells them apart."""

    @property
    def op(self) -> str:
        """The operator's tag."""
        return str(self.__struct_config__.tag)


class Scan(_Operator, frozen=True, tag="scan"):
    """Reads a source as a stream. `read_name` names the read in the checkpoint; it never changes."""

    id: str
    uid: str
    read_name: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    inputs: tuple[str, ...] = ()


class Seed(_Operator, frozen=True, tag="seed"):
    """Reads a small CSV table with a header line; `sha256` is that of the file's bytes."""

    id: str
    uid: str
    path: str
    sha256: str
    columns: tuple[Column, ...]
    inputs: tuple[str, ...] = ()


class Watermark(_Operator, frozen=True, tag="watermark"):
    """Marks `column` as event time, late by at most `delay_ms`; what to do with NULL is said too."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    column: str
    delay_ms: int
    on_null: Literal["fail", "drop"] = "fail"


class Filter(_Operator, frozen=True, tag="filter"):
    """Keeps the rows for which `predicate` is true."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    predicate: str


class Project(_Operator, frozen=True, tag="project"):
    """Computes the output columns; an item that is just a column keeps its event-time mark."""

    id: str
    uid: str
    inputs: tuple[str, ...]
    items: tuple[Item, ...]


class Window(_Operator, frozen=True, tag="window"):
    """Assigns rows to windows over `time_column`; a row may land in several (hop).

    Adds `start`, `end` and `time` (names of output columns; end is exclusive, time is end - 1 ms).
    `end` and `time` are event times whose watermark is `delay_ms` behind.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    kind: Literal["tumble", "hop"]
    time_column: str
    size_ms: int
    slide_ms: int
    offset_ms: int
    delay_ms: int | None
    start: str
    end: str
    time: str


class Aggregate(_Operator, frozen=True, tag="aggregate"):
    """Groups by `keys` and computes `aggregates`; `output` names the columns in order.

    `event_time_key` names the key whose watermark closes a group (a window's end), or is None on a
    batch. `window_time` is a column computed from that key after grouping (end - 1 ms), itself an event
    time `delay_ms` behind.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    keys: tuple[Item, ...]
    aggregates: tuple[Item, ...]
    output: tuple[str, ...]
    event_time_key: str | None
    delay_ms: int | None = None
    window_time: Item | None = None


class Union(_Operator, frozen=True, tag="union"):
    """UNION ALL by position; columns take the names of the first input."""

    id: str
    uid: str
    inputs: tuple[str, ...]


class SeedJoin(_Operator, frozen=True, tag="seed_join"):
    """Joins the first input (a stream) with the second (a seed), which is broadcast.

    The names of both sides differ already. `kind`: inner, left, semi or anti, seen from the stream.
    """

    id: str
    uid: str
    inputs: tuple[str, str]
    kind: Literal["inner", "left", "semi", "anti", "cross"]
    condition: str | None


Operator = Scan | Seed | Watermark | Filter | Project | Window | Aggregate | Union | SeedJoin


# --- sinks, state, queries --------------------------------------------------


class Sink(Struct, frozen=True):
    """Writes the output of operator `input`, epoch by epoch."""

    uid: str
    input: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    delivery: Literal["exactly_once", "at_least_once"]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    removed: bool = False


class State(Struct, frozen=True):
    """A stateful operator of a query. Two plans may share a checkpoint only if their lists are equal.

    `fingerprint` covers all that the stored bytes depend on: keys, aggregates, types, window.
    `bound` is the sentence that `explain` shows ("closes 5 min 10 s after its start").
    """

    operator: str
    uid: str
    kind: str
    keys: tuple[str, ...]
    fingerprint: str
    bound: str


class Chain(Struct, frozen=True):
    """Operators joined by forward edges, run without a hand-over in between."""

    id: str
    operators: tuple[str, ...]


class Exchange(Struct, frozen=True):
    """An edge between chains: rows move by hash of `keys`, or a small side is broadcast."""

    source: str
    target: str
    kind: Literal["hash", "broadcast", "union"]
    keys: tuple[str, ...] = ()


class Query(Struct, frozen=True):
    """One Structured Streaming query: one checkpoint, one trigger, one output mode.

    `trunk` is the operator whose rows are the query's stream; operators below it (towards the sinks)
    run on each epoch's rows, once the trunk has been persisted, if there is more than one sink.
    `trigger_ms` is None for available_now. `parallelism` is the number of state partitions.
    `reason` says why these sinks share the query or why it stands alone.
    """

    uid: str
    operators: tuple[Operator, ...]
    trunk: str
    sinks: tuple[Sink, ...]
    state: tuple[State, ...]
    chains: tuple[Chain, ...]
    exchanges: tuple[Exchange, ...]
    output_mode: Literal["append", "update"]
    trigger_ms: int | None
    parallelism: int
    provisional: bool
    reason: str

    @property
    def reads(self) -> tuple[str, ...]:
        """Names under which the checkpoint knows the query's sources."""
        return tuple(op.read_name for op in self.operators if isinstance(op, Scan))


class Settings(Struct, frozen=True):
    """What the target says about a run. Paths are absolute or relative to `project_dir`."""

    master: str
    state_root: str
    on_end: Literal["leave_open", "close"]
    spark: dict[str, str] = field(default_factory=dict)


class JobPlan(Struct, frozen=True):
    """A compiled project for one target. `project_dir` is not part of the JSON that is kept."""

    version: int
    headrace: str
    project: str
    target: str
    timezone: str
    settings: Settings
    queries: tuple[Query, ...]


# --- what a state root remembers --------------------------------------------


class GroupMemory(Struct, frozen=True):
    """A query that was formed once: its uid is minted then and never derived again."""

    uid: str
    sinks: tuple[str, ...]
    reads: tuple[str, ...]
    state: tuple[State, ...]
    parallelism: int


class Manifest(Struct, frozen=True):
    """The memory of a state root: an input value of the compiler, written by the runtime only.

    `retired` holds uids of queries that are gone; they are not minted again.
    """

    version: int
    project: str
    groups: tuple[GroupMemory, ...] = ()
    retired: tuple[str, ...] = ()

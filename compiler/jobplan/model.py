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

from compiler.jobplan.operators import Operator
from compiler.jobplan.operators.aggregate import Aggregate
from compiler.jobplan.operators.base import Column, Item, Options, OptionValue, copy_uid, location, original
from compiler.jobplan.operators.branches import Branches
from compiler.jobplan.operators.change_aggregate import Accumulate, ChangeAggregate
from compiler.jobplan.operators.change_join import ChangeJoin
from compiler.jobplan.operators.changelog_functions import FromChangelog, ToChangelog
from compiler.jobplan.operators.distinct import Distinct, Marked
from compiler.jobplan.operators.filter import Filter
from compiler.jobplan.operators.generate import Generate
from compiler.jobplan.operators.interval_join import IntervalJoin
from compiler.jobplan.operators.late_rows import LateRows
from compiler.jobplan.operators.lookup_join import LookupJoin
from compiler.jobplan.operators.lookup_table import LookupTable
from compiler.jobplan.operators.match import Match
from compiler.jobplan.operators.normalize import Normalize
from compiler.jobplan.operators.over import Over, OverFunction
from compiler.jobplan.operators.panes import PaneGroup, Panes, Partial
from compiler.jobplan.operators.process import KeptState, Process
from compiler.jobplan.operators.project import Project
from compiler.jobplan.operators.rebalance import Rebalance
from compiler.jobplan.operators.regular_join import RegularJoin
from compiler.jobplan.operators.scan import Scan
from compiler.jobplan.operators.seed import Seed
from compiler.jobplan.operators.seed_join import SeedJoin
from compiler.jobplan.operators.session import Session
from compiler.jobplan.operators.session_aggregate import SessionAggregate
from compiler.jobplan.operators.sorting import Sort
from compiler.jobplan.operators.stream_join import EventTime, OutputColumn
from compiler.jobplan.operators.temporal_join import KeyPair, TemporalJoin
from compiler.jobplan.operators.top_n import TopN
from compiler.jobplan.operators.union import Union
from compiler.jobplan.operators.values import Values
from compiler.jobplan.operators.watermark import Watermark
from compiler.jobplan.operators.window import Window
from compiler.jobplan.operators.window_join import WindowJoin

JOB_PLAN_VERSION = 1
MANIFEST_VERSION = 1

# The operators are part of the model, for those who read plans.
__all__ = [
    "JOB_PLAN_VERSION",
    "MANIFEST_VERSION",
    "Accumulate",
    "Aggregate",
    "Branches",
    "Chain",
    "ChangeAggregate",
    "ChangeJoin",
    "Changes",
    "Column",
    "Distinct",
    "EventTime",
    "Exchange",
    "Filter",
    "FromChangelog",
    "FunctionFile",
    "Functions",
    "Generate",
    "GroupMemory",
    "IntervalJoin",
    "Item",
    "JobPlan",
    "KeptState",
    "KeyPair",
    "LateRows",
    "LookupJoin",
    "LookupTable",
    "Manifest",
    "Marked",
    "Match",
    "Normalize",
    "Operator",
    "OptionValue",
    "Options",
    "OutputColumn",
    "Over",
    "OverFunction",
    "PaneGroup",
    "Panes",
    "Partial",
    "Process",
    "Project",
    "Query",
    "Rebalance",
    "RegularJoin",
    "ScalarFunction",
    "Scan",
    "Seed",
    "SeedJoin",
    "Session",
    "SessionAggregate",
    "Settings",
    "Sink",
    "Sort",
    "State",
    "TemporalJoin",
    "ToChangelog",
    "TopN",
    "Union",
    "Values",
    "Watermark",
    "Window",
    "WindowJoin",
    "copy_uid",
    "location",
    "original",
]


# --- sinks, state, queries --------------------------------------------------


class Sink(Struct, frozen=True):
    """Writes the output of operator `input`, epoch by epoch.

    `upsert` says that its rows are changes (they carry `OP_COLUMN`). Where several rows of one primary key
    come in one epoch, the last counts: by `SEQUENCE_COLUMN` if the rows have it, else by `order_by`. With
    `before` its changes name the rows that go as well (`-U`), which a table by key does not take.
    `metadata` are the columns that are sent beside a row and are no part of it: name to the connector's key.
    """

    uid: str
    input: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    delivery: Literal["exactly_once", "at_least_once"]
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    removed: bool = False
    upsert: bool = False
    order_by: tuple[str, ...] = ()
    before: bool = False
    metadata: dict[str, str] = field(default_factory=dict)


class State(Struct, frozen=True):
    """A stateful operator of a query. Two plans may share a checkpoint only if their lists are equal.

    `fingerprint` covers all that the stored bytes depend on: keys, aggregates, types, window.
    `bound` is the sentence that `explain` shows ("closes 5 min 10 s after its start"). `layout` is what a
    later compile needs of a state that holds more than the plan still asks for.
    """

    operator: str
    uid: str
    kind: str
    keys: tuple[str, ...]
    fingerprint: str
    bound: str
    layout: tuple[str, ...] = ()


class Chain(Struct, frozen=True):
    """Operators joined by forward edges, run without a hand-over in between."""

    id: str
    operators: tuple[str, ...]


class Exchange(Struct, frozen=True):
    """An edge between chains: rows move by hash of `keys` or evenly, or a small side is broadcast."""

    source: str
    target: str
    kind: Literal["hash", "rebalance", "broadcast", "union"]
    keys: tuple[str, ...] = ()


class Changes(Struct, frozen=True):
    """Operator `operator` gives changes by `key`, not rows that stay; an empty key is a table of one row.

    With `retract` no key tells the rows apart, and one that goes is named by all its columns.
    """

    operator: str
    key: tuple[str, ...]
    retract: bool = False


class Query(Struct, frozen=True):
    """One Structured Streaming query: one checkpoint, one trigger, one output mode.

    `trunk` is the operator whose rows are the query's stream; operators below it (towards the sinks)
    run on each epoch's rows, once the trunk has been persisted, if there is more than one sink. `kept` is the
    read whose rows of an epoch are kept, for the stream and for sinks whose rows do not pass the trunk; None
    if there are no such sinks.
    `trigger_ms` is None for available_now. `parallelism` is the number of state partitions.
    `reason` says why these sinks share the query or why it stands alone. `changes` lists the operators
    whose output is changes.
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
    changes: tuple[Changes, ...] = ()
    kept: str | None = None

    @property
    def ahead(self) -> Panes | None:
        """What puts the rows of an epoch together before they enter the stream, if anything does."""
        return next((op for op in self.operators if isinstance(op, Panes) and op.ahead), None)

    @property
    def reads(self) -> tuple[str, ...]:
        """Names under which the checkpoint knows the query's sources."""
        return tuple(op.read_name for op in self.operators if isinstance(op, Scan))

    @property
    def beside(self) -> frozenset[str]:
        """The uids of the sinks whose rows do not pass the trunk, but come from what is `kept`."""
        if self.kept is None:
            return frozenset()
        below = {self.trunk}
        # Operators are in topological order.
        for op in self.operators:
            if not below.isdisjoint(op.inputs):
                below.add(op.id)
        return frozenset(sink.uid for sink in self.sinks if sink.input not in below)

    @property
    def sources(self) -> tuple[str, ...]:
        """The uids of what it reads, each once."""
        return tuple(dict.fromkeys(op.source for op in self.operators if isinstance(op, Scan)))


class Settings(Struct, frozen=True):
    """What the target says about a run. Paths are absolute or relative to `project_dir`."""

    master: str
    state_root: str
    on_end: Literal["leave_open", "close"]
    spark: dict[str, str] = field(default_factory=dict)


class FunctionFile(Struct, frozen=True):
    """A Python file under functions/, by its path from there."""

    path: str
    sha256: str


class ScalarFunction(Struct, frozen=True):
    """A Python function that expressions call by `sql_name`, which no other version of it has.

    With `aggregate` it is called with the rows of a group in order: an array of structs whose fields named by
    `argument_field` are its arguments.
    """

    sql_name: str
    module: str
    name: str
    returns: str
    vectorized: bool
    deterministic: bool
    aggregate: bool = False


def argument_field(number: int) -> str:
    """The field of a group's rows that holds an argument of a Python aggregate function, counted from 0."""
    return f"arg{number}"


class Functions(Struct, frozen=True):
    """The project's Python functions; the state root keeps a copy of the files. `bundle` is their hash."""

    bundle: str
    files: tuple[FunctionFile, ...]
    scalars: tuple[ScalarFunction, ...] = ()


class JobPlan(Struct, frozen=True):
    """A compiled project for one target. `project_dir` is not part of the JSON that is kept."""

    version: int
    headrace: str
    project: str
    target: str
    timezone: str
    settings: Settings
    queries: tuple[Query, ...]
    functions: Functions | None = None


# --- what a state root remembers --------------------------------------------


class GroupMemory(Struct, frozen=True):
    """A query that was formed once: its uid is minted then and never derived again.

    `beside` are those of its sinks that need none of its state.
    """

    uid: str
    sinks: tuple[str, ...]
    reads: tuple[str, ...]
    state: tuple[State, ...]
    parallelism: int
    beside: tuple[str, ...] = ()


class Manifest(Struct, frozen=True):
    """The memory of a state root: an input value of the compiler, written by the runtime only.

    `retired` holds uids of queries that are gone; they are not minted again.
    """

    version: int
    project: str
    groups: tuple[GroupMemory, ...] = ()
    retired: tuple[str, ...] = ()

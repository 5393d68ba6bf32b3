"""Window aggregates over panes: each row is looked up once, however many windows it lies in.

A window is made up of panes, pieces of time so long that every window begins and ends with one. Rows are put
together by pane and keys first, and only what comes of it goes into the windows. Aggregates share panes if
the keys of one are among those of the other. A row of an hour's windows, one a minute, is looked up once, and
not sixty times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import TYPE_CHECKING, Final

from compiler.chain.partials import Part, split_aggregate
from compiler.connectors import CONNECTORS
from compiler.frozen import frozen
from compiler.plan.expr import Call, Column, Expr, Literal, Op, calls_python, columns_of, conjunction
from compiler.plan.expr_sql import to_sql
from compiler.plan.node import Node
from compiler.plan.operators import Boundary, Filter, Panes, Project, Scan, Watermark
from compiler.plan.operators.fused_aggregate import Branch
from compiler.plan.operators.panes import GROUP, PANE, ROWS, PaneGroup, Partial
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field
from compiler.plan.types import BIGINT, BOOLEAN, INT

if TYPE_CHECKING:
    from compiler.chain.siblings import Sibling

_OWN: Final = frozenset((START, END, TIME))
_REREAD: Final = {connector.name for connector in CONNECTORS if connector.rereads}
# Panes cost an exchange of their own and its planning: 0.1 s of CPU an epoch, and some 3 s of a new JVM.
# A look-up of a row in a window takes some 0.08 s for 1,000,000 rows (bench/README.md).
_LEAST_SPARED: Final = 8
# To share panes with longer ones, those are cut up; the finer they are, the fewer rows are put together.
_FINEST: Final = 16


@dataclass
class _Group:
    """Aggregates over the same panes: numbers of siblings, the keys of the first, whose keys are the most."""

    keys: tuple[Expr, ...]
    members: list[int] = field(default_factory=list)


@frozen
class PaneForm:
    """A fused aggregate's input and branches, where it is over panes.

    Args:
        panes: the input.
        branches: in the order of the siblings.
        columns: for each part of values, by its number, and each branch's number, the column that has it.
    """

    panes: Panes
    branches: tuple[Branch, ...]
    columns: dict[int, dict[int, str]]


def can_share_panes(siblings: Sequence[Sibling]) -> bool:
    """Whether aggregates over one input can be computed in two steps."""
    first = siblings[0].input
    if not isinstance(first, Watermark) or first.on_null == "keep":
        return False
    return all(_can_split(sibling) for sibling in siblings)


def panes_pay(siblings: Sequence[Sibling]) -> bool:
    """Whether panes spare enough look-ups, and an epoch's rows can be had before they enter the stream."""
    # Of windows that begin together, a row lies in half of them.
    windows = sum((s.windows + 1) // 2 if s.window.shape == "cumulate" else s.windows for s in siblings)
    return (
        windows - len(_groups(siblings)) >= _LEAST_SPARED
        and can_share_panes(siblings)
        and can_run_ahead(siblings[0].input)
    )


def can_run_ahead(rows: Node) -> bool:
    """Whether an epoch's rows can be put together before they enter the stream.

    What counts rows that it sets aside, or knows of sources without rows, has to stand in the stream.
    """
    if not isinstance(rows, Watermark) or rows.on_null != "fail" or rows.idle_timeout_ms is not None:
        return False
    node = rows.input
    while isinstance(node, (Boundary, Filter, Project)):
        if any(calls_python(expr) for expr in node.expressions):
            return False
        node = node.input
    return isinstance(node, Scan) and node.connector in _REREAD and not node.marks_bad_records


def _can_split(sibling: Sibling) -> bool:
    keys = [key.expr for key, part in sibling.keys if part is None]
    values = [value.expr for value in sibling.values]
    every = [*keys, *values, *([sibling.condition] if sibling.condition is not None else [])]
    return (
        sibling.window_condition is None
        and not any(columns_of(expr) & _OWN or calls_python(expr) for expr in every)
        and all(split_aggregate(value) is not None for value in values)
    )


def over_panes(
    siblings: Sequence[Sibling],
    branches: Sequence[Branch],
    parts: Sequence[Mapping[int, Part]],
    reads: tuple[str, ...],
    *,
    ahead: bool,
) -> PaneForm:
    """The same aggregates over panes.

    Args:
        siblings: over one input.
        branches: of each, over the input.
        parts: for each sibling, those of its values by their numbers in the state.
        reads: names of the input's columns that any of it is computed from.
        ahead: whether rows are put together before they enter the stream.
    """
    groups = _groups(siblings)
    partials = _Partials(len(groups))
    slots: list[Field] = []
    made: list[PaneGroup] = []
    found: dict[int, Branch] = {}
    columns: dict[int, dict[int, str]] = {}
    for number, group in enumerate(groups, 1):
        members = [siblings[index] for index in group.members]
        named = tuple(NamedExpr(name, key) for name, key in _slotted(group.keys, slots))
        homes = {to_sql(key.expr): key.name for key in named}
        condition = _condition(members)
        size_ms, offset_ms = _pane(members)
        made.append(PaneGroup(number, condition, size_ms, offset_ms, named))
        for index in group.members:
            sibling, branch = siblings[index], branches[index]
            own = None if sibling.condition == condition else sibling.condition
            taken = _equals(GROUP, number)
            if own is not None:
                counted = partials.add(Part(_COUNT, "sum", _ONE, _NONE), own, number)
                some = Op(BOOLEAN, False, ">", (Column(BIGINT, False, counted), _NONE))
                taken = conjunction([taken, some])
            keys = tuple(
                NamedExpr(key.name, Column(key.expr.type, True, homes[to_sql(key.expr)]))
                for key in branch.keys
            )
            found[index] = replace(branch, condition=taken, keys=keys)
            for part_number, part in parts[index].items():
                columns.setdefault(part_number, {})[branch.number] = partials.add(part, own, number)
    first = siblings[0]
    uid = f"{first.aggregate.uid}.panes"
    panes = Panes(
        uid, first.input, first.time_column, tuple(made), tuple(slots), partials.all(), reads, ahead
    )
    return PaneForm(panes, tuple(found[index] for index in range(len(branches))), columns)


_COUNT: Final = Call(BIGINT, False, "count", (), aggregate=True)
_ONE: Final = Literal(BIGINT, False, "1L", 1)
_NONE: Final = Literal(BIGINT, False, "0L", 0)


class _Partials:
    """The columns of partial values, each once, whichever branches use it."""

    def __init__(self, groups: int) -> None:
        self._groups = groups
        self._found: dict[tuple[str, str | None], tuple[Part, list[Expr], set[int]]] = {}

    def add(self, part: Part, condition: Expr | None, group: int) -> str:
        """The column of a part over those rows of a group that meet the condition."""
        conditions = [expr for expr in (condition, part.call.where) if expr is not None]
        key = (
            to_sql(replace(part.call, where=None)),
            to_sql(conjunction(conditions)) if conditions else None,
        )
        self._found.setdefault(key, (part, conditions, set()))[2].add(group)
        return _partial_name(list(self._found).index(key))

    def all(self) -> tuple[Partial, ...]:
        return tuple(self._partials())

    def _partials(self) -> Iterator[Partial]:
        for number, (part, conditions, groups) in enumerate(self._found.values()):
            every = [*([] if len(groups) == self._groups else [_among(sorted(groups))]), *conditions]
            where = conjunction(every) if every else None
            single = part.one if where is None else part.single(where)
            sql = to_sql(replace(part.call, where=where))
            yield Partial(_partial_name(number), sql, to_sql(single), part.type)


def _partial_name(number: int) -> str:
    return f"__headrace_partial{number}"


def _equals(name: str, number: int) -> Expr:
    return Op(BOOLEAN, False, "=", (Column(INT, False, name), Literal(INT, False, str(number), number)))


def _among(groups: Sequence[int]) -> Expr:
    if len(groups) == 1:
        return _equals(GROUP, groups[0])
    numbers = (Literal(INT, False, str(number), number) for number in groups)
    return Op(BOOLEAN, False, "IN", (Column(INT, False, GROUP), *numbers))


def _groups(siblings: Sequence[Sibling]) -> list[_Group]:
    """Which aggregates share panes: those with the most keys have their own, others go where theirs are."""
    keys = [tuple(key.expr for key, part in sibling.keys if part is None) for sibling in siblings]
    found: list[_Group] = []
    for index in sorted(range(len(siblings)), key=lambda index: (-len(keys[index]), index)):
        home = next((group for group in found if _fits(index, keys[index], group, siblings)), None)
        if home is None:
            home = _Group(keys[index])
            found.append(home)
        home.members.append(index)
    return found


def _fits(index: int, keys: Sequence[Expr], group: _Group, siblings: Sequence[Sibling]) -> bool:
    have = {to_sql(key) for key in group.keys}
    if not have.issuperset(to_sql(key) for key in keys):
        return False
    if len(have) == len({to_sql(key) for key in keys}):
        return True
    before, _ = _pane([siblings[member] for member in group.members])
    after, _ = _pane([siblings[member] for member in (*group.members, index)])
    return before <= _FINEST * after


def _pane(members: Sequence[Sibling]) -> tuple[int, int]:
    """Size and offset of the longest panes that all windows are made of, milliseconds."""
    offset_ms = members[0].window.offset_ms
    size_ms = 0
    for window in (member.window for member in members):
        size_ms = gcd(size_ms, window.size_ms, window.slide_ms, window.offset_ms - offset_ms)
    return size_ms, offset_ms % size_ms


def _condition(members: Sequence[Sibling]) -> Expr | None:
    """Which rows any of them takes."""
    conditions = list(dict.fromkeys(member.condition for member in members))
    first, *others = conditions
    if any(condition is None for condition in conditions):
        return None
    for other in others:
        assert first is not None
        assert other is not None
        first = Op(BOOLEAN, first.nullable or other.nullable, "OR", (first, other))
    return first


def _slotted(keys: Sequence[Expr], slots: list[Field]) -> Iterator[tuple[str, Expr]]:
    """Each key with a slot of its type; slots are added where none is free."""
    used: set[str] = set()
    for key in keys:
        slot = next((s for s in slots if s.type.sql == key.type.sql and s.name not in used), None)
        if slot is None:
            slot = Field(f"__headrace_pane_key{len(slots)}", key.type)
            slots.append(slot)
        used.add(slot.name)
        yield slot.name, key


OWN_COLUMNS: Final = (GROUP, PANE, ROWS)
"""Columns of panes; an input that has one of that name cannot be put into them."""

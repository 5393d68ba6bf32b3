"""What the state of a fused aggregate holds: key slots by type, values, and the number of each branch.

It is fixed when a query is formed. A branch that goes leaves its slots and values behind, so that the state
of the others can be read on; its values are computed over no rows. The lines are part of the state's
description in the manifest, from which the next compile reads them.

A state whose aggregates are computed in two steps (`chain.panes`) holds what the second one does, which is
another thing than the aggregates themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self

from compiler.chain.partials import Part, part_column, split_aggregate
from compiler.plan.expr import Call, Column, Expr, columns_of, conjunction, transform
from compiler.plan.expr_sql import to_sql
from compiler.plan.operators.fused_aggregate import BRANCH, Branch, Value
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field, Schema
from compiler.plan.types import BOOLEAN, DataType, Simple

if TYPE_CHECKING:
    from compiler.chain.siblings import Sibling

# Stands in a value's text for "a row of a branch that has this value".
_LIVE: Final = "__headrace_live"
_PART: Final = re.compile(rf"\b{part_column(0)[:-1]}(\d+)\b")


class LayoutError(Exception):
    """The input no longer has what the state's layout rests on."""


@dataclass
class _Value:
    """An aggregate: its text with _LIVE in it, its type, the columns that it reads, who has it.

    In two steps, `result` is its text over parts (`part_column`) by their numbers in the layout.
    """

    sql: str
    type: str
    reads: tuple[str, ...]
    type_of: DataType | None = None
    branches: list[int] = field(default_factory=list)
    result: str = ""


@dataclass(frozen=True)
class _Part:
    """A part of aggregates in two steps: its first step as text, the name of the second, the type of both."""

    sql: str
    merge: str
    type: str


@dataclass
class Layout:
    """A layout that grows as branches are added.

    Args:
        uid: the fused operator's.
        in_panes: whether the aggregates are computed in two steps.
    """

    uid: str
    in_panes: bool = False
    _numbers: dict[str, tuple[int, str]] = field(default_factory=dict)
    _slots: list[str] = field(default_factory=list)
    _values: list[_Value] = field(default_factory=list)
    _parts: list[_Part] = field(default_factory=list)

    @classmethod
    def read(cls, lines: Sequence[str]) -> Self:
        """The layout that `lines` gave."""
        found = cls("")
        for line in lines:
            kind, *parts = json.loads(line)
            if kind == "uid":
                found.uid = parts[0]
            elif kind == "branch":
                found._numbers[parts[1]] = (int(parts[0]), parts[2])
            elif kind == "slot":
                found._slots.append(parts[0])
            elif kind == "value":
                found._values.append(_Value(parts[1], parts[0], tuple(parts[2:])))
            elif kind == "part":
                found._parts.append(_Part(parts[2], parts[1], parts[0]))
            elif kind == "result":
                found._values[-1].result = parts[0]
            elif kind == "panes":
                found.in_panes = True
        return found

    def lines(self) -> tuple[str, ...]:
        """The layout as text, the same for the same layout."""
        branches = [_line("branch", str(n), uid, print_) for uid, (n, print_) in self._numbers.items()]
        values: list[str] = []
        for value in self._values:
            values.append(_line("value", value.type, value.sql, *value.reads))
            if self.in_panes:
                values.append(_line("result", value.result))
        first = (_line("uid", self.uid), *([_line("panes")] if self.in_panes else []))
        parts = [_line("part", part.type, part.merge, part.sql) for part in self._parts]
        return (*first, *branches, *(_line("slot", slot) for slot in self._slots), *values, *parts)

    def check(self, schema: Schema) -> None:
        """Sees that the input still has every column that a value reads, with its type.

        Raises:
            LayoutError: it has not.
        """
        own = {_read(name, kind.sql) for name, kind in ((f.name, f.type) for f in schema)}
        for value in self._values:
            for read in value.reads:
                if read not in own:
                    name, _, kind = read.partition(":")
                    raise LayoutError(f"the state holds {value.sql}, and {name} ({kind}) is gone")

    def add(self, sibling: Sibling) -> Branch:
        """The branch of an aggregate; slots and values are added where none fits."""
        uid = sibling.aggregate.uid
        taken = max((number for number, _ in self._numbers.values()), default=0)
        number = self._numbers[uid][0] if uid in self._numbers else taken + 1
        keys: list[NamedExpr] = []
        used: set[int] = set()
        for key, part in sibling.keys:
            if part is None:
                index = self._slot(key.expr.type.sql, used)
                used.add(index)
                keys.append(NamedExpr(_slot_name(index), key.expr))
        for item in sibling.values:
            self._value(item.expr, sibling.input.schema).branches.append(number)
        branch = Branch(
            number=number,
            uid=uid,
            condition=sibling.condition,
            size_ms=sibling.window.size_ms,
            slide_ms=sibling.window.slide_ms,
            offset_ms=sibling.window.offset_ms % sibling.window.period_ms,
            window_condition=sibling.window_condition,
            keys=tuple(keys),
            cumulates=sibling.window.shape == "cumulate",
        )
        self._numbers[uid] = (number, branch.fingerprint())
        return branch

    def slots(self) -> tuple[Field, ...]:
        """The key columns."""
        return tuple(Field(_slot_name(i), Simple(type_)) for i, type_ in enumerate(self._slots))

    def values(self) -> tuple[Value, ...]:
        """The aggregates, each over the rows of the branches that have it."""
        found = []
        for index, value in enumerate(self._values):
            numbers = sorted(set(value.branches))
            # Numbers begin with 1. A plain FALSE would be folded, and the value with it.
            live = f"{BRANCH} IN ({', '.join(map(str, numbers))})" if numbers else f"{BRANCH} < 0"
            type_ = value.type_of or Simple(value.type)
            found.append(Value(_value_name(index), value.sql.replace(_LIVE, live), type_))
        return tuple(found)

    def parts(self, values: Sequence[Expr]) -> dict[int, Part]:
        """The parts of values that were taken apart, by their numbers in the layout."""
        found: dict[int, Part] = {}
        for value in values:
            split = split_aggregate(value)
            assert split is not None
            found.update((self._parts.index(_part(part)), part) for part in split.parts)
        return found

    def merged_values(self, columns: Mapping[int, Mapping[int, str]]) -> tuple[Value, ...]:
        """The second step of the aggregates.

        Args:
            columns: of each part that is asked for, and each branch that has it, the column that holds it.
        """

        def merged(match: re.Match[str]) -> str:
            number = int(match[1])
            part, names = self._parts[number], columns.get(number, {})
            column = _chosen(names) if names else f"CAST(NULL AS {part.type})"
            # Spark keeps what is the same once, and so would what the state holds depend on who asks for it.
            own = ", ".join(map(str, sorted(names) or [-1 - number]))
            return f"{part.merge}({column}) FILTER (WHERE {BRANCH} IN ({own}))"

        return tuple(
            Value(_value_name(index), _PART.sub(merged, value.result), value.type_of or Simple(value.type))
            for index, value in enumerate(self._values)
        )

    def reads(self, time_column: str, branches: Sequence[Branch]) -> tuple[str, ...]:
        """Names of the input's columns that the operator computes anything from, sorted."""
        exprs = [key.expr for branch in branches for key in branch.keys]
        exprs += [e for b in branches for e in (b.condition, b.window_condition) if e is not None]
        found = {name for expr in exprs for name in columns_of(expr)} - {START, END, TIME}
        found.update(read.partition(":")[0] for value in self._values for read in value.reads)
        return tuple(sorted({time_column, *found}))

    def value_name(self, expr: Expr) -> str:
        """The column that holds an aggregate."""
        wanted = (_marked(expr), expr.type.sql)
        return _value_name(next(i for i, v in enumerate(self._values) if (v.sql, v.type) == wanted))

    def _slot(self, type_: str, used: set[int]) -> int:
        for index, slot in enumerate(self._slots):
            if slot == type_ and index not in used:
                return index
        self._slots.append(type_)
        return len(self._slots) - 1

    def _value(self, expr: Expr, schema: Schema) -> _Value:
        sql = _marked(expr)
        for value in self._values:
            if (value.sql, value.type) == (sql, expr.type.sql):
                value.type_of = expr.type
                self._take_apart(value, expr)
                return value
        names = sorted(columns_of(expr) - {START, END, TIME})
        fields = [found for name in names if (found := schema.get(name)) is not None]
        reads = tuple(_read(found.name, found.type.sql) for found in fields)
        self._values.append(_Value(sql, expr.type.sql, reads, expr.type))
        self._take_apart(self._values[-1], expr)
        return self._values[-1]

    def _take_apart(self, value: _Value, expr: Expr) -> None:
        if not self.in_panes:
            return
        split = split_aggregate(expr)
        if split is None:
            raise LayoutError(f"the state is put together from panes, and {to_sql(expr)} cannot be")
        numbers: list[int] = []
        for part in map(_part, split.parts):
            if part not in self._parts:
                self._parts.append(part)
            numbers.append(self._parts.index(part))
        value.result = _PART.sub(lambda match: part_column(numbers[int(match[1])]), to_sql(split.result))


def _part(part: Part) -> _Part:
    return _Part(to_sql(part.call), part.merge, part.type.sql)


def _marked(expr: Expr) -> str:
    """The aggregate's text, with the mark in the filter of each aggregate function."""
    live = Column(BOOLEAN, False, _LIVE)

    def mark(part: Expr) -> Expr | None:
        if isinstance(part, Call) and part.aggregate:
            return replace(part, where=conjunction([live, part.where]) if part.where is not None else live)
        return None

    return to_sql(transform(expr, mark))


def _chosen(names: Mapping[int, str]) -> str:
    """The column that holds a part, by the branches' numbers."""
    every = list(names.values())
    most, *others = sorted(dict.fromkeys(every), key=every.count, reverse=True)
    if not others:
        return most
    branches = {other: sorted(number for number, name in names.items() if name == other) for other in others}
    whens = " ".join(
        f"WHEN {BRANCH} IN ({', '.join(map(str, numbers))}) THEN {other}"
        for other, numbers in branches.items()
    )
    return f"CASE {whens} ELSE {most} END"


def _read(name: str, type_: str) -> str:
    return f"{name}:{type_}"


def _slot_name(index: int) -> str:
    return f"__headrace_key{index}"


def _value_name(index: int) -> str:
    return f"__headrace_value{index}"


def _line(*parts: str) -> str:
    return json.dumps(parts, ensure_ascii=False)

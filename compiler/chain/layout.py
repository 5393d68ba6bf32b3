"""What the state of a fused aggregate holds: key slots by type, values, and the number of each branch.

It is fixed when a query is formed. A branch that goes leaves its slots and values behind, so that the state
of the others can be read on; its values are computed over no rows. The lines are part of the state's
description in the manifest, from which the next compile reads them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Self

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


class LayoutError(Exception):
    """The input no longer has what the state's layout rests on."""


@dataclass
class _Value:
    """An aggregate: its text with _LIVE in it, its type, the columns that it reads, who has it."""

    sql: str
    type: str
    reads: tuple[str, ...]
    type_of: DataType | None = None
    branches: list[int] = field(default_factory=list)


@dataclass
class Layout:
    """A layout that grows as branches are added.

    Args:
        uid: the fused operator's.
    """

    uid: str
    _numbers: dict[str, tuple[int, str]] = field(default_factory=dict)
    _slots: list[str] = field(default_factory=list)
    _values: list[_Value] = field(default_factory=list)

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
        return found

    def lines(self) -> tuple[str, ...]:
        """The layout as text, the same for the same layout."""
        branches = [_line("branch", str(n), uid, print_) for uid, (n, print_) in self._numbers.items()]
        values = [_line("value", value.type, value.sql, *value.reads) for value in self._values]
        return (_line("uid", self.uid), *branches, *(_line("slot", slot) for slot in self._slots), *values)

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
            offset_ms=sibling.window.offset_ms % sibling.window.slide_ms,
            window_condition=sibling.window_condition,
            keys=tuple(keys),
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
                return value
        names = sorted(columns_of(expr) - {START, END, TIME})
        fields = [found for name in names if (found := schema.get(name)) is not None]
        reads = tuple(_read(found.name, found.type.sql) for found in fields)
        self._values.append(_Value(sql, expr.type.sql, reads, expr.type))
        return self._values[-1]


def _marked(expr: Expr) -> str:
    """The aggregate's text, with the mark in the filter of each aggregate function."""
    live = Column(BOOLEAN, False, _LIVE)

    def mark(part: Expr) -> Expr | None:
        if isinstance(part, Call) and part.aggregate:
            return replace(part, where=conjunction([live, part.where]) if part.where is not None else live)
        return None

    return to_sql(transform(expr, mark))


def _read(name: str, type_: str) -> str:
    return f"{name}:{type_}"


def _slot_name(index: int) -> str:
    return f"__headrace_key{index}"


def _value_name(index: int) -> str:
    return f"__headrace_value{index}"


def _line(*parts: str) -> str:
    return json.dumps(parts, ensure_ascii=False)

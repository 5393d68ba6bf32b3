"""GROUP BY that takes rows back, on a bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc
from runtime.spark.buckets.bags import TIMES, TOUCHED, alive, signs
from runtime.spark.buckets.normalize import equal_rows
from runtime.spark.buckets.operator import BucketOperator, Watermarks
from runtime.spark.buckets.ordering import Numbers, OrderBy, looked_up, numbers_of, ranked
from runtime.spark.buckets.state import BucketState, StateTable

_GROUPS, _SIZE, _VALUE = "groups", "__rows", "__value"
_EXACT = Context(prec=80, rounding=ROUND_HALF_UP)


@dataclass(frozen=True)
class Kept:
    """An aggregate.

    Args:
        name: the column of the output.
        function: count, count_distinct, sum, avg, min or max.
        column: the column of the input, or None to count rows.
        type: of the result.
    """

    name: str
    function: str
    column: str | None
    type: pa.DataType


@dataclass(frozen=True)
class AggregateSpec:
    """What is computed.

    Args:
        schema: columns of the input.
        keys: its columns that make a group, at least one.
        names: those of the output that hold the keys, in order; none if the whole table is one group.
        aggregates: what is computed of a group.
        op: the column with the operation of a change.
        ttl_ms: how long a group is kept that gets no row, in processing time, or None.
    """

    schema: pa.Schema
    keys: tuple[str, ...]
    names: tuple[str, ...]
    aggregates: tuple[Kept, ...]
    op: str
    ttl_ms: int | None = None

    def numbers(self, *tables: pa.Table) -> list[Numbers]:
        """Numbers of the groups of several tables, the same for the same keys."""
        return numbers_of(*((table, self.keys) for table in tables))


class ChangingAggregate(BucketOperator):
    """Keeps what can be taken back of each group, and emits the groups that change.

    A count and an exact sum can be subtracted from. MIN, MAX, COUNT(DISTINCT) and what is computed of
    floating numbers, whose sum keeps an error of each value that it ever had, keep the values that are
    there, each once with how often it is.
    """

    def __init__(self, spec: AggregateSpec) -> None:
        self._spec = spec
        keys = [spec.schema.field(key) for key in spec.keys]
        columns = [pa.field(_SIZE, pa.int64())]
        self._values: dict[str, StateTable] = {}
        for number, kept in enumerate(spec.aggregates):
            if kept.column is None:
                continue
            value = spec.schema.field(kept.column).type
            if _keeps_values(kept, value):
                # Aggregates of one argument share its values.
                pair = [pa.field(_VALUE, value), pa.field(TIMES, pa.int64())]
                self._values[kept.column] = StateTable(f"values_{kept.column}", pa.schema([*keys, *pair]))
                continue
            columns.append(pa.field(f"count_{number}", pa.int64()))
            if kept.function in ("sum", "avg"):
                columns.append(pa.field(f"sum_{number}", _sum_type(value)))
        self._groups = pa.schema([*keys, *columns, pa.field(TOUCHED, pa.int64())])

    @property
    def tables(self) -> Sequence[StateTable]:
        return (StateTable(_GROUPS, self._groups), *self._values.values())

    def process(
        self, inputs: Sequence[pa.Table], state: BucketState, watermarks: Watermarks
    ) -> pa.Table | None:
        """Adds and takes back, and compares the groups with what they were."""
        spec, (rows,) = self._spec, inputs
        held = self._alive(state, watermarks.processing_ms)
        sign = signs(rows, spec.op)
        old, new = spec.numbers(held, rows)
        concerned = np.isin(old, new)
        before = held.filter(pa.array(concerned))
        added = self._added(rows, sign, watermarks.processing_ms)
        merged = self._merged(pa.concat_tables([before, added]))
        values = {name: self._move(state, name, rows, sign) for name in self._values}

        # A group without keys is there for good, empty or not.
        there = merged.column(_SIZE).to_numpy() > 0 if spec.names else np.ones(merged.num_rows, np.bool_)
        rest = held.filter(pa.array(~concerned))
        state.write(_GROUPS, pa.concat_tables([rest, merged.filter(pa.array(there))]))

        was = self._results(before, {name: pair[0] for name, pair in values.items()})
        now = self._results(merged, {name: pair[1] for name, pair in values.items()})
        known = before.num_rows  # the first groups of `merged`, in the same order
        changed = np.ones(merged.num_rows, np.bool_)
        changed[:known] = ~there[:known] | ~equal_rows(was, now.slice(0, known))
        put = changed & there
        gone = ~there[:known]
        op = np.where(np.arange(merged.num_rows) < known, "+U", "+I")[put].tolist() + ["-D"] * int(gone.sum())
        emitted = pa.concat_tables([now.filter(pa.array(put)), was.filter(pa.array(gone))])
        return emitted.append_column(spec.op, pa.array(op, pa.string()))

    def _alive(self, state: BucketState, now_ms: int) -> pa.Table:
        """The groups without those whose time to live is over, whose values go too."""
        kept = state.read(_GROUPS)
        held = alive(kept, self._spec.ttl_ms, now_ms)
        if held.num_rows < kept.num_rows:
            for table in self._values.values():
                values = state.read(table.name)
                living, owners = self._spec.numbers(held, values)
                state.write(table.name, values.filter(pa.array(np.isin(owners, living))))
        return held

    def _added(self, rows: pa.Table, sign: Numbers, now_ms: int) -> pa.Table:
        """The rows as what they add to their groups."""
        columns: dict[str, pa.Array | pa.ChunkedArray] = {key: rows.column(key) for key in self._spec.keys}
        columns[_SIZE] = pa.array(sign)
        columns[TOUCHED] = pa.array(np.full(rows.num_rows, now_ms, np.int64))
        for number, kept in enumerate(self._spec.aggregates):
            if f"count_{number}" not in self._groups.names or kept.column is None:
                continue
            value = rows.column(kept.column)
            known = pc.is_valid(value).to_numpy()
            columns[f"count_{number}"] = pa.array(sign * known)
            if f"sum_{number}" in self._groups.names:
                wide = value.cast(self._groups.field(f"sum_{number}").type)
                signed = pc.if_else(pa.array(sign > 0), wide, pc.negate(wide))
                columns[f"sum_{number}"] = pc.fill_null(signed, pa.scalar(Decimal(0), wide.type))
        return pa.table([columns[name] for name in self._groups.names], schema=self._groups)

    def _merged(self, parts: pa.Table) -> pa.Table:
        """One row a group, in the order in which they first come."""
        sums = [name for name in self._groups.names if name not in (*self._spec.keys, TOUCHED)]
        grouped = parts.group_by(list(self._spec.keys), use_threads=False).aggregate(
            [*((name, "sum") for name in sums), (TOUCHED, "max")]
        )
        names = {**{name: f"{name}_sum" for name in sums}, TOUCHED: f"{TOUCHED}_max"}
        return (
            grouped.select([names.get(name, name) for name in self._groups.names])
            .cast(pa.schema([self._groups.field(n).with_name(names.get(n, n)) for n in self._groups.names]))
            .rename_columns(self._groups.names)
        )

    def _move(
        self, state: BucketState, column: str, rows: pa.Table, sign: Numbers
    ) -> tuple[pa.Table, pa.Table]:
        """Adds and takes back values; those of the rows' groups as they were, and as they are."""
        table = self._values[column]
        kept = state.read(table.name)
        held, new = self._spec.numbers(kept, rows)
        concerned = np.isin(held, new)
        before = kept.filter(pa.array(concerned))
        known = pc.is_valid(rows.column(column))
        columns = [*(rows.column(key) for key in self._spec.keys), rows.column(column), pa.array(sign)]
        added = pa.table(columns, schema=table.schema).filter(known)
        by = [*self._spec.keys, _VALUE]
        summed = pa.concat_tables([before, added]).group_by(by, use_threads=False)
        after = summed.aggregate([(TIMES, "sum")]).select([*by, f"{TIMES}_sum"])
        after = after.rename_columns(table.schema.names).cast(table.schema)
        after = after.filter(pc.greater(after.column(TIMES), 0))
        state.write(table.name, pa.concat_tables([kept.filter(pa.array(~concerned)), after]))
        return before, after

    def _results(self, groups: pa.Table, values: Mapping[str, pa.Table]) -> pa.Table:
        """The output's row of each group."""
        spec = self._spec
        names = list(spec.names)
        columns: list[pa.Array | pa.ChunkedArray] = [
            groups.column(key) for key, _ in zip(spec.keys, names, strict=False)
        ]
        for number, kept in enumerate(spec.aggregates):
            names.append(kept.name)
            if kept.column is None:
                columns.append(groups.column(_SIZE))
            elif kept.column in values and _keeps_values(kept, spec.schema.field(kept.column).type):
                columns.append(self._of_values(kept, groups, values[kept.column]))
            elif kept.function == "count":
                columns.append(groups.column(f"count_{number}"))
            else:
                columns.append(_exact(kept, groups.column(f"count_{number}"), groups.column(f"sum_{number}")))
        return pa.table(columns, names=names)

    def _of_values(self, kept: Kept, groups: pa.Table, values: pa.Table) -> pa.Array:
        """An aggregate of the values of each group."""
        spec = self._spec
        if kept.function in ("min", "max"):
            by = OrderBy(_VALUE, descending=kept.function == "max")
            values = values.take(ranked(values, spec.keys, (by,)).first(1).rows)
            wanted, owners = spec.numbers(groups, values)
            place = looked_up(wanted, owners, np.arange(values.num_rows), -1)
            taken = pa.array(place, mask=place < 0)
            return values.column(_VALUE).combine_chunks().take(taken).cast(kept.type)
        # In the order of the values, so that the same values give the same sum.
        values = values.take(ranked(values, (), (OrderBy(_VALUE),)).rows)
        wanted, owners = spec.numbers(groups, values)
        order = np.argsort(owners, kind="stable")
        values, owners = values.take(order), owners[order]
        found, starts = np.unique(owners, return_index=True)
        if kept.function == "count_distinct":
            distinct = np.diff(np.append(starts, len(owners)))
            return pa.array(looked_up(wanted, found, distinct, 0))
        place = looked_up(wanted, found, np.arange(len(found)), -1)
        if not len(found):
            return pa.nulls(len(wanted), kept.type)
        times = values.column(TIMES).to_numpy()
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.add.reduceat(values.column(_VALUE).to_numpy() * times, starts)
            if kept.function == "avg":
                sums = sums / np.add.reduceat(times, starts)
        return pa.array(sums[place], kept.type, mask=place < 0)


def _keeps_values(kept: Kept, value: pa.DataType) -> bool:
    of_floats = kept.function in ("sum", "avg") and pa.types.is_floating(value)
    return of_floats or kept.function in ("min", "max", "count_distinct")


def _sum_type(value: pa.DataType) -> pa.DataType:
    """A decimal in which 10^18 values and more can be added."""
    if pa.types.is_integer(value):
        return pa.decimal128(38, 0)
    return pa.decimal128(38, value.scale) if value.precision <= 20 else pa.decimal256(76, value.scale)


def _exact(kept: Kept, count: pa.ChunkedArray, total: pa.ChunkedArray) -> pa.Array:
    """SUM or AVG of whole numbers or decimals, NULL of none; one that does not fit fails, as in Spark."""
    number = count.to_numpy()
    if kept.function == "sum":
        found = pc.if_else(pa.array(number > 0), total, pa.scalar(None, total.type))
        return found.cast(kept.type)
    sums = total.to_pylist()
    if pa.types.is_floating(kept.type):
        means = [float(s) / n if n else None for s, n in zip(sums, number.tolist(), strict=True)]
        return pa.array(means, kept.type)
    unit = Decimal(1).scaleb(-kept.type.scale)
    exact = (
        _EXACT.divide(s, Decimal(n)).quantize(unit, context=_EXACT) if n else None
        for s, n in zip(sums, number.tolist(), strict=True)
    )
    return pa.array(list(exact), kept.type)

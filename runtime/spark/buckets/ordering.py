"""Groups and their order, by numbers: what rank and frame operators are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.spark.buckets.arrow import compute as pc

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class OrderBy:
    """A column to sort by."""

    column: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rows in the order of their group, and within it.

    Args:
        rows: positions in the table.
        group: the group of each of them, ascending.
        rank: its number in the group, from 1.
    """

    rows: Numbers
    group: Numbers
    rank: Numbers

    def first(self, limit: int) -> Ranked:
        """The first rows of each group."""
        kept = self.rank <= limit
        return Ranked(self.rows[kept], self.group[kept], self.rank[kept])


def group_numbers(table: pa.Table, keys: Sequence[str]) -> Numbers:
    """A number for each row, the same for rows whose keys are the same; NULL is a key like others.

    Without keys all rows are one group.
    """
    return _numbers([table.column(key) for key in keys], table.num_rows)


def numbers_of(*keyed: tuple[pa.Table, Sequence[str]]) -> list[Numbers]:
    """Numbers of the keys of several tables, the same for the same keys; each table has its own names."""
    lengths = [table.num_rows for table, _ in keyed]
    columns = zip(*([table.column(key) for key in keys] for table, keys in keyed), strict=True)
    together = [
        pa.chunked_array([c for column in same for c in column.chunks], same[0].type) for same in columns
    ]
    return list(np.split(_numbers(together, sum(lengths)), np.cumsum(lengths)[:-1]))


def as_compared(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floating numbers that SQL takes for equal as the same bits: the two zeros, and all NaNs."""
    if not pa.types.is_floating(column.type):
        return column
    one_zero = pc.add(column, pa.scalar(0.0, column.type))
    found: pa.ChunkedArray = pc.if_else(pc.is_nan(column), pa.scalar(math.nan, column.type), one_zero)
    return found


def ranked(table: pa.Table, keys: Sequence[str], order: Sequence[OrderBy]) -> Ranked:
    """All rows by group and order; rows of the same order stay in the table's."""
    return ranked_in(group_numbers(table, keys), table, order)


def ranked_in(groups: Numbers, table: pa.Table, order: Sequence[OrderBy]) -> Ranked:
    """All rows by group, whose number each has, and order; rows of the same order stay in the table's."""
    rows = sorted_rows(groups, table, order)
    sorted_groups = groups[rows]
    return Ranked(rows, sorted_groups, _ranks(sorted_groups))


def sorted_rows(groups: Numbers, table: pa.Table, order: Sequence[OrderBy]) -> Numbers:
    """Positions of the rows by group and order; rows of the same order stay in the table's."""
    codes = [code for by in order for code in _sort_codes(table.column(by.column), by)]
    return sorted_by(groups, *codes)


def sorted_by(*codes: Any) -> Numbers:
    """Positions by the first code, then the next ones, then as they are: a stable sort.

    Args:
        codes: whole numbers or flags, each for all rows.
    """
    rows = len(codes[0])
    if not rows:
        return np.empty(0, np.int64)
    bounds = [(int(code.min()), int(code.max())) for code in codes]
    if math.prod(high - low + 1 for low, high in bounds) * rows < 2**63:
        # Codes and position fit into one number. Sorting plain numbers takes a tenth of a sort by several.
        packed = np.zeros(rows, np.int64)
        for code, (low, high) in zip(codes, bounds, strict=True):
            packed *= high - low + 1
            packed += code.astype(np.int64) - low
        packed *= rows
        packed += np.arange(rows)
        packed.sort()
        packed %= rows
        return packed
    # The last key of a lexsort is the first to sort by.
    found: Numbers = np.lexsort(codes[::-1])
    return found


def compact(*groups: Numbers) -> tuple[list[Numbers], int]:
    """Numbers of groups, none of them negative, so small that an array may have one place for each.

    Returns:
        The groups of each array, by other numbers if theirs were large, and the bound of all.
    """
    lengths = [len(numbers) for numbers in groups]
    bound = max((int(numbers.max()) + 1 for numbers in groups if len(numbers)), default=0)
    if bound <= 2 * sum(lengths):
        return list(groups), bound
    encoded = pc.dictionary_encode(pa.array(np.concatenate(groups)))
    indices = encoded.indices.to_numpy().astype(np.int64)
    return list(np.split(indices, np.cumsum(lengths)[:-1])), len(encoded.dictionary)


def looked_up(asked: Numbers, groups: Numbers, values: Numbers, missing: int) -> Numbers:
    """The value of each group that is asked for, or `missing`; `groups` are distinct."""
    (asked, groups), bound = compact(asked, groups)
    of_group = np.full(bound, missing)
    of_group[groups] = values
    found: Numbers = of_group[asked]
    return found


def greatest_of_groups(groups: Numbers, values: Numbers) -> Numbers:
    """For each row the greatest value of its group."""
    (groups,), bound = compact(groups)
    found = np.full(bound, np.iinfo(np.int64).min)
    np.maximum.at(found, groups, values)
    greatest: Numbers = found[groups]
    return greatest


def starts_of(groups: Numbers) -> Numbers:
    """For each row of sorted groups, the position at which its group begins."""
    position = np.arange(len(groups))
    begins = np.ones(len(groups), np.bool_)
    begins[1:] = groups[1:] != groups[:-1]
    found: Numbers = np.maximum.accumulate(np.where(begins, position, 0)) if len(groups) else position
    return found


def microseconds(column: pa.ChunkedArray) -> Numbers:
    """Times as numbers."""
    found: Numbers = column.cast(pa.int64()).to_numpy()
    return found


def _numbers(columns: Sequence[pa.ChunkedArray], rows: int) -> Numbers:
    numbers = np.zeros(rows, np.int64)
    size = 1
    for column in columns:
        encoded = _encoded(column, null_encoding="encode")
        count = max(1, len(encoded.dictionary))
        if size > 2**62 // count:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            size = rows + 1
        numbers = numbers * count + encoded.indices.to_numpy(zero_copy_only=False)
        size *= count
    return numbers


def _ranks(groups: Numbers) -> Numbers:
    ranks: Numbers = np.arange(len(groups)) - starts_of(groups) + 1
    return ranks


def _sort_codes(column: pa.ChunkedArray, by: OrderBy) -> list[Any]:
    """Numbers that sort as the values should; whether it is NULL sorts before them."""
    codes: list[Any] = []
    if column.null_count:
        nulls = pc.is_null(column).to_numpy(zero_copy_only=False)
        codes.append(~nulls if by.nulls_first else nulls)
    if pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
        values = pc.fill_null(column.cast(pa.int64()), 0).to_numpy()
    else:
        # Other types by their place among the distinct values: NaN is the greatest, as in Spark.
        encoded = _encoded(column, null_encoding="mask")
        places = np.zeros(len(encoded.dictionary) + 1, np.int64)
        places[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(encoded.dictionary))
        values = places[pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)]
    # All bits turned sorts the other way round, without the overflow of a minus.
    codes.append(~values if by.descending else values)
    return codes


def _encoded(column: pa.ChunkedArray, null_encoding: str) -> Any:
    """The distinct values, and the places of the column's among them."""
    return pc.dictionary_encode(as_compared(column).combine_chunks(), null_encoding=null_encoding)

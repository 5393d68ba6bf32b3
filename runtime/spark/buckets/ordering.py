"""Groups and their order, by numbers: what rank and frame operators are made of."""

from __future__ import annotations

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
    """A number for each row, the same for rows whose keys are the same; NULL is a key like others."""
    numbers = np.zeros(table.num_rows, np.int64)
    size = 1
    for key in keys:
        encoded = _encoded(table.column(key), null_encoding="encode")
        count = max(1, len(encoded.dictionary))
        if size > 2**62 // count:
            numbers = np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            size = table.num_rows + 1
        numbers = numbers * count + encoded.indices.to_numpy(zero_copy_only=False)
        size *= count
    return numbers


def ranked(table: pa.Table, keys: Sequence[str], order: Sequence[OrderBy]) -> Ranked:
    """All rows by group and order; rows of the same order stay in the table's."""
    groups = group_numbers(table, keys)
    rows = sorted_rows(groups, table, order)
    sorted_groups = groups[rows]
    return Ranked(rows, sorted_groups, _ranks(sorted_groups))


def sorted_rows(groups: Numbers, table: pa.Table, order: Sequence[OrderBy]) -> Numbers:
    """Positions of the rows by group and order; rows of the same order stay in the table's."""
    codes = [code for by in order for code in _sort_codes(table.column(by.column), by)]
    # The last key of a lexsort is the first to sort by.
    found: Numbers = np.lexsort([*reversed(codes), groups])
    return found


def looked_up(asked: Numbers, groups: Numbers, values: Numbers, missing: int) -> Numbers:
    """The value of each group that is asked for, or `missing`; `groups` are distinct."""
    if not len(groups):
        return np.full(len(asked), missing)
    order = np.argsort(groups)
    place = order[np.minimum(np.searchsorted(groups, asked, sorter=order), len(groups) - 1)]
    found: Numbers = np.where(groups[place] == asked, values[place], missing)
    return found


def greatest_of_groups(groups: Numbers, values: Numbers) -> Numbers:
    """For each row the greatest value of its group."""
    distinct, place = np.unique(groups, return_inverse=True)
    found = np.full(len(distinct), np.iinfo(np.int64).min)
    np.maximum.at(found, place, values)
    greatest: Numbers = found[place]
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
        # Other types by their place among the distinct values: NaN is the greatest, as in Spark, and the
        # two zeros are one.
        if pa.types.is_floating(column.type):
            column = pc.add(column, pa.scalar(0.0, column.type))
        encoded = _encoded(column, null_encoding="mask")
        places = np.zeros(len(encoded.dictionary) + 1, np.int64)
        places[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(encoded.dictionary))
        values = places[pc.fill_null(encoded.indices, 0).to_numpy(zero_copy_only=False)]
    # All bits turned sorts the other way round, without the overflow of a minus.
    codes.append(~values if by.descending else values)
    return codes


def _encoded(column: pa.ChunkedArray, null_encoding: str) -> Any:
    return pc.dictionary_encode(column.combine_chunks(), null_encoding=null_encoding)

"""Joins and Top-N of tables that change, on a bucket: after each epoch they are those of the tables."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pytest
from buckets import BucketDriver, table
from hypothesis import given
from tables import (
    LEFT,
    OP,
    ORDER,
    RIGHT,
    Epochs,
    Row,
    check_join,
    check_top,
    first_epoch,
    joined_epochs,
    joiner,
    joins_epoch,
    long,
    seeded,
    top,
    top_epochs,
)

from runtime.spark.buckets.change_join import ChangeJoiner, ChangeJoinSpec, Side
from runtime.spark.buckets.ordering import OrderBy
from runtime.spark.buckets.retracting_top_n import RetractingTopN
from runtime.spark.buckets.top_n import Spec


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
def test_a_join_is_that_of_the_tables_after_each_epoch(kind: str, keyed: bool) -> None:
    @seeded
    @given(joined_epochs)
    def check(epochs: Epochs) -> None:
        check_join(epochs, kind, keyed)

    check()


@pytest.mark.soak
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", ["inner", "left", "right", "full"])
def test_a_join_is_that_of_the_tables_for_long(kind: str, keyed: bool) -> None:
    @long
    @given(joined_epochs)
    def check(epochs: Epochs) -> None:
        check_join(epochs, kind, keyed)

    check()


def test_rows_of_a_join_are_forgotten_without_a_word() -> None:
    """What was joined with them stays, a later partner does not find them, nothing is taken back twice."""
    driver = BucketDriver(joiner("left", None, ttl_ms=1000))
    epoch = partial(joins_epoch, driver)

    one, two = (1, "a", 1), (2, "a", 2)
    mine, other = (7, "a", 0.5), (8, "a", 1.5)
    assert epoch(0, [(*one, "+I")], []) == [("+I", 1, None)]
    assert epoch(900, [], [(*mine, "+I")]) == [("-D", 1, None), ("+I", 1, 7)]
    # The row 1 changed when it ceased to be alone, but it did not come again: its time is over.
    assert epoch(1100, [(*two, "+I")], [(*other, "+I")]) == [("+I", 2, 7), ("+I", 2, 8)]
    assert epoch(1200, [(*one, "-D")], []) == []
    # The partner 7 is forgotten, 8 is not; neither leaves 2 alone without having been taken back.
    assert epoch(2000, [], [(*mine, "-D")]) == []
    assert epoch(2050, [], [(*other, "-D")]) == [("-D", 2, 8), ("+I", 2, None)]


def test_what_changes_nothing_of_a_join_writes_nothing() -> None:
    driver = BucketDriver(joiner("full", ("l", "r")))
    row = (1, "a", 1)
    driver.epoch(table(LEFT.append(OP), [(*row, "+I")]), table(RIGHT.append(OP), []))
    driver.stores[0].written.clear()
    again = [(*row, "-U"), (*row, "+U")]
    assert driver.epoch(table(LEFT.append(OP), again), table(RIGHT.append(OP), [])) == []
    assert driver.stores[0].written == []


def test_of_equal_rows_each_lives_by_itself() -> None:
    driver = BucketDriver(joiner("left", None, ttl_ms=1000))
    epoch = partial(joins_epoch, driver)

    row, mine = (1, "a", 1), (7, "a", 0.5)
    assert epoch(0, [(*row, "+I")], []) == [("+I", 1, None)]
    assert epoch(600, [(*row, "+I")], []) == [("+I", 1, None)]
    # The one of 0 is forgotten, that of 600 is not.
    assert epoch(1100, [], [(*mine, "+I")]) == [("-D", 1, None), ("+I", 1, 7)]
    assert epoch(1200, [(*row, "-D"), (*row, "-D")], []) == [("-D", 1, 7)]
    assert epoch(1300, [(*row, "-D")], []) == []


# --- Top-N ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("limit", [1, 3])
def test_the_first_rows_are_those_of_the_table_after_each_epoch(limit: int, keyed: bool) -> None:
    @seeded
    @given(top_epochs)
    def check(epochs: list[list[tuple[bool, Row]]]) -> None:
        check_top(epochs, limit, keyed)

    check()


@pytest.mark.soak
@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("limit", [1, 3])
def test_the_first_rows_are_those_of_the_table_for_long(limit: int, keyed: bool) -> None:
    @long
    @given(top_epochs)
    def check(epochs: list[list[tuple[bool, Row]]]) -> None:
        check_top(epochs, limit, keyed)

    check()


def test_a_group_of_first_rows_is_forgotten_as_a_whole() -> None:
    driver = BucketDriver(top(1, None, ttl_ms=1000))
    epoch = partial(first_epoch, driver)

    assert epoch(0, (1, "a", 5, "+I")) == [("+I", 1)]
    assert epoch(900, (2, "a", 3, "+I")) == []
    assert epoch(1500, (1, "a", 5, "-D")) == [("-U", 1), ("+U", 2)]
    assert epoch(3000, (2, "a", 3, "-D")) == []
    assert epoch(3000, (3, "a", 1, "+I")) == [("+I", 3)]


def test_a_group_that_an_epoch_leaves_as_it_was_is_not_touched() -> None:
    driver = BucketDriver(top(2, "n", ttl_ms=1000))
    epoch = partial(first_epoch, driver)

    a, b = (1, "a", 5), (2, "b", 5)
    epoch(0, (*a, "+I"), (*b, "+I"))
    # Of `a` nothing changes; of `b` a row comes and another goes.
    assert epoch(900, (*a, "-U"), (*a, "+U"), (3, "b", 5, "+I"), (*b, "-D")) == [("-U", 2), ("+U", 3)]
    assert epoch(1100, (*a, "-D"), (3, "b", 5, "-D")) == [("-D", 3)]


def test_without_keys_all_rows_are_one_group() -> None:
    spec = Spec(LEFT, (), ORDER, 1, op="op")
    driver = BucketDriver(lambda: RetractingTopN(spec, LEFT.names))

    def epoch(*rows: Row) -> list[tuple[str, int]]:
        return [(row["op"], row["l"]) for row in driver.epoch(table(LEFT.append(OP), rows))]

    assert epoch((1, "a", 5, "+I")) == [("+I", 1)]
    assert epoch((2, "b", 6, "+I")) == [("-U", 1), ("+U", 2)]
    assert epoch((2, "b", 6, "-D")) == [("-U", 2), ("+U", 1)]


# --- floating numbers that SQL takes for equal ------------------------------------------------------------

ZERO, NAN = -0.0, float("nan")
OTHER_NAN = struct.unpack("d", struct.pack("Q", 0xFFF8000000000001))[0]


@pytest.mark.parametrize(("value", "equal"), [(ZERO, 0.0), (NAN, OTHER_NAN)])
def test_a_row_is_taken_back_by_one_that_is_equal(value: float, equal: float) -> None:
    spec = Spec(RIGHT, ("j",), (OrderBy("r"),), 1, op="op")
    driver = BucketDriver(lambda: RetractingTopN(spec, RIGHT.names))

    def epoch(*rows: Row) -> list[tuple[str, int]]:
        return [(row["op"], row["r"]) for row in driver.epoch(table(RIGHT.append(OP), rows))]

    assert epoch((1, "a", value, "+I"), (2, "a", 1.0, "+I")) == [("+I", 1)]
    assert epoch((1, "a", equal, "-D")) == [("-U", 1), ("+U", 2)]


@pytest.mark.parametrize(("value", "equal"), [(ZERO, 0.0), (NAN, OTHER_NAN)])
def test_keys_of_a_join_are_equal_as_in_sql(value: float, equal: float) -> None:
    schemas = [pa.schema([(f"n{side}", pa.int64()), (f"x{side}", pa.float64())]) for side in (0, 1)]
    sides = [Side(s, (s.names[1],), tuple(s.names), tuple(s.names), outer=True) for s in schemas]
    driver = BucketDriver(lambda: ChangeJoiner(ChangeJoinSpec((sides[0], sides[1]), None, "op")))

    def epoch(left: Sequence[Row], right: Sequence[Row]) -> list[Row]:
        inputs = (table(s.append(OP), rows) for s, rows in zip(schemas, (left, right), strict=True))
        return [(row["op"], row["n0"], row["n1"]) for row in driver.epoch(*inputs)]

    assert epoch([(1, value, "+I")], []) == [("+I", 1, None)]
    assert epoch([], [(2, equal, "+I")]) == [("-D", 1, None), ("+I", 1, 2)]
    assert epoch([(1, equal, "-D")], []) == [("-D", 1, 2), ("+I", None, 2)]

"""Joins and Top-N of tables that change, on a bucket: after each epoch they are those of the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from bucket_streams import query
from buckets import BucketDriver, table
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from runtime.spark.buckets import BucketOperator
from runtime.spark.buckets.change_join import ChangeJoiner, ChangeJoinSpec, Side
from runtime.spark.buckets.ordering import OrderBy
from runtime.spark.buckets.retracting_top_n import RetractingTopN
from runtime.spark.buckets.top_n import Spec

LEFT = pa.schema([("l", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
RIGHT = pa.schema([("r", pa.int64()), ("j", pa.string()), ("y", pa.float64())])
_OP = pa.field("op", pa.string())

_KEY = st.sampled_from(["a", "b", "ö", None])
_LEFT_ROW = st.tuples(st.integers(0, 5), _KEY, st.one_of(st.none(), st.integers(0, 2)))
_RIGHT_ROW = st.tuples(st.integers(0, 5), _KEY, st.one_of(st.none(), st.sampled_from([0.5, float("nan")])))
Row = tuple[Any, ...]

# Phases: a failing example is told as it is, since making it small takes minutes.
seeded = settings(
    phases=(Phase.explicit, Phase.generate), derandomize=True, max_examples=25, deadline=None, database=None
)
long = settings(seeded, max_examples=400)


class Table:
    """A table that changes; without a key it may have one row several times."""

    def __init__(self, keyed: bool) -> None:
        self.keyed = keyed
        self.rows: list[Row] = []

    def epoch(self, wanted: Sequence[tuple[bool, Row]]) -> list[Row]:
        """Lets rows come and go; what became of that in the epoch, with operations, those that go first."""
        before = list(self.rows)
        for comes, row in wanted:
            if self.keyed:
                self.rows = [other for other in self.rows if other[0] != row[0]]
            elif not comes and row in self.rows:
                self.rows.remove(row)
            if comes:
                self.rows.append(row)
        gone, come = _minus(before, self.rows), _minus(self.rows, before)
        return [(*row, "-D") for row in gone] + [(*row, "+I") for row in come]


def _minus(rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    left = Counter(map(repr, others))
    found = []
    for row in rows:
        left[repr(row)] -= 1
        if left[repr(row)] < 0:
            found.append(row)
    return found


class Result:
    """The table that the changes of an operator make, each of which must tell the truth."""

    def __init__(self, key: Sequence[str] | None) -> None:
        self.key = key
        self.rows: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()

    def take(self, changes: Sequence[dict[str, Any]]) -> None:
        ops: dict[str, list[str]] = {}
        for change in changes:
            row = {name: value for name, value in change.items() if name != "op"}
            goes = change["op"] in ("-U", "-D")
            text = repr(tuple(row.values()))
            self.rows[text] += -1 if goes else 1
            assert self.rows[text] >= 0, "a row is taken back that is not there"
            if self.key is not None:
                key = repr([row[name] for name in self.key])
                self._keys[key] += -1 if goes else 1
                ops.setdefault(key, []).append(change["op"])
        # Halves of a change that go through two buckets do not know of each other.
        allowed = ({"-D"}, {"+I"}, {"-D", "+I"}, {"-U", "+U"})
        assert all(set(found) in allowed and len(found) == len(set(found)) for found in ops.values())
        assert all(count in (0, 1) for count in self._keys.values())

    def check(self, expected: Sequence[Row]) -> None:
        assert +self.rows == Counter(map(repr, expected))


def side(schema: pa.Schema, key: str, outer: bool) -> Side:
    names = tuple(schema.names)
    return Side(schema, (key,), names, names, outer)


def joiner(kind: str, key: tuple[str, ...] | None, ttl_ms: int | None = None) -> Callable[[], BucketOperator]:
    sides = (side(LEFT, "k", kind in ("left", "full")), side(RIGHT, "j", kind in ("right", "full")))
    return lambda: ChangeJoiner(ChangeJoinSpec(sides, key, "op", ttl_ms))


Epochs = list[tuple[list[tuple[bool, Row]], list[tuple[bool, Row]]]]
_MOVES = st.tuples(
    st.lists(st.tuples(st.booleans(), _LEFT_ROW), max_size=6),
    st.lists(st.tuples(st.booleans(), _RIGHT_ROW), max_size=6),
)
joined_epochs = st.lists(_MOVES, min_size=1, max_size=5)


def check_join(epochs: Epochs, kind: str, keyed: bool) -> None:
    left, right = Table(keyed), Table(keyed)
    key = ("l", "r") if keyed else None
    driver = BucketDriver(joiner(kind, key), 2, lambda row: len((row.get("k") or row.get("j")) or "") % 2)
    result = Result(key)
    for lefts, rights in epochs:
        inputs = (
            table(LEFT.append(_OP), left.epoch(lefts)),
            table(RIGHT.append(_OP), right.epoch(rights)),
        )
        result.take(driver.epoch(*inputs))
        result.check(_joined(kind, left.rows, right.rows))


def _joined(kind: str, lefts: Sequence[Row], rights: Sequence[Row]) -> list[Row]:
    sql = f"SELECT * FROM rows {kind} JOIN rights ON k = j"
    return query(sql, table(LEFT, lefts), rights=table(RIGHT, rights))


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

    def epoch(now: int, lefts: Sequence[Row], rights: Sequence[Row]) -> list[Row]:
        driver.processing_ms = now
        found = driver.epoch(table(LEFT.append(_OP), lefts), table(RIGHT.append(_OP), rights))
        return [(row["op"], row["l"], row["r"]) for row in found]

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
    driver.epoch(table(LEFT.append(_OP), [(*row, "+I")]), table(RIGHT.append(_OP), []))
    driver.stores[0].written.clear()
    again = [(*row, "-U"), (*row, "+U")]
    assert driver.epoch(table(LEFT.append(_OP), again), table(RIGHT.append(_OP), [])) == []
    assert driver.stores[0].written == []


# --- Top-N ------------------------------------------------------------------------------------------------

top_epochs = st.lists(st.lists(st.tuples(st.booleans(), _LEFT_ROW), max_size=7), min_size=1, max_size=6)
_ORDER = (OrderBy("x", descending=True, nulls_first=False), OrderBy("l"))


def top(limit: int, rank: str | None, ttl_ms: int | None = None) -> Callable[[], BucketOperator]:
    spec = Spec(LEFT, ("k",), _ORDER, limit, rank=rank, op="op", ttl_ms=ttl_ms)
    return lambda: RetractingTopN(spec, LEFT.names)


def check_top(epochs: list[list[tuple[bool, Row]]], limit: int, keyed: bool) -> None:
    rank = "n" if limit > 1 else None
    rows, key = Table(keyed), ("k", "n") if limit > 1 else ("k",)
    driver = BucketDriver(top(limit, rank), 2, lambda row: len(row["k"] or "") % 2)
    result = Result(key)
    number = "row_number() OVER (PARTITION BY k ORDER BY x DESC NULLS LAST, l)"
    for moves in epochs:
        result.take(driver.epoch(table(LEFT.append(_OP), rows.epoch(moves))))
        sql = f"SELECT *, {number}::INT AS n FROM rows QUALIFY n <= {limit}"
        found = query(sql, table(LEFT, rows.rows))
        result.check([row if rank else row[:-1] for row in found])


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

    def epoch(now: int, *rows: Row) -> list[tuple[str, int]]:
        driver.processing_ms = now
        return [(row["op"], row["l"]) for row in driver.epoch(table(LEFT.append(_OP), rows))]

    assert epoch(0, (1, "a", 5, "+I")) == [("+I", 1)]
    assert epoch(900, (2, "a", 3, "+I")) == []
    assert epoch(1500, (1, "a", 5, "-D")) == [("-U", 1), ("+U", 2)]
    assert epoch(3000, (2, "a", 3, "-D")) == []
    assert epoch(3000, (3, "a", 1, "+I")) == [("+I", 3)]

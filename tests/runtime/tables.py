"""Tables that change, their joins and first rows, and the operators that follow them on a bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
from bucket_streams import query
from buckets import BucketDriver, table
from hypothesis import Phase, settings
from hypothesis import strategies as st

from runtime.spark.buckets import BucketOperator
from runtime.spark.buckets.change_join import ChangeJoiner, ChangeJoinSpec, Side
from runtime.spark.buckets.ordering import OrderBy
from runtime.spark.buckets.retracting_top_n import RetractingTopN
from runtime.spark.buckets.top_n import Spec

LEFT = pa.schema([("l", pa.int64()), ("k", pa.string()), ("x", pa.int64())])
RIGHT = pa.schema([("r", pa.int64()), ("j", pa.string()), ("y", pa.float64())])
OP = pa.field("op", pa.string())

_KEY = st.sampled_from(["a", "b", "ö", None])
LEFT_ROW = st.tuples(st.integers(0, 5), _KEY, st.one_of(st.none(), st.integers(0, 2)))
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
    """The table that the changes of an operator make, each of which must tell the truth.

    Args:
        key: columns of which no two rows are the same, or None.
        bucket_of: where a change comes from. Halves of a change from two buckets do not know of each other.
    """

    def __init__(self, key: Sequence[str] | None, bucket_of: Callable[[dict[str, Any]], int]) -> None:
        self.key = key
        self.bucket_of = bucket_of
        self.rows: Counter[str] = Counter()
        self._keys: Counter[str] = Counter()

    def take(self, changes: Sequence[dict[str, Any]]) -> None:
        ops: dict[tuple[str, int], list[str]] = {}
        for change in changes:
            row = {name: value for name, value in change.items() if name != "op"}
            goes = change["op"] in ("-U", "-D")
            text = repr(tuple(row.values()))
            self.rows[text] += -1 if goes else 1
            assert self.rows[text] >= 0, "a row is taken back that is not there"
            if self.key is not None:
                key = repr([row[name] for name in self.key])
                self._keys[key] += -1 if goes else 1
                ops.setdefault((key, self.bucket_of(row)), []).append(change["op"])
        assert all(found in (["-D"], ["+I"], ["-U", "+U"]) for found in ops.values())
        assert all(count in (0, 1) for count in self._keys.values())

    def check(self, expected: Sequence[Row]) -> None:
        assert +self.rows == Counter(map(repr, expected))


def bucket_of(row: dict[str, Any]) -> int:
    return {"a": 0, "b": 0}.get(row.get("k") or row.get("j") or "a", 1)


def side(schema: pa.Schema, key: str, outer: bool) -> Side:
    names = tuple(schema.names)
    return Side(schema, (key,), names, names, outer)


def joiner(kind: str, key: tuple[str, ...] | None, ttl_ms: int | None = None) -> Callable[[], BucketOperator]:
    sides = (side(LEFT, "k", kind in ("left", "full")), side(RIGHT, "j", kind in ("right", "full")))
    return lambda: ChangeJoiner(ChangeJoinSpec(sides, key, "op", ttl_ms))


Epochs = list[tuple[list[tuple[bool, Row]], list[tuple[bool, Row]]]]
_MOVES = st.tuples(
    st.lists(st.tuples(st.booleans(), LEFT_ROW), max_size=6),
    st.lists(st.tuples(st.booleans(), _RIGHT_ROW), max_size=6),
)
joined_epochs = st.lists(_MOVES, min_size=1, max_size=5)


def check_join(epochs: Epochs, kind: str, keyed: bool) -> None:
    left, right = Table(keyed), Table(keyed)
    key = ("l", "r") if keyed else None
    driver = BucketDriver(joiner(kind, key), 2, bucket_of)
    result = Result(key, bucket_of)
    for lefts, rights in epochs:
        inputs = (
            table(LEFT.append(OP), left.epoch(lefts)),
            table(RIGHT.append(OP), right.epoch(rights)),
        )
        result.take(driver.epoch(*inputs))
        result.check(_joined(kind, left.rows, right.rows))


def _joined(kind: str, lefts: Sequence[Row], rights: Sequence[Row]) -> list[Row]:
    sql = f"SELECT * FROM rows {kind} JOIN rights ON k = j"
    return query(sql, table(LEFT, lefts), rights=table(RIGHT, rights))


def joins_epoch(driver: BucketDriver, now: int, lefts: Sequence[Row], rights: Sequence[Row]) -> list[Row]:
    """An epoch of a join at a processing time in milliseconds: operations, and the numbers of the rows."""
    driver.processing_ms = now
    found = driver.epoch(table(LEFT.append(OP), lefts), table(RIGHT.append(OP), rights))
    return [(row["op"], row["l"], row["r"]) for row in found]


def first_epoch(driver: BucketDriver, now: int, *rows: Row) -> list[tuple[str, int]]:
    """An epoch of first rows at a processing time in milliseconds: operations, and numbers of rows."""
    driver.processing_ms = now
    return [(row["op"], row["l"]) for row in driver.epoch(table(LEFT.append(OP), rows))]


top_epochs = st.lists(st.lists(st.tuples(st.booleans(), LEFT_ROW), max_size=7), min_size=1, max_size=6)
ORDER = (OrderBy("x", descending=True, nulls_first=False), OrderBy("l"))


def top(limit: int, rank: str | None, ttl_ms: int | None = None) -> Callable[[], BucketOperator]:
    spec = Spec(LEFT, ("k",), ORDER, limit, rank=rank, op="op", ttl_ms=ttl_ms)
    return lambda: RetractingTopN(spec, LEFT.names)


def check_top(epochs: list[list[tuple[bool, Row]]], limit: int, keyed: bool) -> None:
    rank = "n" if limit > 1 else None
    rows, key = Table(keyed), ("k", "n") if limit > 1 else ("k",)
    driver = BucketDriver(top(limit, rank), 2, bucket_of)
    result = Result(key, bucket_of)
    number = "row_number() OVER (PARTITION BY k ORDER BY x DESC NULLS LAST, l)"
    for moves in epochs:
        result.take(driver.epoch(table(LEFT.append(OP), rows.epoch(moves))))
        sql = f"SELECT *, {number}::INT AS n FROM rows QUALIFY n <= {limit}"
        found = query(sql, table(LEFT, rows.rows))
        result.check([row if rank else row[:-1] for row in found])

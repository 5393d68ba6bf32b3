"""Groups over changes on a bucket: after each epoch they are what DuckDB makes of the table as it is then."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from bucket_streams import query
from buckets import BucketDriver, table
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from runtime.spark.buckets.change_aggregate import AggregateSpec, ChangingAggregate, Kept
from runtime.spark.buckets.normalize import Normalizer, NormalizeSpec

ROWS = pa.schema(
    [
        ("id", pa.int64()),
        ("k", pa.string()),
        ("v", pa.int64()),
        ("x", pa.float64()),
        ("d", pa.decimal128(10, 2)),
        ("s", pa.string()),
    ]
)
CHANGES = ROWS.append(pa.field("op", pa.string())).append(pa.field("at", pa.int64()))
RETRACTIONS = ROWS.append(pa.field("op", pa.string()))

NORMALIZED = NormalizeSpec(ROWS, keys=("id",), op="op", order=("at",))
GROUPED = AggregateSpec(
    RETRACTIONS,
    keys=("k",),
    names=("k",),
    aggregates=(
        Kept("n", "count", None, pa.int64()),
        Kept("known", "count", "v", pa.int64()),
        Kept("total", "sum", "v", pa.int64()),
        Kept("mean", "avg", "v", pa.float64()),
        Kept("price", "sum", "d", pa.decimal128(20, 2)),
        Kept("average", "avg", "d", pa.decimal128(14, 6)),
        Kept("least", "min", "v", pa.int64()),
        Kept("most", "max", "s", pa.string()),
        Kept("kinds", "count_distinct", "s", pa.int64()),
        Kept("weight", "sum", "x", pa.float64()),
        Kept("middle", "avg", "x", pa.float64()),
    ),
    op="op",
)
ORACLE = """
SELECT {key} count(*), count(v), sum(v)::BIGINT, avg(v), sum(d)::DECIMAL(20, 2), list(d), min(v), max(s),
    count(DISTINCT s), sum(x), avg(x) FROM rows {group}
"""

# Sums of these are exact in binary, whatever their order.
_ROW = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.one_of(st.none(), st.integers(-5, 5)),
    st.one_of(st.none(), st.sampled_from([0.5, -1.25, 3.0, 1e6])),
    st.one_of(st.none(), st.decimals(-99, 99, places=2)),
    st.one_of(st.none(), st.sampled_from(["p", "q", "ö"])),
)
_CHANGE = st.tuples(st.sampled_from(["+I", "+U", "+U", "-D"]), st.integers(0, 5), _ROW)
Epoch = list[tuple[str, int, tuple[Any, ...]]]
streams = st.lists(st.lists(_CHANGE, max_size=8), min_size=1, max_size=6)

# Phases: a failing example is told as it is, since making it small takes minutes.
seeded = settings(
    phases=(Phase.explicit, Phase.generate), derandomize=True, max_examples=40, deadline=None, database=None
)


class Chain:
    """A normaliser by `id` and groups above it, and the tables that they keep."""

    def __init__(self, normalized: NormalizeSpec = NORMALIZED, grouped: AggregateSpec = GROUPED) -> None:
        self.normalizer = BucketDriver(lambda: Normalizer(normalized), 2, lambda row: row["id"] % 2)
        self.groups = BucketDriver(lambda: ChangingAggregate(grouped), 2, lambda row: len(row["k"] or "") % 2)
        self.grouped = grouped
        self.rows: dict[int, tuple[Any, ...]] = {}
        self.seen: set[int] = set()
        self.result: dict[tuple[Any, ...], dict[str, Any]] = {}

    def epoch(self, changes: Epoch, *, shuffled: bool = True) -> None:
        given = [(id_, *row, op, at) for at, (op, id_, row) in enumerate(changes)]
        # They come in any order: `at` says which is theirs.
        emitted = self.normalizer.epoch(table(CHANGES, given[::-1] if shuffled else given))
        self._check_normalized(changes, emitted)
        rows = [tuple(change[name] for name in RETRACTIONS.names) for change in emitted]
        for change in self.groups.epoch(table(RETRACTIONS, rows)):
            key = tuple(change[name] for name in self.grouped.names)
            row = {name: value for name, value in change.items() if name != "op"}
            if change["op"] == "-D":
                assert self.result.pop(key) == row
            else:
                assert (change["op"] == "+U") == (key in self.result)
                assert self.result.get(key) != row, "a change that changes nothing"
                self.result[key] = row

    def _check_normalized(self, changes: Epoch, emitted: list[dict[str, Any]]) -> None:
        before = dict(self.rows)
        for op, id_, row in changes:
            self.rows.pop(id_, None)
            if op != "-D":
                self.rows[id_] = row
        for change in emitted:
            row = tuple(change[name] for name in ROWS.names[1:])
            if change["op"] in ("-U", "-D"):
                assert before.pop(change["id"]) == row
                assert (change["op"] == "-D") == (change["id"] not in self.rows)
            else:
                assert (change["op"] == "+U") == (change["id"] not in before and change["id"] in self.seen)
                before[change["id"]] = row
        assert before == self.rows
        self.seen = set(self.rows)
        pairs = sorted((change["id"], change["op"]) for change in emitted)
        assert len(pairs) == len(set(pairs))

    def expected(self) -> dict[tuple[Any, ...], list[Any]]:
        rows = table(ROWS, [(id_, *row) for id_, row in self.rows.items()])
        keyed = bool(self.grouped.names)
        sql = ORACLE.format(key="k," if keyed else "", group="GROUP BY k" if keyed else "")
        found = {}
        for row in query(sql, rows):
            values = list(row[len(self.grouped.names) :])
            known = [value for value in values[5] or () if value is not None]
            # Half up, as Spark's; DuckDB has no exact mean.
            values[5] = sum(known) / len(known) if known else None
            found[row[: len(self.grouped.names)]] = values
        return found

    def check(self) -> None:
        names = [kept.name for kept in self.grouped.aggregates]
        expected = self.expected()
        assert self.result.keys() == expected.keys()
        for key, row in self.result.items():
            for name, wanted in zip(names, expected[key], strict=True):
                if name == "average" and wanted is not None:
                    assert abs(row[name] - wanted) <= Decimal("0.0000005")
                else:
                    assert row[name] == wanted, name


@seeded
@given(streams)
def test_groups_are_those_of_the_table_after_each_epoch(epochs: list[Epoch]) -> None:
    chain = Chain()
    for changes in epochs:
        chain.epoch(changes)
        chain.check()


@seeded
@given(streams)
def test_the_whole_table_is_one_group_that_never_goes(epochs: list[Epoch]) -> None:
    rows = RETRACTIONS.append(pa.field("one", pa.int32()))
    whole = replace(GROUPED, schema=rows, keys=("one",), names=())
    chain = Chain(grouped=whole)
    chain.groups = BucketDriver(lambda: _WithOne(whole))
    for changes in epochs:
        chain.epoch(changes)
        if chain.result:
            chain.check()


class _WithOne(ChangingAggregate):
    """The constant key that stands for none."""

    def process(self, inputs: Any, state: Any, watermarks: Any) -> Any:
        (rows,) = inputs
        one = rows.append_column("one", pa.array([0] * rows.num_rows, pa.int32()))
        return super().process([one], state, watermarks)


def test_an_average_is_rounded_half_up() -> None:
    chain = Chain()
    row = ("a", None, None)
    values = [Decimal("0.01"), Decimal("0.00"), Decimal("0.00")]
    chain.epoch([("+I", number, (*row, value, None)) for number, value in enumerate(values)])
    assert chain.result[("a",)]["average"] == Decimal("0.003333")
    chain.epoch([("+U", 1, (*row, Decimal("0.01"), None))])
    assert chain.result[("a",)]["average"] == Decimal("0.006667")


def test_a_floating_sum_keeps_nothing_of_what_is_gone() -> None:
    chain = Chain()
    chain.epoch([("+I", 1, ("a", None, 1e30, None, None)), ("+I", 2, ("a", None, 0.1, None, None))])
    chain.epoch([("-D", 1, ("a", None, None, None, None))])
    assert chain.result[("a",)]["weight"] == 0.1


def test_a_sum_that_does_not_fit_fails() -> None:
    chain = Chain()
    largest = 2**63 - 1
    chain.epoch([("+I", 1, ("a", largest, None, None, None))])
    assert chain.result[("a",)]["total"] == largest
    with pytest.raises(pa.ArrowInvalid, match="out of bounds"):
        chain.epoch([("+I", 2, ("a", 1, None, None, None))])


def test_what_changes_nothing_writes_nothing() -> None:
    chain = Chain()
    change: Epoch = [("+I", 2, ("a", 1, None, None, "p"))]
    chain.epoch(change)
    chain.normalizer.stores[0].written.clear()
    chain.epoch(change)
    assert chain.normalizer.stores[0].written == []


def test_a_group_begins_anew_when_its_time_to_live_is_over() -> None:
    """Its values are forgotten with it; another group that got a row in time is kept."""
    schema = pa.schema([field for field in RETRACTIONS if field.name != "op"])
    driver = BucketDriver(lambda: ChangingAggregate(replace(GROUPED, schema=schema, ttl_ms=1000)))

    def epoch(now: int, *rows: tuple[str, int]) -> dict[str, tuple[str, int, int, int]]:
        driver.processing_ms = now
        made = [(0, key, value, None, None, None) for key, value in rows]
        found = driver.epoch(table(schema, made))
        return {row["k"]: (row["op"], row["n"], row["total"], row["least"]) for row in found}

    assert epoch(0, ("a", 1), ("b", 1)) == {"a": ("+I", 1, 1, 1), "b": ("+I", 1, 1, 1)}
    assert epoch(999, ("b", 2)) == {"b": ("+U", 2, 3, 1)}
    assert epoch(1500, ("a", 5), ("b", 3)) == {"a": ("+I", 1, 5, 5), "b": ("+U", 3, 6, 1)}


def test_a_row_is_forgotten_when_its_time_to_live_is_over() -> None:
    spec = replace(NORMALIZED, ttl_ms=1000)
    driver = BucketDriver(lambda: Normalizer(spec))

    def epoch(now: int, value: int) -> list[str]:
        driver.processing_ms = now
        rows = driver.epoch(table(CHANGES, [(1, "a", value, None, None, None, "+U", 0)]))
        return [row["op"] for row in rows]

    assert [epoch(0, 1), epoch(999, 2), epoch(1998, 2), epoch(2997, 3)] == [
        ["+I"],
        ["-U", "+U"],
        [],
        ["-U", "+U"],
    ]
    assert epoch(3997, 4) == ["+I"]

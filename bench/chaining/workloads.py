"""What every system of the bench computes. Standard library only, so that any environment can import it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DELAY_S: Final = 10
"""How far the watermark lags behind."""
BASE_MS: Final = 1_767_225_600_000
"""2026-01-01 00:00 UTC, the time of the first row."""
FAR_MS: Final = BASE_MS + 86_400_000
"""The time of the one row that closes all windows; those from here on are not compared."""
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""What keeps the state of all that run on Spark."""

COLUMNS: Final = {
    "id": "BIGINT",
    "customer": "STRING",
    "merchant": "STRING",
    "amount": "DOUBLE",
    "ms": "BIGINT",
    "currency": "STRING",
    "note": "STRING",
}
"""What a row of the source has; `ts` is its `ms` as a timestamp, and its event time."""

RATES: Final = {
    "USD": 1.0, "EUR": 1.1, "GBP": 1.3, "CHF": 1.12, "CAD": 0.73, "PLN": 0.25, "SEK": 0.095, "JPY": 0.007,
}  # fmt: skip
_RATE = (
    "CASE currency "
    + " ".join(f"WHEN '{code}' THEN CAST({rate} AS DOUBLE)" for code, rate in RATES.items())
    + " ELSE CAST(1.0 AS DOUBLE) END"
)
_BAND = "CASE WHEN amount < 10 THEN 'low' WHEN amount < 50 THEN 'mid' ELSE 'high' END"


@dataclass(frozen=True)
class Windows:
    """A sink of sums and counts by window and keys: columns window_start, the keys, total, n."""

    name: str
    seconds: int
    keys: tuple[str, ...]
    source: str = "parsed"
    value: str = "amount"
    slide: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Its output."""
        return ("window_start", *self.keys, "total", "n")


@dataclass(frozen=True)
class Rows:
    """A sink, or a model, that gives a row for a row: `SELECT items FROM source WHERE condition`.

    The text is SQL that all systems understand; names are none that one of them reserves (Flink: `large`).
    """

    name: str
    items: tuple[str, ...]
    source: str = "parsed"
    condition: str = ""

    @property
    def sql(self) -> str:
        """The query."""
        where = f" WHERE {self.condition}" if self.condition else ""
        return f"SELECT {', '.join(self.items)} FROM {self.source}{where}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Its output."""
        return tuple(item.rpartition(" AS ")[2] for item in self.items)


@dataclass(frozen=True)
class Workload:
    """Models in order, and the sinks over them. `parsed` is the source's rows."""

    title: str
    sinks: tuple[Windows | Rows, ...]
    models: tuple[Rows, ...] = ()


_BASIC = ("id", "customer", "amount", "ts")
_RATED = f"amount * ({_RATE}) AS amount_usd"

WORKLOADS: Final = {
    "W1": Workload(
        "one window aggregate",
        (Windows("w1_customer", 10, ("customer",), "kept"),),
        (Rows("kept", _BASIC, condition="amount > 1"),),
    ),
    "W2": Workload(
        "one source, two window aggregates and two stateless sinks",
        (
            Windows("w2_customer", 10, ("customer",)),
            Windows("w2_merchant", 30, ("merchant",)),
            Rows("w2_large", _BASIC, condition="amount > 90"),
            Rows("w2_enriched", (*_BASIC, "currency", _RATED)),
        ),
    ),
    "W3": Workload(
        "a chain of five models",
        (Windows("w3_final", 10, ("customer",), "kept", "amount_usd"),),
        (
            Rows(
                "clean",
                ("id", "customer", "amount", "upper(trim(currency)) AS currency", "ts"),
                condition="customer IS NOT NULL AND amount > 0",
            ),
            Rows("enriched", ("id", "customer", "ts", _RATED, f"{_BAND} AS band"), "clean"),
            Rows(
                "kept", ("id", "customer", "ts", "amount_usd"), "enriched", "amount_usd > 1 AND band <> 'low'"
            ),
        ),
    ),
    "W4": Workload(
        "one source, eight stateless sinks, each of which takes a part of the rows",
        (
            Rows("w4_large", _BASIC, condition="amount > 90"),
            Rows("w4_small", _BASIC, condition="amount < 5"),
            Rows("w4_euro", _BASIC, condition="currency = 'EUR'"),
            Rows("w4_rated", (*_BASIC, "currency", _RATED), condition="currency IN ('GBP', 'CHF')"),
            Rows("w4_banded", ("id", f"{_BAND} AS band", "ts"), condition="customer < 'c0500'"),
            Rows("w4_merchant", ("id", "merchant", "amount", "ts"), condition="merchant < 'm020'"),
            Rows("w4_keys", ("id", "customer", "merchant", "ts"), condition="amount BETWEEN 40 AND 60"),
            Rows("w4_upper", ("id", "lower(currency) AS currency", "ts"), condition="currency LIKE '%D'"),
        ),
    ),
    "W5": Workload(
        "one source, six window aggregates of different windows and keys",
        (
            Windows("w5_customer", 10, ("customer",)),
            Windows("w5_merchant", 30, ("merchant",)),
            Windows("w5_currency", 60, ("currency",)),
            Windows("w5_large", 20, ("merchant",), "above_50"),
            Windows("w5_both", 120, ("merchant", "currency")),
            Windows("w5_hop", 60, ("merchant",), slide=20),
        ),
        (Rows("above_50", ("id", "merchant", "amount", "ts"), condition="amount > 50"),),
    ),
    "W6": Workload(
        "one aggregate over windows of ten minutes, one each ten seconds: sixty a row",
        (Windows("w6_hop", 600, ("merchant",), slide=10),),
    ),
}


def inputs(workload: Workload, sink: Windows | Rows) -> tuple[Rows, ...]:
    """The models that a sink reads, the first one first."""
    known = {model.name: model for model in workload.models}
    found: list[Rows] = []
    name = sink.source
    while name in known:
        found.append(known[name])
        name = known[name].source
    return tuple(reversed(found))

"""Small job plans for tests."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

from compiler.jobplan import model as m

_clock = itertools.count()

ORDERS = (m.Column("ts", "TIMESTAMP"), m.Column("k", "STRING"), m.Column("v", "INT"))


def scan(path: str = "in", columns: tuple[m.Column, ...] = ORDERS, **options: Any) -> m.Scan:
    return m.Scan(
        "scan", "orders", "orders", "filesystem",
        {"path": path, "format": "csv", "csv.header": True, "max_files_per_epoch": 1, **options}, columns,
    )  # fmt: skip


def watermark(source: str = "scan", delay_ms: int = 2000, **more: Any) -> m.Watermark:
    return m.Watermark("wm", "orders", (source,), "ts", delay_ms, **{"source": "orders", **more})


def tumble(
    source: str = "wm",
    size_ms: int = 10_000,
    column: str = "ts",
    suffix: str = "",
    delay: int | None = 2000,
    **more: Any,
) -> m.Window:
    values: dict[str, Any] = {"kind": "tumble", "slide_ms": size_ms, "offset_ms": 0, **more}
    return m.Window(
        f"window{suffix}", f"w{suffix}", (source,), time_column=column, size_ms=size_ms, delay_ms=delay,
        start=f"window_start{suffix}", end=f"window_end{suffix}", time=f"window_time{suffix}", **values,
    )  # fmt: skip


def sums(
    source: str = "window", suffix: str = "", value: str = "v", by: tuple[str, ...] = ("k",)
) -> m.Aggregate:
    end = f"window_end{suffix}"
    keys = (f"window_start{suffix}", end, *by)
    return m.Aggregate(
        f"agg{suffix}", f"agg{suffix}", (source,),
        keys=tuple(m.Item(name, name) for name in keys),
        aggregates=(m.Item("total", f"sum({value})"), m.Item("n", "count(*)")),
        output=(*keys, "total", "n", f"window_time{suffix}"), event_time_key=end, delay_ms=2000,
        window_time=m.Item(f"window_time{suffix}", f"{end} - INTERVAL '0.001' SECOND"),
    )  # fmt: skip


SUMS = (
    m.Column("window_start", "TIMESTAMP"), m.Column("window_end", "TIMESTAMP"), m.Column("k", "STRING"),
    m.Column("total", "BIGINT"), m.Column("n", "BIGINT"),
)  # fmt: skip


def sink(
    source: str,
    columns: tuple[m.Column, ...],
    path: str = "out",
    uid: str = "out",
    connector: str = "filesystem",
    **more: Any,
) -> m.Sink:
    options = more.pop("options", None)
    if options is None:
        options = {"path": path, "format": "json"} if connector == "filesystem" else {"path": path}
    return m.Sink(uid, source, connector, options, columns, "exactly_once", **more)


def state(aggregate: m.Aggregate, fingerprint: str = "f1") -> m.State:
    return m.State(
        aggregate.id, aggregate.uid, "aggregate", tuple(k.name for k in aggregate.keys), fingerprint, ""
    )


def query(
    operators: tuple[m.Operator, ...], trunk: str, sinks: tuple[m.Sink, ...], uid: str = "q1", **more: Any
) -> m.Query:
    values: dict[str, Any] = {
        "state": tuple(state(op) for op in operators if isinstance(op, m.Aggregate)),
        "chains": (), "exchanges": (), "output_mode": "append", "trigger_ms": None,
        "parallelism": 2, "provisional": False, "reason": "",
    }  # fmt: skip
    return m.Query(uid, operators, trunk, sinks, **{**values, **more})


def plan(*queries: m.Query, **more: Any) -> m.JobPlan:
    settings = m.Settings("local[2]", ".headrace/state", more.pop("on_end", "leave_open"))
    return m.JobPlan(
        m.JOB_PLAN_VERSION,
        "0.1.0",
        more.pop("project", "shop"),
        "dev",
        more.pop("timezone", "UTC"),
        settings,
        queries,
    )


def copy_plan(path: str = "in", **more: Any) -> m.JobPlan:
    """Rows of the source as they are."""
    return plan(query((scan(path),), "scan", (sink("scan", ORDERS),)), **more)


def sums_plan(*sinks: m.Sink, **more: Any) -> m.JobPlan:
    """Tumbling sums, into files unless sinks are given."""
    operators = (scan(), watermark(), tumble(), sums())
    return plan(query(operators, "agg", sinks or (sink("agg", SUMS),)), **more)


def put(folder: Path, name: str, *rows: tuple[Any, ...], header: str = "ts,k,v") -> Path:
    """Writes a CSV file as a whole, as whoever feeds a folder should."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f"_{name}"
    temporary.write_text(header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    # Spark takes files by their time, and several are written here within its resolution.
    written = 1_700_000_000 + next(_clock)
    os.utime(temporary, (written, written))
    temporary.rename(folder / name)
    return folder / name

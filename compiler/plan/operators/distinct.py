"""SELECT DISTINCT and UNION."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.sorting import BUCKETS
from compiler.plan.node import EdgeKind
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema


@frozen
class Distinct(OneInput):
    """The first of equal rows, as soon as it comes.

    An event time among the columns bounds what is remembered: once the watermark has passed it, an equal
    row would be late.
    """

    kind: ClassVar[str] = "distinct"

    # How long a row is remembered (ms, processing time), where no event time ends it.
    state_ttl_ms: int | None = None

    def _derive_schema(self) -> Schema:
        return self.input.schema

    def edge_from(self, index: int) -> EdgeKind:
        return "hash"

    @cached_property
    def event_time(self) -> Field | None:
        """The column that ends the memory of a row: a window's end, or an event time itself."""
        marked = [f for f in self.schema if f.is_event_time]
        ends = [f for f in marked if f.window and f.window.part == "end"]
        plain = [f for f in marked if f.window is None]
        return next(iter((*ends, *plain, *marked)), None)

    @property
    def is_stateful(self) -> bool:
        return self.is_stream

    @property
    def heeds_watermark(self) -> bool:
        return self.is_stateful and self.event_time is not None

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=self.schema.names,
            fingerprint=self._fingerprint(),
            bound=self._bound(),
        )

    @property
    def _ttl_ms(self) -> int | None:
        return self.state_ttl_ms if self.event_time is None else None

    def _bound(self) -> str:
        time = self.event_time
        if time is not None and time.watermark_ms is not None:
            return f"forgets a row {format_ms(time.watermark_ms)} after its {time.name}"
        if self._ttl_ms is not None:
            return f"forgets a row {format_ms(self._ttl_ms)} after it came"
        return "unbounded, because no column is an event time"

    def _fingerprint(self) -> str:
        columns = [[f.name, f.type.sql] for f in self.schema]
        time = self.event_time
        stored: dict[str, object] = {"columns": columns, "time": time.name if time else None}
        if self._ttl_ms is not None:
            # Kept by bucket, not by Spark; how long may change.
            stored["buckets"] = BUCKETS
        return hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16]

    @property
    def stored_columns(self) -> tuple[str, ...]:
        return ()

    def describe(self) -> str:
        return ", ".join(self.schema.names)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        time = self.event_time if self.is_stateful else None
        return job.Distinct(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            event_time=time.name if time else None,
            ttl_ms=self._ttl_ms if self.is_stateful else None,
            buckets=BUCKETS,
            columns=tuple(job.Marked(f.name, f.watermark_ms) for f in self.schema),
        )

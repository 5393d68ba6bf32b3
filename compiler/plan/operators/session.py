"""The window table function SESSION, whose bounds follow from the rows around a row."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import ClassVar

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.jobplan.operators.session import describe_session
from compiler.plan.operators._one_input import KeyedState
from compiler.plan.operators.window import END, START, TIME, window_fields
from compiler.plan.schema import Schema


@frozen
class Session(KeyedState):
    """Assigns each row to its session and adds window_start, window_end and window_time.

    A session of a key holds rows of which each is at most `gap_ms` after one before it; it ends the gap
    after its last row. A row leaves once its session is closed, so the rows of open sessions are state,
    and their own event time is none any more: only the window's moves on.
    """

    kind: ClassVar[str] = "session"

    keys: tuple[str, ...]
    time_column: str
    gap_ms: int

    def _derive_schema(self) -> Schema:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        rows = self.input.schema.fields
        if self.is_stream:
            rows = tuple(replace(field, watermark_ms=None) for field in rows)
        return Schema((*rows, *window_fields(self.uid, time.watermark_ms)))

    def closes(self, delay_ms: int) -> str:
        """When a session is let go, as a sentence."""
        return session_closes(self.gap_ms, delay_ms)

    def state(self, operator: str) -> job.State | None:
        if not self.is_stateful:
            return None
        time = self.input.schema.get(self.time_column)
        assert time is not None
        assert time.watermark_ms is not None  # a window over a stream lies over an event time
        stored = {
            "rows": [[field.name, field.type.sql] for field in self.input.schema],
            "session": self.describe(),
        }
        return job.State(
            operator=operator,
            uid=self.uid,
            kind=self.kind,
            keys=self.keys,
            fingerprint=hashlib.sha256(json.dumps(stored).encode()).hexdigest()[:16],
            bound=f"all rows of a session, which {self.closes(time.watermark_ms)}",
        )

    def describe(self) -> str:
        return describe_session(self.gap_ms, self.time_column, self.keys)

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        time = self.input.schema.get(self.time_column)
        assert time is not None
        return job.Session(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            keys=self.keys,
            time_column=time.name,
            gap_ms=self.gap_ms,
            delay_ms=time.watermark_ms,
            start=START,
            end=END,
            time=TIME,
        )


def session_closes(gap_ms: int, delay_ms: int) -> str:
    """When a session is let go, as a sentence."""
    return f"closes {format_ms(gap_ms + delay_ms)} after its last row"

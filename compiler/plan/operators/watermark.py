"""Event time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from compiler.jobplan import model as job
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@dataclass(frozen=True)
class Watermark(OneInput):
    """Makes a column the event time of the stream, out of order by at most `delay_ms`.

    Spark drops rows without an event time silently; `on_null` says what happens instead.
    """

    kind: ClassVar[str] = "watermark"

    column: str
    delay_ms: int
    on_null: Literal["fail", "drop"]

    def _derive_schema(self) -> Schema:
        return Schema(
            tuple(
                replace(f, watermark_ms=self.delay_ms, nullable=False) if f.name == self.column else f
                for f in self.input.schema
            )
        )

    def describe(self) -> str:
        return f"{self.column} - {format_ms(self.delay_ms)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Watermark(id_, self.uid, inputs, self.column, self.delay_ms, self.on_null)


_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))


def format_ms(milliseconds: int) -> str:
    """A duration as people write it: `5 min 10 s`; `0 s` for nothing."""
    parts: list[str] = []
    rest = abs(milliseconds)
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    sign = "-" if milliseconds < 0 else ""
    return sign + (" ".join(parts) or "0 s")

"""Event time."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Field, Schema


@frozen
class Watermark(OneInput):
    """Makes a column the event time of the stream, out of order by at most `delay_ms`.

    Spark drops rows without an event time silently; `on_null` says what happens instead.
    """

    kind: ClassVar[str] = "watermark"

    column: str
    delay_ms: int
    source: str
    on_null: Literal["fail", "drop", "keep"]
    max_late_rows: int | None = None
    idle_timeout_ms: int | None = None

    def copied(self, number: int) -> Self:
        return replace(super().copied(number), source=job.copy_uid(self.source, number))

    def _derive_schema(self) -> Schema:
        def marked(field: Field) -> Field:
            if field.name != self.column:
                return field
            return replace(field, watermark_ms=self.delay_ms, nullable=self.on_null == "keep")

        return Schema(tuple(marked(field) for field in self.input.schema))

    def describe(self) -> str:
        return f"{self.column} - {format_ms(self.delay_ms)}"

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        return job.Watermark(
            id=id_,
            uid=self.uid,
            inputs=inputs,
            column=self.column,
            delay_ms=self.delay_ms,
            source=self.source,
            on_null=self.on_null,
            max_late_rows=self.max_late_rows,
            idle_timeout_ms=self.idle_timeout_ms,
        )

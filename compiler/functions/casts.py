"""Casts by name, `bigint(x)` for `CAST(x AS BIGINT)`: Spark 4.2, `Cast.canAnsiCast`."""

from __future__ import annotations

from compiler.functions import kinds as k
from compiler.functions.build import Row, row
from compiler.plan import types as t


def _from(
    text: str, *others: t.DataType, temporal: bool = False, intervals: bool = False, numbers: bool = True
) -> k.Kind:
    def cast(found: t.DataType) -> t.DataType | None:
        right = (
            found in (*others, t.STRING, t.VARIANT, t.NULL)
            or (numbers and t.is_numeric(found))
            or (temporal and isinstance(found, t.Timestamp))
            or (intervals and isinstance(found, t.Interval))
        )
        return found if right else None

    return k.Kind(text, cast)


_WHOLE = _from("a number, STRING, BOOLEAN, TIMESTAMP or interval", t.BOOLEAN, temporal=True, intervals=True)
_FLOATING = _from("a number, STRING, BOOLEAN or TIMESTAMP", t.BOOLEAN, temporal=True)

TABLE: tuple[Row, ...] = (
    row("bigint", _WHOLE, to=t.BIGINT),
    row("binary", _from("BINARY or a STRING", t.BINARY, numbers=False), to=t.BINARY),
    row("boolean", _from("a number, STRING or BOOLEAN", t.BOOLEAN), to=t.BOOLEAN),
    row("date", _from("a DATE, TIMESTAMP or STRING", t.DATE, temporal=True, numbers=False), to=t.DATE),
    row("decimal", _WHOLE, to=t.Decimal(10, 0)),
    row("double", _FLOATING, to=t.DOUBLE),
    row("float", _FLOATING, to=t.FLOAT),
    row("int", _WHOLE, to=t.INT),
    row("smallint", _WHOLE, to=t.SMALLINT),
    row("string", k.ANY, to=t.STRING),
    row("timestamp", _from("a TIMESTAMP, DATE, number or STRING", t.DATE, temporal=True), to=t.TIMESTAMP),
    row("tinyint", _WHOLE, to=t.TINYINT),
)

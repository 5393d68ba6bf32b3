"""Windows: Spark 4.2, `windowExpressions.scala` (they need OVER), `TimeWindow`, `SessionWindow`."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions import kinds as k
from compiler.functions.build import Row, row
from compiler.functions.rules import fields, same_as
from compiler.functions.spec import Arg, Nulls, TypeProblem
from compiler.plan import types as t

# Sizes are whole milliseconds.
_BOUND = t.Timestamp(3)
_WINDOW = fields(("start", _BOUND, True), ("end", _BOUND, True))


def _time_of(args: Sequence[Arg]) -> t.DataType:
    found = args[0].type
    if not isinstance(found, t.Struct) or [field.name for field in found.fields] != ["start", "end"]:
        raise TypeProblem(f"argument 1 must be a window, not {found}")
    return _BOUND


def _shifted(args: Sequence[Arg]) -> t.DataType:
    """LAG and LEAD: the default is cast to the type of the value."""
    found = args[0].type
    if len(args) == 3:
        given = args[2].type
        if given != found and t.common_type(found, given) is None:
            raise TypeProblem(f"the default must be {found}, not {given}")
    return found


_ALWAYS = Nulls.ALWAYS
_NEVER = Nulls.NEVER
_LENGTH = k.constant(
    k.Kind("a length of time, such as '5 minutes'", lambda a: a if a in (t.STRING, t.INT, t.BIGINT) else None)
)
_OFFSET = k.constant(k.where("a whole number", lambda a: t.is_integral(a) and a != t.BIGINT))
_FLAG = k.constant(k.one_of("a BOOLEAN", t.BOOLEAN))

TABLE: tuple[Row, ...] = (
    row("cume_dist percent_rank", to=t.DOUBLE, nulls=_NEVER, window_only=True),
    row("dense_rank rank row_number", to=t.INT, nulls=_NEVER, window_only=True),
    row("lag lead", k.ANY, _OFFSET, k.ANY, to=_shifted, optional=2, nulls=_ALWAYS, window_only=True),
    row("nth_value", k.ANY, _OFFSET, _FLAG, to=same_as(0), optional=1, nulls=_ALWAYS, window_only=True),
    row("ntile", _OFFSET, to=t.INT, optional=1, nulls=_NEVER, window_only=True),
    # of streams: in GROUP BY
    row(
        "session_window",
        k.TIMESTAMP,
        k.one_of("a length of time, such as '5 minutes'", t.STRING, t.CALENDAR_INTERVAL),
        to=_WINDOW,
        nulls=_NEVER,
    ),
    row("window", k.TIMESTAMP, _LENGTH, _LENGTH, _LENGTH, to=_WINDOW, optional=2, nulls=_ALWAYS),
    row("window_time", k.STRUCT, to=_time_of, nulls=_ALWAYS),
)

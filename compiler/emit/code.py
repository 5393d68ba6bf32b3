"""What emitters are made of: an operator as calls on a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.emit.text import call, string
from compiler.frozen import frozen
from compiler.plan.expr_sql import quote_name as quote

TIME_KEY = "__key_time"
"""The key that closes a group."""


class CannotEjectError(Exception):
    """The reason why an operator has no form as plain PySpark."""


@frozen
class Code:
    """An operator: `base`, or its first input if that is None, then calls on it."""

    base: str | None
    calls: tuple[str, ...] = ()


@frozen
class Scope:
    """What an emitter may need to know: the session's time zone and the number of state partitions."""

    timezone: str
    partitions: int


def steps(*calls: str) -> Code:
    """Calls on the first input."""
    return Code(None, calls)


def select(items: Sequence[str]) -> str:
    """A selection of Spark SQL."""
    return call(".selectExpr", [string(item) for item in items])


def alias(sql: str, name: str) -> str:
    """An expression under a name, said only if it is another."""
    return quote(name) if sql in (name, quote(name)) else f"{sql} AS {quote(name)}"


def expr(sql: str) -> str:
    """An expression of Spark SQL."""
    return call("F.expr", [string(sql)])


def where(condition: str) -> str:
    """A filter."""
    return call(".where", [string(condition)])


def marked(sql: str, name: str, delay_ms: int | None) -> str:
    """An expression under a name, an event time or explicitly none."""
    mark = f"event_time({delay_ms})" if delay_ms is not None else "{}"
    return expr(sql) + f".alias({string(name)}, metadata={mark})"

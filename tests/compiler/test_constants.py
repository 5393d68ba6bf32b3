"""What is said to be impossible is impossible to Spark: a grid of constants and types."""

from __future__ import annotations

from itertools import product

from pyspark.sql import SparkSession

from compiler.analysis.certain import conversion_problem
from compiler.plan import types as t
from compiler.plan.expr import Literal
from compiler.plan.expr_sql import quote_string

TEXTS = (
    "", " ", "1", " 42 ", "-128", "128", "+7", "1.5", ".5", "5.", "1e3", "1e", "1d", "1.5F", "x", "0x1F",
    "NaN", "inf", "-Infinity", "99999999999", "true", "T", "yes", "maybe", "0", "2020", "2020-1", "2020-2-9",
    "2020-13-01", "2021-02-29", "2020-02-29", "2020-02-29 tail", "2020-02-29Ttail", "20200229", "29.02.2020",
    "10:30", "T10:30:00", "2020-01-01 10:00:00", "2020-01-01T10:00:00.5Z", "2020-01-01 25:00:00",
    "2020-01-01 10:61", "now", "today", "2020-01-01 10:00:00 Europe/Paris", "99999-01-01", "+2020-01-01",
    "1e400", "123456.789",
)  # fmt: skip
NUMBERS = ("0", "127", "128", "300", "-129", "12345.6", "99.995", "999.995", "1e10", "40000", "3000000000")
TYPES = (
    t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.FLOAT, t.DOUBLE, t.BOOLEAN, t.DATE, t.TIMESTAMP,
    t.Decimal(5, 2), t.Decimal(38, 18),
)  # fmt: skip


def literal(text: str) -> Literal:
    if "e" in text:
        return Literal(t.DOUBLE, False, text, float(text))
    if "." in text:
        return Literal(t.Decimal(10, 3), False, text, float(text))
    return Literal(t.BIGINT if len(text) > 9 else t.INT, False, text, int(text))


def test_what_cannot_be_converted(session: SparkSession) -> None:
    literals = [Literal(t.STRING, False, quote_string(text), text) for text in TEXTS]
    literals += [literal(text) for text in NUMBERS]
    pairs = [(one, to) for one, to in product(literals, TYPES) if one.type == t.STRING or t.is_numeric(to)]
    told = [(one, to) for one, to in pairs if conversion_problem(one, to) is not None]
    row = session.sql(
        "SELECT " + ", ".join(f"TRY_CAST({one.sql} AS {to.sql}) IS NULL" for one, to in told)
    ).first()
    assert row is not None
    assert [f"{one.sql} as {to}" for (one, to), fails in zip(told, row, strict=True) if not fails] == []
    assert len(told) > len(pairs) / 3

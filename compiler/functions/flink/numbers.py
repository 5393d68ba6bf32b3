"""Numbers: Flink's functions as Spark has them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.functions.flink.spec import Rewrite, rewrite
from compiler.functions.spec import Arg
from compiler.plan import types as t


def _is_exact(args: Sequence[Arg]) -> bool:
    return t.is_integral(args[0].type) or isinstance(args[0].type, t.Decimal)


# A DOUBLE that no DECIMAL(38, 18) holds has no digits behind the point.
_CUT = "if(x >= 0, floor({0}, {1}), ceil({0}, {1}))"
_OF_DOUBLE = (
    "coalesce(CAST("
    + _CUT.format("TRY_CAST(x AS DECIMAL(38, 18))", "{0}")
    + " AS DOUBLE), CAST(x AS DOUBLE))"
)

TABLE: tuple[Rewrite, ...] = (
    rewrite("truncate(x, n)", _CUT.format("x", "n"), fits=_is_exact, differs="`n` is a literal"),
    rewrite("truncate(x)", _CUT.format("x", "0"), fits=_is_exact),
    rewrite("truncate(x, n)", _OF_DOUBLE.format("n"), differs="`n` is a literal"),
    rewrite("truncate(x)", _OF_DOUBLE.format("0")),
    rewrite("rand_integer(n)", "CAST(floor(rand() * n) AS INT)", differs="other numbers"),
    rewrite("rand_integer(seed, n)", "CAST(floor(rand(seed) * n) AS INT)", differs="other numbers"),
)

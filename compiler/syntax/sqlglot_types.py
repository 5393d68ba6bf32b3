"""The type of a CAST, as the dialect leaves it in sqlglot's tree."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from compiler.plan import types as t
from compiler.syntax.data_types import parse_type, why_refused
from compiler.syntax.fragment import Fragment

_D = exp.DataType.Type
# Typed literals (`DATE '2024-01-01'`) are casts to sqlglot too.
_OF_LITERALS: dict[object, t.DataType] = {
    _D.DATE: t.DATE,
    _D.TIMESTAMP: t.TIMESTAMP,
    _D.TIMESTAMPTZ: t.TIMESTAMP,
    _D.TIMESTAMPLTZ: t.TIMESTAMP,
}


SUFFIXES: dict[object, str] = {
    _D.TINYINT: "Y",
    _D.SMALLINT: "S",
    _D.BIGINT: "L",
    _D.FLOAT: "F",
    _D.DOUBLE: "D",
    _D.DECIMAL: "BD",
}
"""What is written behind a number to give it that type, `1L`: a cast to sqlglot as well."""


def suffix(tree: exp.Expr) -> str | None:
    """The suffix of a number that a cast to this type stands for; None for a CAST that is written out."""
    numbers = [int(place.this.this) for place in tree.expressions]
    # sqlglot gives a bare DECIMAL Spark's DECIMAL(10, 0), which is no place: a place ends behind its start.
    is_place = len(numbers) == 2 and numbers[0] < numbers[1]
    return None if is_place else SUFFIXES.get(tree.this)


def data_type(tree: exp.Expr, fragment: Fragment, error: Callable[[str], Exception]) -> t.DataType:
    """Reads the type of a CAST or of a typed literal.

    Args:
        tree: the type; the dialect has put the place of its text there (`compiler.syntax.tokens.types`).
        fragment: the text.
        error: makes the exception for a literal of a type that there is not.

    Raises:
        DiagnosticError: no type (HR210), or one that cannot be used (HR106).
    """
    kind = tree.this
    if kind == _D.DECIMAL and len(tree.expressions) == 2:
        start, end = (int(place.this.this) for place in tree.expressions)
        return parse_type(fragment.slice(start, end))
    found = _OF_LITERALS.get(kind)
    if found is None:
        name = str(kind.value) if isinstance(kind, _D) else str(kind)
        reason = why_refused(name)
        raise error(f"there are no literals of type `{name}`" + (f": {reason}" if reason else ""))
    return found

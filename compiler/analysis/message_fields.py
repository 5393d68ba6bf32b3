"""Columns of a message's key or value beside the fields that a schema has for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from compiler.analysis.fits import misfit
from compiler.plan import types as t
from compiler.plan.schema import Field


class SchemaProblem(ValueError):
    """Why columns have no schema, or what was given is none that can be read."""


def disagreements(
    record: t.Struct,
    fields: Mapping[str, Field],
    held: Callable[[t.DataType], t.DataType],
    written: bool,
) -> Iterator[str]:
    """What is wrong with columns under a schema.

    Args:
        record: the schema's fields.
        fields: the columns by the names that they have in the message.
        held: as which type the format holds a value of a column's type.
        written: whether they are written with it, rather than read.
    """
    for name, field in fields.items():
        there = record.field(name)
        if there is None:
            names = ", ".join(f.name for f in record.fields)
            yield f"the schema has no field `{name}`; it has {names or 'none'}"
            continue
        reason = _misfit(there.type, field.type, held, written)
        if reason is not None:
            yield f"column `{field.name}` is {field.type}, its field is {there.type}: {reason}"
        elif written and field.nullable and not there.nullable:
            yield f"column `{field.name}` may be NULL, its field may not"
    if written:
        known = {name.lower() for name in fields}
        for part in record.fields:
            if part.name.lower() not in known and not part.nullable:
                yield f"no column gives the field `{part.name}` a value, and it must have one"


def _misfit(
    there: t.DataType, column: t.DataType, held: Callable[[t.DataType], t.DataType], written: bool
) -> str | None:
    reason = misfit(held(column), there) if written else misfit(there, column)
    if written and reason is None and _bare(there) != _bare(held(column)):
        return "they must be of one type"
    if not written and reason is not None and misfit(there, held(column)) is None:
        # What a sink with this column writes can be read into it.
        return None
    return reason


def _bare(type_: t.DataType) -> str:
    """A type without what is checked of it besides: digits of the second, and whether parts may be NULL."""
    return type_.sql.replace(" NOT NULL", "").lower()


def held(type_: t.DataType, digits: Callable[[int], int]) -> t.DataType:
    """The type of which a format holds values of a column's type.

    Args:
        type_: the column's. Formats with numbers of 4 bytes have none of fewer.
        digits: the digits of the second that it keeps, by those of the column.
    """
    match type_:
        case t.Timestamp(precision=precision):
            return t.Timestamp(digits(precision))
        case t.Array():
            return t.Array(held(type_.element, digits), type_.contains_null)
        case t.Map():
            return t.Map(type_.key, held(type_.value, digits), type_.value_contains_null)
        case t.Struct():
            return t.Struct(tuple(replace(part, type=held(part.type, digits)) for part in type_.fields))
    return t.INT if type_ in (t.TINYINT, t.SMALLINT) else type_

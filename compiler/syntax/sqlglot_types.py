"""sqlglot's types in a CAST as ours."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from compiler.plan import types as t

_D = exp.DataType.Type
_SIMPLE: dict[object, t.DataType] = {
    _D.BOOLEAN: t.BOOLEAN,
    _D.TINYINT: t.TINYINT,
    _D.SMALLINT: t.SMALLINT,
    _D.INT: t.INT,
    _D.BIGINT: t.BIGINT,
    _D.FLOAT: t.FLOAT,
    _D.DOUBLE: t.DOUBLE,
    _D.TEXT: t.STRING,
    _D.VARCHAR: t.STRING,
    _D.CHAR: t.STRING,
    _D.NCHAR: t.STRING,
    _D.NVARCHAR: t.STRING,
    _D.BINARY: t.BINARY,
    _D.VARBINARY: t.BINARY,
    _D.DATE: t.DATE,
    _D.VARIANT: t.VARIANT,
}
_TIMESTAMPS = (_D.TIMESTAMP, _D.TIMESTAMPTZ, _D.TIMESTAMPLTZ, _D.DATETIME)


def data_type(tree: exp.Expr, error: Callable[[str], Exception]) -> t.DataType:
    """Reads the type of a CAST; `error` makes the exception for one that Spark does not have."""
    kind = tree.this
    params = tree.expressions
    if kind == _D.DECIMAL:
        numbers = [int(p.name) if p.name.isdigit() else -1 for p in params] or [10]
        precision, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise error(f"`{tree.sql('spark')}` is out of range: 1 to 38 digits, the scale at most as many")
        return t.Decimal(precision, scale)
    if kind in _TIMESTAMPS:
        return t.Timestamp(int(params[0].this.this)) if params else t.TIMESTAMP
    if kind == _D.ARRAY and params:
        return t.Array(data_type(params[0], error))
    if kind == _D.MAP and len(params) == 2:
        return t.Map(data_type(params[0], error), data_type(params[1], error))
    if kind == _D.STRUCT and params:
        return t.Struct(tuple(t.StructField(p.name, data_type(p.args["kind"], error)) for p in params))
    found = _SIMPLE.get(kind)
    if found is None:
        # sqlglot's own name, not what it would write: it would write TIMESTAMP for TIME.
        name = kind.value if isinstance(kind, _D) else str(kind)
        raise error(f"type `{name}` cannot be used")
    return found

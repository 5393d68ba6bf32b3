"""Data types, as Spark has them.

TIMESTAMP(p) and TIMESTAMP_LTZ(p) are both Spark's TIMESTAMP in the project's zone; the precision is kept
as a checked property and never changes what Spark computes.
"""

from __future__ import annotations

from compiler.frozen import frozen


@frozen(slots=True)
class DataType:
    """Base of all types; `sql` is the spelling that Spark parses."""

    @property
    def sql(self) -> str:
        """The type as Spark's DDL writes it."""
        raise NotImplementedError  # every subclass has it

    def __str__(self) -> str:
        return self.sql


@frozen(slots=True)
class Simple(DataType):
    """A type without parameters."""

    name: str

    @property
    def sql(self) -> str:
        return self.name


@frozen(slots=True)
class Decimal(DataType):
    """DECIMAL(precision, scale), digits."""

    precision: int
    scale: int

    @property
    def sql(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@frozen(slots=True)
class Timestamp(DataType):
    """A point in time; precision is the number of digits of the second that a contract checks."""

    precision: int = 6

    @property
    def sql(self) -> str:
        return "TIMESTAMP"

    def __str__(self) -> str:
        return "TIMESTAMP" if self.precision == 6 else f"TIMESTAMP({self.precision})"


@frozen(slots=True)
class Array(DataType):
    """ARRAY of one element type."""

    element: DataType
    contains_null: bool = True

    @property
    def sql(self) -> str:
        return f"ARRAY<{self.element.sql}>"


@frozen(slots=True)
class Map(DataType):
    """MAP from one type to another."""

    key: DataType
    value: DataType
    value_contains_null: bool = True

    @property
    def sql(self) -> str:
        return f"MAP<{self.key.sql},{self.value.sql}>"


@frozen(slots=True)
class StructField:
    """A named part of a STRUCT."""

    name: str
    type: DataType
    nullable: bool = True


@frozen(slots=True)
class Struct(DataType):
    """STRUCT with named fields."""

    fields: tuple[StructField, ...]

    @property
    def sql(self) -> str:
        def part(f: StructField) -> str:
            name = f.name if f.name.isidentifier() else f"`{f.name}`"
            return f"{name}: {f.type.sql}{'' if f.nullable else ' NOT NULL'}"

        return f"STRUCT<{', '.join(part(f) for f in self.fields)}>"

    def field(self, name: str) -> StructField | None:
        """The field of that name, without regard to case."""
        return next((f for f in self.fields if f.name.lower() == name.lower()), None)


@frozen(slots=True)
class Interval(DataType):
    """A span of time: `DAY TO SECOND` (exact) or `YEAR TO MONTH` (calendar)."""

    unit: str

    @property
    def sql(self) -> str:
        return f"INTERVAL {self.unit}"


NULL = Simple("VOID")
BOOLEAN = Simple("BOOLEAN")
TINYINT = Simple("TINYINT")
SMALLINT = Simple("SMALLINT")
INT = Simple("INT")
BIGINT = Simple("BIGINT")
FLOAT = Simple("FLOAT")
DOUBLE = Simple("DOUBLE")
STRING = Simple("STRING")
BINARY = Simple("BINARY")
DATE = Simple("DATE")
VARIANT = Simple("VARIANT")
CALENDAR_INTERVAL = Simple("INTERVAL")
TIMESTAMP = Timestamp()
DAY_TIME = Interval("DAY TO SECOND")
YEAR_MONTH = Interval("YEAR TO MONTH")

INTEGRAL: tuple[DataType, ...] = (TINYINT, SMALLINT, INT, BIGINT)
# How many digits each integral type can hold: what Spark widens it to when it meets a decimal.
INTEGRAL_DIGITS: dict[DataType, int] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}


def is_atomic(t: DataType) -> bool:
    """Whether it is neither an array, a map nor a struct."""
    return not isinstance(t, (Array, Map, Struct))


def is_integral(t: DataType) -> bool:
    """Whether it is a whole-number type."""
    return t in INTEGRAL


def is_numeric(t: DataType) -> bool:
    """Whether arithmetic is defined on it."""
    return t in INTEGRAL or t in (FLOAT, DOUBLE) or isinstance(t, Decimal)


def is_temporal(t: DataType) -> bool:
    """Whether it is a date or a timestamp."""
    return t == DATE or isinstance(t, Timestamp)


def decimal(precision: int, scale: int) -> Decimal:
    """A decimal cut to Spark's limit of 38 digits as `DecimalType.adjustPrecisionScale` does.

    Digits before the point are kept first, but at least six (or all) of the scale.
    """
    if precision <= 38:
        return Decimal(precision, scale)
    whole = precision - scale
    kept = max(38 - whole, min(scale, 6))
    return Decimal(38, kept)


def as_decimal(t: DataType) -> Decimal | None:
    """The decimal that Spark widens an integral or decimal type to, or None for other types."""
    if isinstance(t, Decimal):
        return t
    digits = INTEGRAL_DIGITS.get(t)
    return Decimal(digits, 0) if digits else None


def common_type(a: DataType, b: DataType) -> DataType | None:
    """The type that holds the values of both, as Spark's ANSI coercion finds it; None if there is none.

    Source: Spark SQL reference, "ANSI compliance", least common type resolution.
    """
    if a == b:
        return a
    if NULL in (a, b):
        return b if a == NULL else a
    if is_numeric(a) and is_numeric(b):
        return _common_number(a, b)
    if isinstance(a, Timestamp) and isinstance(b, Timestamp):
        return Timestamp(max(a.precision, b.precision))
    if is_temporal(a) and is_temporal(b):
        return a if isinstance(a, Timestamp) else b
    if STRING in (a, b):
        return _common_with_string(b if a == STRING else a)
    if isinstance(a, Interval) and isinstance(b, Interval):
        return _common_interval(a, b)
    return _common_nested(a, b)


def _common_nested(a: DataType, b: DataType) -> DataType | None:
    if isinstance(a, Array) and isinstance(b, Array):
        element = common_type(a.element, b.element)
        nulls = a.contains_null or b.contains_null or _reads(a.element, b.element)
        return Array(element, nulls) if element else None
    if isinstance(a, Map) and isinstance(b, Map):
        key, value = common_type(a.key, b.key), common_type(a.value, b.value)
        nulls = a.value_contains_null or b.value_contains_null or _reads(a.value, b.value)
        return Map(key, value, nulls) if key and value else None
    if isinstance(a, Struct) and isinstance(b, Struct) and len(a.fields) == len(b.fields):
        return _common_struct(a, b)
    return None


def _reads(a: DataType, b: DataType) -> bool:
    # To Spark's types, a string that is read as something else may be NULL, though ANSI mode fails instead.
    return (a == STRING) != (b == STRING)


def _common_with_string(other: DataType) -> DataType | None:
    # ANSI mode: a string meets a number as BIGINT or DOUBLE, and a time as that time.
    if is_integral(other):
        return BIGINT
    if is_numeric(other):
        return DOUBLE
    return other if is_temporal(other) or other in (BOOLEAN, BINARY, VARIANT) else None


def _common_number(a: DataType, b: DataType) -> DataType:
    if is_integral(a) and is_integral(b):
        return max(a, b, key=INTEGRAL.index)
    if DOUBLE in (a, b) or FLOAT in (a, b):
        # FLOAT with anything but FLOAT is DOUBLE: a float cannot hold an INT or a decimal exactly.
        return DOUBLE
    left, right = as_decimal(a), as_decimal(b)
    assert left is not None
    assert right is not None
    # Beyond 38 digits Spark gives up digits of the scale, all of them if need be, before one of the whole
    # part (DecimalPrecisionTypeCoercion.widerDecimalType); arithmetic keeps six, see `decimal`.
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    return Decimal(min(whole + scale, 38), min(scale, 38 - whole))


_UNITS = (("YEAR", "MONTH"), ("DAY", "HOUR", "MINUTE", "SECOND"))


def _common_interval(a: Interval, b: Interval) -> Interval | None:
    # INTERVAL DAY and INTERVAL HOUR meet in INTERVAL DAY TO HOUR; months and days never meet.
    ends = a.unit.split(" TO ") + b.unit.split(" TO ")
    for units in _UNITS:
        if all(end in units for end in ends):
            first, last = min(ends, key=units.index), max(ends, key=units.index)
            return Interval(first if first == last else f"{first} TO {last}")
    return None


def _common_struct(a: Struct, b: Struct) -> Struct | None:
    fields = []
    for left, right in zip(a.fields, b.fields, strict=True):
        common = common_type(left.type, right.type)
        if common is None or left.name.lower() != right.name.lower():
            return None
        fields.append(StructField(left.name, common, left.nullable or right.nullable))
    return Struct(tuple(fields))

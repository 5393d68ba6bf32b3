"""What the state of functions can hold, and functions of one name in two versions."""

from __future__ import annotations

from datetime import UTC, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.functions.bundle import Bundle
from runtime.functions.codec import StateValueError, decode, encode

_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False),
        st.text(),
        st.binary(),
        st.decimals(allow_nan=False, allow_infinity=False),
        st.datetimes(timezones=st.just(UTC)),
        st.dates(),
        st.timedeltas(timedelta(days=-1000), timedelta(days=1000)),
    ),
    lambda parts: (
        st.lists(parts, max_size=3)
        | st.tuples(parts, parts)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), parts, max_size=3)
    ),
    max_leaves=8,
)


@given(_values)
def test_values_come_back_as_they_were(value: object) -> None:
    assert decode(encode(value)) == value


def test_what_state_cannot_keep_is_named() -> None:
    assert decode(encode({"a": (Decimal("1.50"), None)})) == {"a": (Decimal("1.50"), None)}
    with pytest.raises(StateValueError, match="object"):
        encode([object()])


def test_bundles_of_one_name_do_not_meet() -> None:
    one, two = (Bundle((("numbers_of.py", f"def number():\n    return {n}\n"),)) for n in (1, 2))
    assert one.load("numbers_of", "number")() == 1
    assert two.load("numbers_of", "number")() == 2
    assert one.load("numbers_of", "number")() == 1
    assert one.digest != two.digest

"""What the state of functions can hold, and functions of one name in two versions."""

from __future__ import annotations

from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.functions.bundle import Bundle
from runtime.functions.codec import StateValueError, decode, decode_state, encode, encode_state
from runtime.functions.engine import KeyState

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


def _can_be_a_name(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@given(_values)
def test_values_come_back_as_they_were(value: object) -> None:
    assert decode(encode(value)) == value


_names = st.one_of(_values.filter(_can_be_a_name), st.tuples(st.dates(), st.text(max_size=2)))


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=2), st.dictionaries(_names, st.tuples(_values, st.integers(0, 2**50)), max_size=3)
    ),
    st.sets(st.integers(-(2**50), 2**50)),
)
def test_states_come_back_as_they_were(
    entries: dict[str, dict[Any, tuple[Any, int]]], timers: set[int]
) -> None:
    """With the order of entries, in which lists are kept."""
    back = decode_state(encode_state(KeyState(entries, timers, set())))
    assert back == KeyState(entries, timers, set())
    assert [list(of.items()) for of in back.entries.values()] == [list(of.items()) for of in entries.values()]


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

"""Values of state as bytes that say what they are: MessagePack, with extensions for the types it lacks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from runtime.functions.engine import KeyState

_DECIMAL, _TIME, _DATE, _SPAN, _TUPLE, _DICT = range(1, 7)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# By exact type: numpy's scalars would be taken for them and come back as such.
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})


class StateValueError(TypeError):
    """A value that state cannot keep."""


class _Name:
    """A name of an entry as MessagePack has it: its own extensions cannot be keys of a dict."""

    def __init__(self, encoded: Any) -> None:
        self.encoded = encoded


def encode(value: Any) -> bytes:
    """The bytes of a value made of numbers, text, bytes, times, decimals, lists, tuples and dicts.

    Raises:
        StateValueError: it has a part of another type.
    """
    return msgspec.msgpack.encode(_plain(value))


def decode(data: bytes) -> Any:
    """The value back; times come back in UTC."""
    return msgspec.msgpack.decode(data, ext_hook=_extension)


def encode_state(state: KeyState) -> bytes:
    """The bytes of what a key keeps, without a call for each value that is plain as it is.

    Raises:
        StateValueError: a name or value has a part that state cannot keep.
    """
    for entries in state.entries.values():
        for name, (value, _) in entries.items():
            if value.__class__ not in _PLAIN or name.__class__ not in _PLAIN:
                return _ENCODER.encode(_plain_state(state))
    return _ENCODER.encode(state)


def decode_state(data: bytes) -> KeyState:
    """What the key keeps back."""
    return _DECODER.decode(data)


def _plain_state(state: KeyState) -> KeyState:
    entries: dict[str, dict[Any, tuple[Any, int]]] = {
        of: {
            (name if name.__class__ in _PLAIN else _Name(_plain(name))): (_plain(value), written)
            for name, (value, written) in entries.items()
        }
        for of, entries in state.entries.items()
    }
    return KeyState(entries, state.event_timers, state.processing_timers)


def _plain(value: Any) -> Any:
    if value.__class__ in _PLAIN:
        return value
    if isinstance(value, dict):
        # As pairs: a key of a map would be read back as another type than it was.
        return _extended(_DICT, [[_plain(key), _plain(part)] for key, part in value.items()])
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, tuple):
        return _extended(_TUPLE, [_plain(part) for part in value])
    if isinstance(value, Decimal):
        return _extended(_DECIMAL, str(value))
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return _extended(_TIME, (moment - _EPOCH) // _MICROSECOND)
    if isinstance(value, date):
        return _extended(_DATE, value.toordinal())
    if isinstance(value, timedelta):
        return _extended(_SPAN, value // _MICROSECOND)
    item = getattr(value, "item", None)
    if callable(item):
        return _plain(item())
    raise StateValueError(f"state cannot keep a {type(value).__name__}")


def _extended(code: int, value: Any) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(code, msgspec.msgpack.encode(value))


def _extension(code: int, data: memoryview) -> Any:
    value = msgspec.msgpack.decode(data, ext_hook=_extension)
    if code == _DECIMAL:
        return Decimal(value)
    if code == _TIME:
        return _EPOCH + value * _MICROSECOND
    if code == _DATE:
        return date.fromordinal(value)
    if code == _SPAN:
        return value * _MICROSECOND
    return dict(value) if code == _DICT else tuple(value)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda name: name.encoded)
_DECODER = msgspec.msgpack.Decoder(KeyState, ext_hook=_extension)

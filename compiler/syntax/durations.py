"""Durations as users of Flink and Spark write them: `5 minutes`, `10 s`, `1h 30m`, `500 ms`, `PT5M`."""

from __future__ import annotations

import re

_UNITS: dict[str, int] = {}
for _millis, _names in (
    (1, "ms milli millis millisecond milliseconds"),
    (1_000, "s sec secs second seconds"),
    (60_000, "m min mins minute minutes"),
    (3_600_000, "h hour hours"),
    (86_400_000, "d day days"),
    (604_800_000, "w week weeks"),
):
    for _name in _names.split():
        _UNITS[_name] = _millis

_PART = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]+)\s*", re.IGNORECASE | re.ASCII)
_ISO = re.compile(
    r"P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.IGNORECASE | re.ASCII,
)


def parse_duration_ms(text: str) -> int | None:
    """Milliseconds of a duration, or None if the text is none, is negative or is finer than a millisecond.

    A number without a unit is no duration, except `0`.
    """
    text = text.strip()
    if text == "0":
        return 0
    if text[:1] in "pP":
        return _iso(text)
    total = 0.0
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None or match[2].lower() not in _UNITS:
            return None
        total += float(match[1]) * _UNITS[match[2].lower()]
        position = match.end()
    return _whole(total) if text else None


def parse_signed_duration_ms(text: str) -> int | None:
    """As `parse_duration_ms`, with a minus in front allowed: `-1 hour`."""
    text = text.strip()
    if not text.startswith("-"):
        return parse_duration_ms(text)
    found = parse_duration_ms(text[1:])
    return None if found is None else -found


def _iso(text: str) -> int | None:
    match = _ISO.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return _whole(((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000)


def _whole(millis: float) -> int | None:
    rounded = round(millis)
    return rounded if abs(millis - rounded) < 1e-6 else None

"""Time zones of projects."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=16)
def offsets_ms(zone: str) -> tuple[int, ...]:
    """The zone's offsets from UTC in this decade, milliseconds; one if it has no daylight saving time."""
    found = set()
    for month in range(12 * 10):
        moment = datetime(2020 + month // 12, month % 12 + 1, 15, 12, tzinfo=ZoneInfo(zone))
        offset = moment.utcoffset() or timedelta(0)
        found.add(int(offset.total_seconds()) * 1000)
    return tuple(sorted(found))


def fixed_offset_ms(zone: str) -> int | None:
    """The zone's offset from UTC, None if it has several."""
    offset, *others = offsets_ms(zone)
    return None if others else offset

"""Windows begin at midnight of the project's zone, where that has one offset from UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from compiler.analysis.builder import Builder
from compiler.analysis.window_assign import Places, Sizes, assign_window
from compiler.diagnostics.source import SourceFile, Span
from compiler.jobplan import model as job
from compiler.plan.operators import SeedScan
from compiler.plan.schema import Field, Schema, WindowShape
from compiler.plan.types import Timestamp

HOUR, DAY = 3_600_000, 86_400_000


def assigned(zone: str, shape: WindowShape, size: int, slide: int, offset: int = 0) -> job.Window:
    """A window over a seed in a project of that zone."""
    span = Span(SourceFile("m.sql", ""), 0, 0)
    time = Field("ts", Timestamp(3))
    builder = Builder("m", {}, timezone=zone)
    rows = SeedScan("seed", "seed.csv", "", Schema((time,)))
    sizes = Sizes(shape, size, slide, offset)
    node = assign_window(builder, rows, time, sizes, Places(span, span, span))
    lowered = node.lower("w", ("rows",))
    assert isinstance(lowered, job.Window)
    return lowered


@pytest.mark.parametrize(
    "zone", ["UTC", "Asia/Tokyo", "Asia/Kolkata", "America/Bogota", "Pacific/Kiritimati", "Asia/Kathmandu"]
)
@pytest.mark.parametrize(
    ("shape", "size", "slide"),
    [("tumble", DAY, DAY), ("hop", 7 * DAY, DAY), ("tumble", HOUR, HOUR), ("cumulate", DAY, HOUR)],
)
def test_a_window_begins_at_local_midnight(zone: str, shape: WindowShape, size: int, slide: int) -> None:
    found = assigned(zone, shape, size, slide)
    period = size if shape == "cumulate" else slide
    assert 0 <= found.offset_ms < period
    midnight = datetime(2024, 5, 17, tzinfo=ZoneInfo(zone))
    since = midnight.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    assert (since // timedelta(milliseconds=1) - found.offset_ms) % period == 0


def test_an_offset_counts_from_midnight() -> None:
    moved = assigned("Asia/Tokyo", "tumble", DAY, DAY, 6 * HOUR)
    assert moved.offset_ms == (24 - 9 + 6) * HOUR
    assert assigned("Asia/Tokyo", "tumble", DAY, DAY, -18 * HOUR) == moved
    assert assigned("Asia/Tokyo", "tumble", DAY, DAY, 30 * HOUR) == moved


def test_days_go_by_the_calendar_where_midnight_moves() -> None:
    day = assigned("Europe/Berlin", "tumble", DAY, DAY, 30 * HOUR)
    assert (day.by_calendar, day.offset_ms) == (True, 6 * HOUR)
    assert assigned("Europe/Berlin", "cumulate", 7 * DAY, DAY).by_calendar
    hours = assigned("Europe/Berlin", "tumble", 12 * HOUR, 12 * HOUR, HOUR)
    assert (hours.by_calendar, hours.offset_ms) == (False, HOUR)
    assert not assigned("Europe/Berlin", "cumulate", DAY, HOUR).by_calendar
    assert not assigned("Asia/Tokyo", "tumble", DAY, DAY).by_calendar

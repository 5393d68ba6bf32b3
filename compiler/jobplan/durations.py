"""Durations for people."""

from __future__ import annotations

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))


def format_ms(milliseconds: int) -> str:
    """A duration as people write it: `5 min 10 s`; `0 s` for nothing."""
    parts: list[str] = []
    rest = abs(milliseconds)
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {unit}")
    sign = "-" if milliseconds < 0 else ""
    return sign + (" ".join(parts) or "0 s")

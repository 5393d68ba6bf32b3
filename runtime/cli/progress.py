"""A run as it happens: lines of text, or JSON objects. The live table is in live.py."""

from __future__ import annotations

from dataclasses import asdict
from typing import Protocol

from runtime.cli.output import Output, counted
from runtime.jobs.events import EpochCompleted, Event, QueryEnded, QueryFailed, QueryStarted

STOPPING = "finishing the epoch in flight … press Ctrl-C again to abandon it"
ABANDONING = "abandoning the epoch in flight; the next run finishes it"


class Progress(Protocol):
    """Shows a run."""

    def event(self, event: Event) -> None:
        """Something has happened."""
        ...

    def say(self, text: str) -> None:
        """Rows of a console sink."""
        ...

    def note(self, text: str) -> None:
        """A remark of headrace's own."""
        ...

    def close(self) -> None:
        """The run is over."""
        ...


class LineProgress:
    """A line an event: for files, pipes and CI."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def event(self, event: Event) -> None:
        """A line."""
        self._output.text(line(event))

    def say(self, text: str) -> None:
        """The rows as they are."""
        self._output.text(text)

    def note(self, text: str) -> None:
        """A line."""
        self._output.text(text)

    def close(self) -> None:
        """Nothing is left open."""


class JsonProgress:
    """An object an event, with its time; the names of events and their fields are those of the classes."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def event(self, event: Event) -> None:
        """An object."""
        if isinstance(event, QueryFailed):
            from compiler.diagnostics.render import to_dict

            self._output.event("query_failed", query=event.query, diagnostic=to_dict(event.diagnostic))
        else:
            self._output.event(_NAMES[type(event)], **asdict(event))

    def say(self, text: str) -> None:
        """The table in one field: a sink for people has no other form."""
        self._output.event("rows", text=text)

    def note(self, text: str) -> None:
        """An object with the text."""
        self._output.event("note", message=text)

    def close(self) -> None:
        """Nothing is left open."""


_NAMES: dict[type[Event], str] = {
    QueryStarted: "query_started",
    EpochCompleted: "epoch_completed",
    QueryEnded: "query_ended",
    QueryFailed: "query_failed",
}


def line(event: Event) -> str:
    """An event as a line of text."""
    if isinstance(event, QueryStarted) and event.by_earlier_plan:
        return (
            f"{event.query}: epoch {event.next_epoch} was begun by an earlier plan, which finishes it; "
            f"changes since apply from epoch {event.next_epoch + 1} on"
        )
    if isinstance(event, QueryStarted):
        return f"{event.query}: " + (f"resumes at epoch {event.next_epoch}" if event.resumed else "starts")
    if isinstance(event, EpochCompleted):
        return f"{event.query}: {epoch(event)}"
    if isinstance(event, QueryEnded):
        return f"{event.query}: {ending(event)}"
    return f"{event.query}: failed: {event.diagnostic.message}"


def epoch(event: EpochCompleted) -> str:
    """What one epoch did."""
    parts = [
        f"epoch {event.epoch}: {counted(event.input_rows, 'row')} in {event.duration_ms / 1000:.1f} s",
        f"{event.rows_per_second:,.0f} rows/s",
    ]
    if event.watermark is not None:
        parts.append(f"watermark {shown_time(event.watermark)}")
    if event.state_rows:
        parts.append(f"state {counted(event.state_rows, 'row')}")
    if event.late_rows_dropped:
        parts.append(f"{counted(event.late_rows_dropped, 'late row')} dropped")
    parts += [f"{aside.rows:,} {aside.reason} of {aside.source} set aside" for aside in event.set_aside]
    return ", ".join(parts)


def ending(event: QueryEnded) -> str:
    """How a query ended."""
    if event.stopped:
        return "stopped"
    return "done, all windows closed" if event.closed else "done"


def shown_time(iso: str) -> str:
    """Spark's `2024-01-01T00:00:00.000Z` for people; the year 1970 is its word for none yet."""
    if iso.startswith("1970-01-01T00:00:00"):
        return "-"
    return iso.replace("T", " ").replace(".000Z", "Z")

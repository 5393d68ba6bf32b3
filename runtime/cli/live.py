"""A run on a terminal: a table of queries that is drawn again and again."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from runtime.cli.progress import ending, shown_time
from runtime.jobs.events import EpochCompleted, Event, QueryEnded, QueryFailed, QueryStarted

_STYLES = {"runs": "green", "failed": "bold red", "stopped": "yellow"}


@dataclass
class _Row:
    """A query's line. Rows and late rows add up over the run."""

    status: str = "runs"
    epoch: str = "-"
    rows: int = 0
    rate: float = 0.0
    watermark: str = "-"
    state: int = 0
    late: int = 0


class LiveProgress:
    """One line a query, always the newest; console sinks print above it.

    Args:
        color: whether the terminal gets colours.
    """

    def __init__(self, *, color: bool) -> None:
        self._rows: dict[str, _Row] = {}
        self._console = Console(no_color=not color, highlight=False)
        self._live = Live(
            self._table(),
            console=self._console,
            refresh_per_second=4,
            transient=False,
            # The run prints through this class; whatever else writes is meant for the log.
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def event(self, event: Event) -> None:
        """Brings the table up to date."""
        row = self._rows.setdefault(event.query, _Row())
        if isinstance(event, QueryStarted):
            row.status = "runs"
            if event.next_epoch:
                row.epoch = str(event.next_epoch - 1)
        elif isinstance(event, EpochCompleted):
            row.epoch = str(event.epoch)
            row.rows += event.input_rows
            row.rate = event.rows_per_second
            row.state = event.state_rows
            row.late += event.late_rows_dropped
            if event.watermark is not None:
                row.watermark = shown_time(event.watermark)
        elif isinstance(event, QueryEnded):
            row.status = ending(event)
        elif isinstance(event, QueryFailed):
            row.status = "failed"
        self._live.update(self._table())

    def say(self, text: str) -> None:
        """Rows above the table."""
        self._console.print(Text(text), soft_wrap=True)

    def note(self, text: str) -> None:
        """A line above the table."""
        self._console.print(Text(text, style="yellow"), soft_wrap=True)

    def close(self) -> None:
        """Leaves the last state of the table on the screen."""
        self._live.stop()

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("query")
        for name in ("epoch", "rows", "rows/s", "watermark", "state", "late", "status"):
            table.add_column(name, justify="left" if name in ("status", "watermark") else "right")
        for name, row in self._rows.items():
            table.add_row(
                Text(name),
                row.epoch,
                f"{row.rows:,}",
                f"{row.rate:,.0f}",
                row.watermark,
                f"{row.state:,}",
                Text(f"{row.late:,}", style="yellow" if row.late else ""),
                Text(row.status, style=_STYLES.get(row.status, "")),
            )
        return table

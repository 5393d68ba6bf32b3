"""What a run has done, at its end."""

from __future__ import annotations

from runtime.cli.output import Output, counted
from runtime.jobs.report import RunReport


def tell(output: Output, report: RunReport, *, seconds: float, bounded: bool) -> None:
    """Tells rows per sink and where they lie, open windows, late rows, and how to go on.

    Args:
        output: takes it.
        report: what was done.
        seconds: how long it took.
        bounded: whether the run was to end by itself; then windows can be closed at its end.
    """
    rows = sum(query.input_rows for query in report.queries)
    epochs = sum(query.epochs for query in report.queries)
    failed = bool(report.failures)
    word = "failed" if failed else "stopped" if report.stopped else "done"
    style = "bad" if failed else "warn" if report.stopped else "good"
    read = f"{counted(rows, 'row')} read in {counted(epochs, 'epoch')}"
    output.text(f"{output.paint(style, word)} after {seconds:.1f} s: {read}")
    sinks = [sink for query in report.queries for sink in query.sinks]
    width = max((len(sink.uid) for sink in sinks), default=0)
    for sink in sinks:
        where = sink.location if sink.location == sink.connector else f"{sink.connector} {sink.location}"
        output.text(f"  {sink.uid:<{width}}  {counted(sink.rows_written, 'row')} -> {where}")
    if report.late_rows_dropped:
        told = counted(report.late_rows_dropped, "late row was", "late rows were")
        output.text(output.paint("warn", f"{told} dropped: the watermark had passed their window"))
    for aside in report.set_aside:
        output.text(output.paint("warn", f"{aside.rows:,} {aside.reason} of {aside.source} set aside"))
    if report.open_groups and not failed:
        told = counted(report.open_groups, "group of a window stays", "groups of windows stay")
        hint = "; `headrace run --on-end close` writes what they have" if bounded else ""
        output.text(f"{told} open for rows to come{hint}")
    for uid in report.retired:
        output.text(f"query {uid} is gone from the project; its state is kept, its outputs are untouched")
    closed = any(query.closed for query in report.queries)
    if failed:
        output.text("nothing of a failed epoch counts as written; run again to resume when it is mended")
    elif closed:
        output.text("all windows are closed: later input needs a --full-refresh")
    else:
        output.text("run again to resume: only new input is read")
    output.event("run_ended", status=word, seconds=round(seconds, 3), **_fields(report))


def _fields(report: RunReport) -> dict[str, object]:
    return {
        "rows_written": report.rows_written,
        "late_rows_dropped": report.late_rows_dropped,
        "set_aside": [
            {"source": aside.source, "reason": aside.reason, "rows": aside.rows} for aside in report.set_aside
        ],
        "open_groups": report.open_groups,
        "retired": list(report.retired),
        "queries": [
            {
                "query": query.uid,
                "epochs": query.epochs,
                "input_rows": query.input_rows,
                "late_rows_dropped": query.late_rows_dropped,
                "open_groups": query.open_groups,
                "closed": query.closed,
                "stopped": query.stopped,
                "failed": query.failure is not None,
                "sinks": [
                    {
                        "sink": sink.uid,
                        "connector": sink.connector,
                        "rows_written": sink.rows_written,
                        "location": sink.location,
                    }
                    for sink in query.sinks
                ],
            }
            for query in report.queries
        ],
    }

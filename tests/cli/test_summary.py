"""What a run tells at its end of rows that did not come through: nothing is dropped without a word."""

from __future__ import annotations

import json

import pytest

from runtime.cli.output import Output
from runtime.cli.summary import tell
from runtime.jobs.report import QueryReport, RunReport, SinkReport
from runtime.spark.counters import SetAside

ASIDE = (SetAside("orders", "rows without an event time", 2), SetAside("orders", "bad records", 1_500))
SINK = SinkReport("out", "filesystem", 7, "out/orders")
REPORT = RunReport(
    (
        QueryReport("q1", 3, 1_509, 4, 1, False, False, None, (SINK,), ASIDE),
        # The same source in another query sees the same rows.
        QueryReport("q2", 3, 1_509, 1, 0, False, False, None, (), ASIDE[:1]),
    ),
    warnings=(),
    retired=(),
    stopped=False,
)


def test_rows_that_did_not_come_through_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Output(color=False), REPORT, seconds=1.0, bounded=True)
    assert capsys.readouterr().out == (
        "done after 1.0 s: 3,018 rows read in 6 epochs\n"
        "  out  7 rows -> filesystem out/orders\n"
        "5 late rows were dropped: the watermark had passed their window\n"
        "1,500 bad records of orders set aside\n"
        "2 rows without an event time of orders set aside\n"
        "1 group of a window stays open for rows to come; "
        "`headrace run --on-end close` writes what they have\n"
        "run again to resume: only new input is read\n"
    )


def test_and_to_machines(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Output(as_json=True), REPORT, seconds=1.0, bounded=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["late_rows_dropped"], told["open_groups"]) == (5, 1)
    assert {aside["reason"]: aside["rows"] for aside in told["set_aside"]} == {
        "bad records": 1_500,
        "rows without an event time": 2,
    }

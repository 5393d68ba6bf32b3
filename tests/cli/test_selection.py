"""--select."""

from __future__ import annotations

import pytest

from compiler.diagnostics.diagnostic import Reporter
from compiler.project.selection import Graph, select

#   orders -> clean -> hourly -> out_hourly
#                   -> daily  -> out_daily
GRAPH = Graph(
    {
        "orders": "source",
        "clean": "model",
        "hourly": "model",
        "daily": "model",
        "out_hourly": "sink",
        "Out_Daily": "sink",
    },
    {
        "orders": (),
        "clean": ("orders",),
        "hourly": ("clean",),
        "daily": ("clean",),
        "out_hourly": ("hourly",),
        "Out_Daily": ("daily",),
    },
    kept=frozenset({"clean"}),
    tags={"hourly": ("Money", "often"), "Out_Daily": ("money",)},
)


@pytest.mark.parametrize(
    ("texts", "names", "sinks"),
    [
        (["daily"], "daily", "Out_Daily"),
        (["OUT_daily"], "Out_Daily", "Out_Daily"),
        (["out_*"], "out_hourly Out_Daily", "out_hourly Out_Daily"),
        (["+hourly"], "hourly clean orders", "out_hourly"),
        (["1+hourly"], "hourly clean", "out_hourly"),
        (["hourly+"], "hourly out_hourly", "out_hourly"),
        (["clean+1"], "clean hourly daily", "out_hourly Out_Daily clean"),
        (["+daily+"], "orders clean daily Out_Daily", "Out_Daily"),
        (["hourly,daily"], "hourly daily", "out_hourly Out_Daily"),
        (["hourly  daily"], "hourly daily", "out_hourly Out_Daily"),
        (["hourly", "orders"], "hourly orders", "out_hourly Out_Daily clean"),
        ([], " ".join(GRAPH.kinds), "out_hourly Out_Daily clean"),
        (["tag:money"], "hourly Out_Daily", "out_hourly Out_Daily"),
        (["tag:OFT*"], "hourly", "out_hourly"),
        (["1+tag:often"], "hourly clean", "out_hourly"),
        # A model that is kept is a sink of its own.
        (["clean"], "clean", "clean out_hourly Out_Daily"),
    ],
)
def test_select(texts: list[str], names: str, sinks: str) -> None:
    reporter = Reporter()
    found = select(GRAPH, texts, reporter)
    assert not reporter.has_errors
    assert found.names == frozenset(names.split())
    assert found.sinks == frozenset(sinks.split())


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("dayly", "did you mean `daily`?"),
        ("zzz", "there is `Out_Daily`"),
        ("+", None),
        ("tag:mony", "did you mean `Money`?"),
        ("owner:x", "there is"),
    ],
)
def test_nothing_matches(text: str, fix: str | None) -> None:
    reporter = Reporter()
    select(GRAPH, [text, "daily"], reporter)
    (found,) = reporter.all()
    assert found.code.name == "HR216"
    assert found.span is not None
    assert found.span.text == text
    assert fix is None or (found.fix or "").startswith(fix)


def test_empty_selection_is_an_error() -> None:
    reporter = Reporter()
    select(GRAPH, [" , "], reporter)
    assert [d.code.name for d in reporter.all()] == ["HR216"]

"""Assigns windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step, Text
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

WINDOWS: Final = {"tumble": ("on", "size", "offset"), "hop": ("on", "slide", "size", "offset")}
LATER_WINDOWS: Final = ("cumulate", "session")


@dataclass(frozen=True, slots=True)
class WindowStep(Step):
    """Assigns windows; durations are text such as `5 minutes`."""

    kind: str
    on: Text
    size: Text
    slide: Text | None
    offset: Text | None


def read_window(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `window: {tumble: {on, size}}`."""
    inner = reader.single(entry.node, "`window`", (*WINDOWS, *LATER_WINDOWS))
    if inner is None:
        return None
    kind = inner.key.value
    if kind in LATER_WINDOWS:
        reader.later(f"window `{kind}`", inner.key)
        return None
    allowed = WINDOWS[kind]
    required = [k for k in allowed if k != "offset"]
    keys = reader.yaml.mapping(inner.node, f"window `{kind}`", allowed, required)
    if keys is None or any(k not in keys for k in required):
        return None
    on = reader.yaml.text(keys["on"].node, "`on` of a window")
    times = {
        k: reader.yaml.duration(keys[k].node, f"`{k}` of window `{kind}`")
        for k in ("size", "slide", "offset")
        if k in keys
    }
    if on is None or any(t is None for t in times.values()):
        return None
    size = times["size"]
    assert size is not None  # all of `times` were read
    return WindowStep(span, kind, on, size, times.get("slide"), times.get("offset"))

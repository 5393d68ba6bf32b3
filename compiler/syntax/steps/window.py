"""Assigns windows."""

from __future__ import annotations

from typing import Final, Literal

from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step, Text
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

# `compiler.plan.schema` has the same words; it lies above this layer.
Shape = Literal["tumble", "hop", "cumulate"]
_SHAPES: Final[dict[str, Shape]] = {"tumble": "tumble", "hop": "hop", "cumulate": "cumulate"}
# The keys of each kind of window, in the order in which they are told.
_KEYS: Final = {
    "tumble": ("on", "size", "offset"),
    "hop": ("on", "slide", "size", "offset"),
    "cumulate": ("on", "step", "size", "offset"),
    "session": ("by", "on", "gap"),
}
_OPTIONAL: Final = frozenset({"offset", "by"})


class WindowStep(Step, frozen=True):
    """Assigns windows; durations are text such as `5 minutes`.

    `slide` is what `hop` calls its slide and `cumulate` its step. `offset` may begin with a minus.
    """

    shape: Shape
    on: Text
    size: Text
    slide: Text | None
    offset: Text | None


class SessionStep(Step, frozen=True):
    """Assigns sessions, of all rows or of those of each combination of `by`."""

    by: tuple[Text, ...]
    on: Text
    gap: Text


def read_window(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `window: {tumble: {on, size}}`, `hop`, `cumulate` and `session`."""
    inner = reader.single(entry.node, "`window`", tuple(_KEYS))
    if inner is None:
        return None
    kind = inner.key.value
    allowed = _KEYS[kind]
    required = [k for k in allowed if k not in _OPTIONAL]
    keys = reader.yaml.mapping(inner.node, f"window `{kind}`", allowed, required)
    if keys is None or any(k not in keys for k in required):
        return None
    on = reader.yaml.text(keys["on"].node, "`on` of a window")
    times = {
        k: reader.yaml.duration(keys[k].node, f"`{k}` of window `{kind}`", signed=k == "offset")
        for k in ("size", "slide", "step", "gap", "offset")
        if k in keys
    }
    by = reader.yaml.texts(keys["by"].node, "`by` of a window") if "by" in keys else ()
    found = {k: time for k, time in times.items() if time is not None}
    if on is None or len(found) < len(times):
        return None
    if kind == "session":
        return SessionStep(span, by, on, found["gap"])
    slide = found.get("slide") or found.get("step")
    return WindowStep(span, _SHAPES[kind], on, found["size"], slide, found.get("offset"))

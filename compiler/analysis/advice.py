"""Advice in the words of the front end that it is for."""

from __future__ import annotations

from typing import Literal

from compiler.diagnostics.source import Span

FrontEnd = Literal["sql", "yaml"]


def keep_for(span: Span | None) -> str:
    """How a model says how long it keeps state, in the file of `span`."""
    return "`with: {state_ttl: 1 d}`" if _is_yaml(span) else "WITH (state_ttl = '1 d')"


def keep_all(span: Span | None, *, whole: bool = False) -> str:
    """How it lets its state grow; `whole` if no other option was named before."""
    if _is_yaml(span):
        return "`with: {allow_unbounded: true}`"
    return "WITH (allow_unbounded = true)" if whole else "allow_unbounded = true"


def window_first(time: str, written: FrontEnd) -> str:
    """How rows are grouped by a window."""
    if written == "yaml":
        return f"put a window before it: `window: {{tumble: {{on: {time}, size: 5 minutes}}}}`"
    return (
        f"group by a window: FROM TUMBLE(TABLE t, DESCRIPTOR({time}), INTERVAL '5' MINUTES) "
        "GROUP BY window_start, window_end, …"
    )


def window_keys(span: Span | None) -> str:
    """How the groups of a Top-N become those of a window, in the file of `span`."""
    if _is_yaml(span):
        return "put a window before it, and window_start and window_end into `by`"
    return "add window_start and window_end to PARTITION BY"


def _is_yaml(span: Span | None) -> bool:
    return span is not None and span.file.path.endswith((".yml", ".yaml"))

"""Pictures as text: a summary, then a panel a query, its chains as boxes."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from compiler.explain.picture import Arrow, Box, Panel, Picture, Row

_WIDTH = 160


def to_text(picture: Picture) -> str:
    """A picture as lines of at most 160 characters; the whole of a long line is in JSON and HTML."""
    lines = list(_summary(picture))
    for panel in picture.panels:
        lines += ["", *_panel(panel)]
    return "".join(line.rstrip() + "\n" for line in lines)


def _summary(picture: Picture) -> Iterator[str]:
    rows = [row for panel in picture.panels for box in panel.boxes for row in box.rows]
    sources = {row.id for row in rows if row.kind == "scan"}
    sinks = {row.id for row in rows if row.kind == "sink"}
    told = [_counted(len(sources), "source"), _counted(len(sinks), "sink")]
    if picture.level == "stream":
        yield f"{picture.title}: stream graph of {', '.join(told)}"
        return
    graph = "job graph" if picture.level == "job" else "execution plan"
    queries = _counted(len(picture.panels), "query", "queries")
    yield f"{picture.title}: {graph} of {', '.join([queries, *told])}"
    width = max((len(panel.id) for panel in picture.panels), default=0)
    for panel in picture.panels:
        yield _fit(f"  {panel.id:<{width}}  {_line(panel)}")


def _line(panel: Panel) -> str:
    rows = [row for box in panel.boxes for row in box.rows]
    sources = sorted({row.name for row in rows if row.kind == "scan"})
    sinks = sorted({row.name for row in rows if row.kind == "sink"})
    states = sum(fact.name == "state" for fact in panel.facts)
    stateful = f"{_counted(states, 'state')}, " if states else ""
    written = f" → {', '.join(sinks)}" if sinks != [panel.id] else ""
    return f"{stateful}{_counted(len(panel.boxes), _box_word(panel))}: {', '.join(sources)}{written}"


def _box_word(panel: Panel) -> str:
    return "chain" if all(box.role == "chain" for box in panel.boxes) else "stage"


def _panel(panel: Panel) -> Iterator[str]:
    yield panel.title
    for fact in panel.facts:
        yield from wrap(fact.text, _WIDTH, initial_indent=f"  {fact.name:<9}  ", subsequent_indent=" " * 13)
    titles = {box.id: box.title for box in panel.boxes}
    for box in panel.boxes:
        yield from _box(box, [arrow for arrow in panel.arrows if arrow.source == box.id], titles)


def _box(box: Box, out: list[Arrow], titles: dict[str, str]) -> Iterator[str]:
    word = "" if box.role in ("chain", "stage", "epoch", "table") else f"{box.role} "
    note = f" ({box.note})" if box.note else ""
    yield _fit(f"  ╭─ {word}{box.title}{note}")
    for row in box.rows:
        yield _fit("  │ " + _row(row))
    for arrow in out[:-1]:
        yield f"  ├─ {arrow.label} → {titles[arrow.target]}"
    yield f"  ╰─ {out[-1].label} → {titles[out[-1].target]}" if out else "  ╰─"


def _row(row: Row) -> str:
    via = f"⇐ {row.via}  " if row.via else ""
    changes = next((f"  [{fact.text}]" for fact in row.facts if fact.name == "rows"), "")
    name = "" if row.does.startswith(f"{row.name} ") else f"{row.name}  "
    return f"{row.number:02}  {'  ' * row.depth}{row.kind:<9}  {via}{name}{row.does}{changes}"


def _fit(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def _counted(number: int, word: str, plural: str | None = None) -> str:
    return f"{number} {word if number == 1 else plural or word + 's'}"

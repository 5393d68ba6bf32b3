"""Pictures as Mermaid flowcharts, which many Markdown viewers draw."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.explain.picture import Panel, Picture

_LONGEST = 70
_LINKS = {
    "forward": "-->",
    "epoch": "-->",
    "hash": "==>",
    "broadcast": "-.->",
    "union": "-->",
    "rebalance": "==>",
}


def to_mermaid(picture: Picture) -> str:
    """One flowchart: a subgraph a query, in it one a box, with its operators as nodes."""
    lines = ["flowchart LR"]
    for number, panel in enumerate(picture.panels, 1):
        lines += _panel(panel, f"q{number}", outer=picture.level != "stream")
    return "\n".join(lines) + "\n"


def _panel(panel: Panel, prefix: str, *, outer: bool) -> Iterator[str]:
    margin = "  "
    if outer:
        yield f"  subgraph {prefix}[{_text(panel.title)}]"
        margin += "  "
    boxes = {box.id: f"{prefix}b{number}" for number, box in enumerate(panel.boxes, 1)}
    for box in panel.boxes:
        yield f"{margin}subgraph {boxes[box.id]}[{_text(box.title)}]"
        yield f"{margin}  direction TB"
        for row in box.rows:
            node = f"{prefix}n{row.number}"
            shape = ("[(", ")]") if row.kind in ("scan", "seed", "sink", "lookup_table") else ("[", "]")
            label = _text(f"{row.number} {row.kind} {row.name}: {row.does}")
            yield f"{margin}  {node}{shape[0]}{label}{shape[1]}"
            for above, edge in row.after:
                link = f"==>|{_text(edge)}|" if edge else "-->"
                yield f"{margin}  {prefix}n{above} {link} {node}"
        yield f"{margin}end"
    for arrow in panel.arrows:
        label = "" if arrow.kind == "forward" else f"|{_text(arrow.label)}|"
        yield f"{margin}{boxes[arrow.source]} {_LINKS[arrow.kind]}{label} {boxes[arrow.target]}"
    if outer:
        yield "  end"


def _text(text: str) -> str:
    short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        short = short.replace(character, entity)
    return f'"{short}"'

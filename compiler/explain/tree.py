"""`headrace explain`: each query of a job plan as a tree, from its sinks up to its sources.

    query departures  (append, available now, 2 state partitions)
    │   2 sinks share one read of flights
    ├── sink departures → filesystem out/departures (exactly once)
    │   └── forward
    …

Lines carry numbers, so that a diff of two plans shows which operator moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.jobplan import model as job
from compiler.plan.operators.watermark import format_ms


@dataclass
class _Line:
    """A line of the tree with what hangs below it."""

    text: str
    children: list[_Line] = field(default_factory=list)


def explain_text(plan: job.JobPlan) -> str:
    """The whole plan as text, one tree a query."""
    lines: list[str] = []
    for query in plan.queries:
        tree = _query(query)
        lines.extend(_draw(tree))
        lines.append("")
    numbered = [f"{number:02d}  {line}".rstrip() for number, line in enumerate(lines[:-1], 1)]
    return "\n".join(numbered) + "\n"


def _query(query: job.Query) -> _Line:
    trigger = "available now" if query.trigger_ms is None else f"every {format_ms(query.trigger_ms)}"
    # Where state is kept, the number of its partitions is part of what a query is.
    partitions = f", {query.parallelism} state partitions" if query.state else ""
    provisional = ", provisional" if query.provisional else ""
    root = _Line(f"query {query.uid}  ({query.output_mode}, {trigger}{partitions}{provisional})")
    root.children.append(_Line(query.reason))
    by_id = {op.id: op for op in query.operators}
    shared = len(query.sinks) > 1 or any(sink.input != query.trunk for sink in query.sinks)
    for sink in query.sinks:
        stop = query.trunk if shared else None
        root.children.append(_Line(_sink(sink), [_operator(query, by_id, sink.input, stop)]))
    if shared:
        title = "each epoch, kept while its sinks are written" if len(query.sinks) > 1 else "each epoch, read once"
        root.children.append(_Line(title, [_operator(query, by_id, query.trunk, None)]))
    return root


def _sink(sink: job.Sink) -> str:
    where = sink.options.get("path") or sink.options.get("topic") or ""
    key = f", key {', '.join(sink.primary_key)}" if sink.primary_key else ""
    delivery = sink.delivery.replace("_", " ")
    return f"sink {sink.uid} → {sink.connector}{f' {where}' if where else ''} ({delivery}{key})"


def _operator(query: job.Query, by_id: dict[str, job.Operator], id_: str, stop: str | None) -> _Line:
    """The operator and all above it; a chain is one indentation, an exchange or a second input begins another."""
    op = by_id[id_]
    if id_ == stop:
        return _Line(f"rows of {_title(query, op)}")
    line = _Line(f"{_title(query, op)}{_state(query, op)}")
    for index, parent in enumerate(op.inputs):
        edge = _edge(op, index)
        above = _operator(query, by_id, parent, stop)
        line.children.append(above if edge is None else _Line(edge, [above]))
    return line


def _title(query: job.Query, op: job.Operator) -> str:
    chain = next((chain.id for chain in query.chains if op.id in chain.operators), "")
    return f"[{chain}] {op.op} {_describe(op)}"


def _state(query: job.Query, op: job.Operator) -> str:
    state = next((s for s in query.state if s.operator == op.id), None)
    return "" if state is None else f"  · state {state.uid}: {state.bound}"


def _edge(op: job.Operator, index: int) -> str | None:
    """What moves rows between an operator and its input, or None for a forward edge."""
    if isinstance(op, job.Aggregate):
        keys = ", ".join(key.name for key in op.keys)
        return f"exchange hash({keys})"
    if isinstance(op, job.SeedJoin) and index == 1:
        return "exchange broadcast"
    return None


def _describe(op: job.Operator) -> str:
    return " ".join(_details(op))


def _details(op: job.Operator) -> Iterator[str]:
    match op:
        case job.Scan():
            where = op.options.get("path") or op.options.get("topic")
            yield f"{op.uid} from {op.connector}{f' {where}' if where else ''}"
            yield f"({', '.join(c.name for c in op.columns)})"
        case job.Seed():
            yield f"{op.uid} from {op.path}"
        case job.Watermark():
            yield f"{op.column} - {format_ms(op.delay_ms)}"
        case job.Filter():
            yield op.predicate
        case job.Project():
            yield ", ".join(item.sql if item.sql == item.name else f"{item.sql} AS {item.name}" for item in op.items)
        case job.Window():
            every = "" if op.kind == "tumble" else f" every {format_ms(op.slide_ms)}"
            yield f"{op.kind} {format_ms(op.size_ms)}{every} over {op.time_column}"
        case job.Aggregate():
            yield ", ".join(f"{item.sql} AS {item.name}" for item in op.aggregates) or "keys only"
            yield f"by {', '.join(key.name for key in op.keys)}"
        case job.SeedJoin():
            yield op.kind + (f" on {op.condition}" if op.condition else "")
        case job.Union():
            yield f"of {len(op.inputs)} inputs"


def _draw(line: _Line, prefix: str = "") -> Iterator[str]:
    yield line.text
    # An only child stays in the column of its parent: a chain reads as a list, not as a staircase.
    last = len(line.children) - 1
    for index, child in enumerate(line.children):
        branch, rest = ("└── ", "    ") if index == last else ("├── ", "│   ")
        for number, text in enumerate(_draw(child)):
            yield prefix + (branch if number == 0 else rest) + text

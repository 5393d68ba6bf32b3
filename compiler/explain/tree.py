"""A job plan in the fewest lines, as compile cases have it: each query as a tree, from its sinks up.

It needs the job plan alone; `headrace explain` draws the graphs, which know columns and places too.

Operators of a chain are a list, nearest the sink first; an exchange begins another chain, one step
further in. Lines carry numbers, so that a diff of two plans shows which operator moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.jobplan import model as job
from compiler.jobplan.durations import format_ms
from compiler.plan.changelog import RETRACT, Changelog


@dataclass
class _Line:
    """A line of the tree with what hangs below it."""

    text: str
    children: list[_Line] = field(default_factory=list)


def explain_text(plan: job.JobPlan) -> str:
    """The whole plan as text, one tree a query."""
    lines: list[str] = []
    for query in plan.queries:
        lines.extend(_draw(_query(query)))
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
    parts = any(sink.input != query.trunk for sink in query.sinks) or len(query.sinks) > 1
    stop = {query.trunk: "rows of the epoch"} if parts else {}
    read = {query.kept: "what the epoch has read"} if query.kept is not None else {}
    for sink in query.sinks:
        over = read if sink.uid in query.beside else stop
        root.children.append(_Line(_sink(sink), _upstream(query, by_id, sink.input, over)))
    if parts:
        root.children.append(
            _Line("each epoch, kept while it is written", _upstream(query, by_id, query.trunk, {}))
        )
    return root


def _sink(sink: job.Sink) -> str:
    where = job.location(sink.options)
    key = f", key {', '.join(sink.primary_key)}" if sink.primary_key else ""
    delivery = sink.delivery.replace("_", " ")
    changes = ", takes changes" if sink.upsert else ""
    return f"sink {sink.uid} → {sink.connector}{f' {where}' if where else ''} ({delivery}{key}{changes})"


def _upstream(
    query: job.Query, by_id: dict[str, job.Operator], id_: str, stop: dict[str, str]
) -> list[_Line]:
    """An operator and all above it: a chain is a list, an exchange or a second input an indentation.

    It ends at the operators of `stop`, with what is said of them.
    """
    if id_ in stop:
        return [_Line(stop[id_])]
    chain = _chain_of(query, id_)
    header = _Line(f"chain {chain}")
    position: str | None = id_
    while position is not None:
        op = by_id[position]
        line = _Line(f"{op.op} {op.describe()}{_changes(query, op)}")
        header.children.append(line)
        state = next((s for s in query.state if s.operator == op.id), None)
        if state is not None:
            line.children.append(_Line(f"state {state.uid}: {state.bound}"))
        position = None
        for index, parent in enumerate(op.inputs):
            if parent in stop:
                header.children.append(_Line(stop[parent]))
            elif _chain_of(query, parent) == chain:
                position = parent
            else:
                line.children.append(_Line(op.edge(index), _upstream(query, by_id, parent, stop)))
    return [header]


def _changes(query: job.Query, op: job.Operator) -> str:
    """What an operator's rows are, if they are not rows that stay."""
    found = next((changes for changes in query.changes if changes.operator == op.id), None)
    if found is None:
        return ""
    return f"  [{RETRACT if found.retract else Changelog('upsert', found.key)}]"


def _chain_of(query: job.Query, id_: str) -> str:
    return next((chain.id for chain in query.chains if id_ in chain.operators), "")


def _draw(line: _Line, prefix: str = "") -> Iterator[str]:
    yield line.text
    # An only child stays in the column of its parent: a chain reads as a list, not as a staircase.
    last = len(line.children) - 1
    for index, child in enumerate(line.children):
        branch, rest = ("└── ", "    ") if index == last else ("├── ", "│   ")
        for number, text in enumerate(_draw(child)):
            yield prefix + (branch if number == 0 else rest) + text

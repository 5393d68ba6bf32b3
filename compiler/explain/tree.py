"""`headrace explain`: each query of a job plan as a tree, from its sinks up to its sources.

Operators of a chain are a list, nearest the sink first; an exchange begins another chain, one step
further in. Lines carry numbers, so that a diff of two plans shows which operator moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compiler.jobplan import model as job
from compiler.jobplan.operators.fused_aggregate import FusedAggregate
from compiler.plan.changelog import Changelog
from compiler.plan.expr import quote_name
from compiler.plan.operators.match import spell
from compiler.plan.operators.session import describe_session
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
    stop = query.trunk if parts else None
    for sink in query.sinks:
        root.children.append(_Line(_sink(sink), _upstream(query, by_id, sink.input, stop)))
    if parts:
        root.children.append(
            _Line("each epoch, kept while it is written", _upstream(query, by_id, query.trunk, None))
        )
    return root


def _sink(sink: job.Sink) -> str:
    where = sink.options.get("path") or sink.options.get("topic") or ""
    key = f", key {', '.join(sink.primary_key)}" if sink.primary_key else ""
    delivery = sink.delivery.replace("_", " ")
    changes = ", takes changes" if sink.upsert else ""
    return f"sink {sink.uid} → {sink.connector}{f' {where}' if where else ''} ({delivery}{key}{changes})"


def _upstream(query: job.Query, by_id: dict[str, job.Operator], id_: str, stop: str | None) -> list[_Line]:
    """An operator and all above it: a chain is a list, an exchange or a second input an indentation."""
    if id_ == stop:
        return [_Line("rows of the epoch")]
    chain = _chain_of(query, id_)
    header = _Line(f"chain {chain}")
    position: str | None = id_
    while position is not None:
        op = by_id[position]
        line = _Line(f"{op.op} {' '.join(_details(op))}{_changes(query, op)}")
        header.children.append(line)
        state = next((s for s in query.state if s.operator == op.id), None)
        if state is not None:
            line.children.append(_Line(f"state {state.uid}: {state.bound}"))
        position = None
        for index, parent in enumerate(op.inputs):
            if parent == stop:
                header.children.append(_Line("rows of the epoch"))
            elif _chain_of(query, parent) == chain:
                position = parent
            else:
                line.children.append(_Line(_edge(op, index), _upstream(query, by_id, parent, stop)))
    return [header]


def _changes(query: job.Query, op: job.Operator) -> str:
    """What an operator's rows are, if they are not rows that stay."""
    found = next((changes for changes in query.changes if changes.operator == op.id), None)
    return f"  [{Changelog('upsert', found.key)}]" if found is not None else ""


def _chain_of(query: job.Query, id_: str) -> str:
    return next((chain.id for chain in query.chains if id_ in chain.operators), "")


def _edge(op: job.Operator, index: int) -> str:
    """What moves rows between an operator and an input of another chain."""
    if isinstance(op, job.Aggregate):
        return f"exchange hash({', '.join(key.name for key in op.keys)})"
    if isinstance(op, FusedAggregate):
        return f"exchange hash({', '.join((op.branch, op.end, *(slot.name for slot in op.slots)))})"
    if isinstance(op, (job.IntervalJoin, job.WindowJoin, job.RegularJoin, job.TemporalJoin)):
        return f"{'right' if index else 'left'}, exchange hash(keys)"
    if isinstance(op, job.Session):
        return f"exchange hash({', '.join(op.keys)})"
    if isinstance(op, job.SessionAggregate):
        return f"exchange hash({', '.join(key.sql for key in op.keys)})"
    if isinstance(op, (job.Match, job.Process)):
        return f"exchange hash({', '.join(op.key_columns)})"
    if isinstance(op, job.Distinct):
        return f"exchange hash({', '.join(column.name for column in op.columns)})"
    if isinstance(op, (job.SeedJoin, job.LookupJoin)) and index == 1:
        return "exchange broadcast"
    return f"input {index + 1}"


def _details(op: job.Operator) -> Iterator[str]:  # noqa: PLR0912, PLR0915  # one case an operator
    match op:
        case job.Scan():
            where = op.options.get("path") or op.options.get("topic")
            yield f"{op.uid} from {op.connector}{f' {where}' if where else ''}"
            yield f"({', '.join(c.name for c in op.columns)})"
        case job.Values():
            yield f"{len(op.rows)} rows ({', '.join(column.name for column in op.columns)})"
        case job.Seed():
            yield f"{op.uid} from {op.path}"
        case job.Watermark():
            yield f"{op.column} - {format_ms(op.delay_ms)}"
        case job.Filter():
            yield op.predicate
        case job.Project():
            yield ", ".join(
                item.name if item.sql == quote_name(item.name) else f"{item.sql} AS {item.name}"
                for item in op.items
            )
        case job.Generate():
            yield f"{op.sql} AS ({', '.join(op.names)})"
        case job.Window():
            every = "" if op.kind == "tumble" else f" every {format_ms(op.slide_ms)}"
            offset = f" from {format_ms(op.offset_ms)}" if op.offset_ms else ""
            calendar = " by the calendar" if op.by_calendar else ""
            yield f"{op.kind} {format_ms(op.size_ms)}{every}{offset}{calendar} over {op.time_column}"
        case job.Session():
            yield describe_session(op.gap_ms, op.time_column, op.keys)
        case job.SessionAggregate():
            keys = tuple(key.sql for key in op.keys)
            yield ", ".join(f"{item.sql} AS {item.name}" for item in op.aggregates) or "keys only"
            yield f"over sessions of {describe_session(op.gap_ms, op.time_column, keys)}"
        case job.Aggregate():
            yield ", ".join(f"{item.sql} AS {item.name}" for item in op.aggregates) or "keys only"
            yield f"by {', '.join(key.name for key in op.keys) or 'nothing'}"
        case FusedAggregate():
            yield ", ".join(branch.uid for branch in op.branches)
        case job.Match():
            within = f" within {format_ms(op.within_ms)}" if op.within_ms is not None else ""
            yield f"({spell(op.pattern)}){within} over {op.time_column}"
            yield f"skip {op.skip.mode.replace('_', ' ')}" + (
                f" {op.skip.variable}" if op.skip.variable else ""
            )
        case job.Process():
            given = ", ".join(f"{name} => {value}" for name, value in op.arguments.items())
            yield f"{op.module}.{op.function}({given}) AS ({', '.join(column.name for column in op.output)})"
        case job.Distinct():
            yield ", ".join(column.name for column in op.columns)
        case job.LookupTable():
            yield f"{op.uid} from {op.connector} {op.options.get('path', '')}"
            if op.refresh_ms is not None:
                yield f"at most {format_ms(op.refresh_ms)} old"
        case job.SeedJoin() | job.LookupJoin():
            yield op.kind + (f" on {op.condition}" if op.condition else "")
        case job.IntervalJoin() | job.WindowJoin():
            yield f"{op.kind} on {op.condition}"
        case job.TemporalJoin():
            rest = (f"{key.left} = {key.right}" for key in op.keys)
            yield f"{op.kind} on {' AND '.join((*rest, *([op.condition] if op.condition else [])))}"
            yield f"as of {op.left_time.column}"
        case job.RegularJoin():
            yield f"inner on {op.condition}"
        case job.FromChangelog():
            yield f"{op.op_column} is the operation: {_pairs(op.operations)}"
        case job.ToChangelog():
            yield f"the operation is {op.op_column}: {_pairs(op.codes)}"
        case job.Union():
            yield f"of {len(op.inputs)} inputs"


def _pairs(table: dict[str, str]) -> str:
    return ", ".join(f"{key} → {value}" for key, value in table.items())


def _draw(line: _Line, prefix: str = "") -> Iterator[str]:
    yield line.text
    # An only child stays in the column of its parent: a chain reads as a list, not as a staircase.
    last = len(line.children) - 1
    for index, child in enumerate(line.children):
        branch, rest = ("└── ", "    ") if index == last else ("├── ", "│   ")
        for number, text in enumerate(_draw(child)):
            yield prefix + (branch if number == 0 else rest) + text

"""What it would cost to form queries anew, in words."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.jobplan.model import JobPlan, Manifest


def changes(plan: JobPlan, manifest: Manifest | None) -> tuple[str, ...]:
    """The differences between the queries that have run and those of a plan that was formed anew.

    Args:
        plan: compiled with `rechain`.
        manifest: what the state root remembers.
    """
    there = {group.uid: group for group in manifest.groups} if manifest is not None else {}
    planned = {query.uid for query in plan.queries}
    ended = [group for group in there.values() if group.uid not in planned]
    if not ended:
        return ("rechain: the queries that run are those that would be formed now; nothing begins anew",)
    begun = [query for query in plan.queries if query.uid not in there]
    number = f"{len(planned)} {'query' if len(planned) == 1 else 'queries'}"
    lines = [f"rechain: {number} instead of {len(there)}"]
    for group in ended:
        state = f", with its state ({', '.join(state.uid for state in group.state)})" if group.state else ""
        lines.append(f"  query {group.uid} of {_list(group.sinks)} ends{state}")
    lines += [
        f"  query {query.uid} begins: {_list([sink.uid for sink in query.sinks])} read "
        f"{_list(query.sources)} from the start, and are emptied before (--full-refresh)"
        for query in begun
    ]
    return tuple(lines)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)

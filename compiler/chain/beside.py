"""Sinks that take rows as they were read, in the query of a state over the same read.

Rows that leave a stream have passed its state, so sinks that need none would be a query of their own, with a
read of its own. Where the rows that an epoch has read can be kept, both take them from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from compiler.chain.reasons import Formed
from compiler.chain.siblings import as_one
from compiler.chain.trunk import find_trunk
from compiler.connectors import CONNECTORS
from compiler.plan.expr import calls_python
from compiler.plan.logical import BoundSink
from compiler.plan.node import Node, walk
from compiler.plan.operators import Scan

_REREAD: Final = {connector.name for connector in CONNECTORS if connector.rereads}
# Of such files each query reads just the columns that it uses, which costs less than to keep rows.
_BY_COLUMN: Final = frozenset(("parquet", "orc"))


def put_beside(formed: Sequence[Formed]) -> list[Formed]:
    """The queries to be; sinks without state stand beside the first state that can keep rows for them."""
    copies = [replace(one, beside=[]) for one in formed]
    homes = [one for one in copies if one.needs[1]]
    found: list[Formed] = []
    for one in copies:
        home = None if one.needs[1] else next((home for home in homes if _takes(home, one)), None)
        if home is None:
            found.append(one)
        else:
            home.beside.extend(one.sinks)
    return found


def _takes(home: Formed, one: Formed) -> bool:
    first, other = home.sinks[0], one.sinks[0]
    alike = (first.trigger_ms, first.isolated) == (other.trigger_ms, other.isolated)
    if not alike or home.needs[0] != one.needs[0] or _share_python(one.sinks):
        return False
    trunk = find_trunk(as_one(home.sinks, home.siblings))
    return trunk is not None and kept_read(trunk) is not None


def _share_python(sinks: Sequence[BoundSink]) -> bool:
    """Whether sinks share an operator that calls Python; beside a state each would call it anew."""
    ways = Counter(id(node) for sink in sinks for node in walk(sink.node))
    shared = (node for node in walk(*(sink.node for sink in sinks)) if ways[id(node)] > 1)
    return any(calls_python(expr) for node in shared for expr in node.expressions)


def split(members: Sequence[BoundSink]) -> tuple[list[BoundSink], list[BoundSink]]:
    """The sinks of a query that take what has passed its state, and those beside it, if it has a state."""
    stateful = [sink for sink in members if any(node.is_stateful for node in walk(sink.node))]
    if not stateful:
        return list(members), []
    return stateful, [sink for sink in members if all(sink is not other for other in stateful)]


def kept_read(trunk: Node) -> Scan | None:
    """The read of a stream, if it is the only one and its rows can be kept.

    A read that is used twice above the trunk is two reads to Spark (`chain.reads`), each with its offsets.
    """
    nodes = list(walk(trunk))
    scans = [node for node in nodes if isinstance(node, Scan)]
    uses = Counter(id(child) for node in nodes for child in node.inputs if child.is_stream)
    if len(scans) != 1 or any(count > 1 for count in uses.values()):
        return None
    scan = scans[0]
    can_be_kept = scan.connector in _REREAD and dict(scan.options).get("format") not in _BY_COLUMN
    return scan if can_be_kept else None

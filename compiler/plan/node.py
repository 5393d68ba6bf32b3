"""The base of the logical plan: an immutable DAG of operators.

Nodes are shared: a model that two others read is one object, and stays one through every pass
(`rewrite` keeps sharing), so "read twice" is "has two consumers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal, Self

from compiler.frozen import frozen
from compiler.jobplan import model as job
from compiler.plan.changelog import APPEND, Changelog
from compiler.plan.expr import Expr
from compiler.plan.schema import Schema

EdgeKind = Literal["forward", "hash", "rebalance", "broadcast", "union"]


@frozen
class Node:
    """An operator.

    Args:
        uid: stable name within the project, `<model>.<operator>`; state is kept under it.
    """

    # Short name of the operator, as `explain` and uids have it.
    kind: ClassVar[str] = ""

    uid: str

    def __post_init__(self) -> None:
        # Now, while the inputs know theirs: a chain of some hundred models is deeper than Python's
        # recursion limit.
        _ = self.schema, self.is_stream, self.changelog

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Upstream operators."""
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        """This operator over other inputs, as many as before."""
        assert not inputs
        return self

    def copied(self, number: int) -> Self:
        """The same operator for its use `number` within a query, told apart by its uid."""
        return replace(self, uid=job.copy_uid(self.uid, number))

    @cached_property
    def schema(self) -> Schema:
        """Columns of the output."""
        return self._derive_schema()

    def _derive_schema(self) -> Schema:
        raise NotImplementedError  # every operator has it

    @cached_property
    def is_stream(self) -> bool:
        """Whether rows keep arriving; False for what is made of seeds alone."""
        return any(node.is_stream for node in self.inputs)

    @cached_property
    def changelog(self) -> Changelog:
        """Whether its rows are facts or changes."""
        return self._derive_changelog()

    def _derive_changelog(self) -> Changelog:
        return APPEND

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """Everything it computes from its inputs' columns."""
        return ()

    def edge_from(self, index: int) -> EdgeKind:
        """How rows come from input `index`: forward edges can be chained, the others move rows."""
        return "forward"

    def edge_keys(self, index: int) -> tuple[str, ...]:
        """By which rows of input `index` are placed, if their edge is `hash`."""
        state = self.state("")
        return state.keys if state else ()

    @property
    def is_stateful(self) -> bool:
        """Whether it keeps state from epoch to epoch."""
        return False

    @property
    def heeds_watermark(self) -> bool:
        """Whether event time decides what it gives or forgets, and not the epoch's clock or nothing."""
        return self.is_stateful

    def takes_changes(self, index: int) -> bool:
        """Whether input `index` may be changes (`plan.changelog`); else each would be taken for a new row."""
        return False

    @property
    def orders_rows(self) -> bool:
        """Whether what it gives depends on the order in which the rows of an epoch arrived."""
        return False

    @property
    def updates(self) -> bool:
        """Whether Spark runs it in update mode only, beside which a query can have no other state."""
        return False

    def state(self, operator: str) -> job.State | None:
        """What it keeps, for a stateful operator; `operator` is its id in the job plan."""
        return None

    @property
    def stored_columns(self) -> tuple[str, ...]:
        """What its state holds besides the keys, if it is stateful: whole rows, unless it says otherwise."""
        return tuple(name for node in self.inputs for name in node.schema.names)

    def describe(self) -> str:
        """One line for `explain`, without the kind."""
        return ""

    def lower(self, id_: str, inputs: tuple[str, ...]) -> job.Operator:
        """The operator of the job plan that runs this one."""
        raise NotImplementedError  # every operator that can be in a job plan has it


def walk(*roots: Node) -> Iterator[Node]:
    """Every operator once, inputs before consumers."""
    seen: set[int] = set()
    for root in roots:
        # A stack of its own, since plans are deeper than Python's recursion limit.
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, done = stack.pop()
            if id(node) in seen:
                continue
            if done:
                seen.add(id(node))
                yield node
            else:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.inputs))


def rewrite(roots: tuple[Node, ...], change: Callable[[Node], Node]) -> tuple[Node, ...]:
    """Applies `change` to every operator, inputs first; shared operators stay shared."""
    new = rewritten(roots, lambda _, node: change(node))
    return tuple(new[id(root)] for root in roots)


def rewritten(roots: tuple[Node, ...], change: Callable[[Node, Node], Node]) -> dict[int, Node]:
    """As `rewrite`, for a change that has to know which operator of the plan it is given.

    Args:
        roots: the plan.
        change: takes an operator as it is in the plan, and over its changed inputs.

    Returns:
        What stands for each operator now, by the identity of the one in the plan.
    """
    new: dict[int, Node] = {}
    for node in walk(*roots):
        inputs = tuple(new[id(child)] for child in node.inputs)
        same = all(a is b for a, b in zip(inputs, node.inputs, strict=True))
        new[id(node)] = change(node, node if same else node.with_inputs(inputs))
    return new

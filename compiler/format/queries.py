"""Queries: a clause a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from compiler.format.document import Doc, Hard, Line, group, indent
from compiler.format.expressions import comma_list, comment, expression, is_trailing, split_lead, words
from compiler.format.tokens import Token
from compiler.format.tree import Node, first, is_key

_SET_OPERATIONS: Final = ("UNION", "INTERSECT", "EXCEPT")
_LISTS: Final = ("SELECT", "GROUP", "ORDER", "PARTITION")
_CONDITIONS: Final = ("WHERE", "HAVING", "QUALIFY")
_JOIN_WORDS: Final = ("LEFT", "RIGHT", "FULL", "INNER", "CROSS", "SEMI", "ANTI", "OUTER", "JOIN")
# What may stand between a clause's first word and its content.
_MORE: Final = ("BY", "DISTINCT", "ALL", *_JOIN_WORDS, "LATERAL", "VIEW")


def query(nodes: Sequence[Node]) -> Doc:
    """A query with its WITH and its set operations."""
    docs: list[Doc] = []
    for clause in _clauses(nodes):
        if docs:
            docs.append(Hard())
        docs.append(_clause(clause))
    return group(*docs) if len(docs) == 1 else group(*docs, "")


def _clauses(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes of each clause; comments on lines of their own go with the clause after them."""
    found: list[list[Node]] = [[]]
    for index, node in enumerate(nodes):
        if _begins(nodes, index) and any(not first(n).is_comment for n in found[-1]):
            found[-1], lead = split_lead(found[-1])
            found.append(lead)
        found[-1].append(node)
    return found


def _begins(nodes: Sequence[Node], index: int) -> bool:
    """Whether a clause begins at a node."""
    node = nodes[index]
    before = _said(nodes, index, -1)
    if is_key(node, *_SET_OPERATIONS, *_CONDITIONS, "LIMIT", "OFFSET"):
        return True
    if is_key(node, "SELECT"):
        return True
    if is_key(node, "FROM"):
        # `IS NOT DISTINCT FROM` is an operator.
        return not is_key(before, "DISTINCT")
    if is_key(node, "GROUP", "ORDER"):
        return True
    if is_key(node, *_JOIN_WORDS):
        return not is_key(before, *_JOIN_WORDS)
    return is_key(node, "LATERAL") and is_key(_said(nodes, index, 1), "VIEW")


def _said(nodes: Sequence[Node], index: int, step: int) -> Node | None:
    """The nearest node that is no comment."""
    index += step
    while 0 <= index < len(nodes):
        if not first(nodes[index]).is_comment:
            return nodes[index]
        index += step
    return None


def _clause(nodes: Sequence[Node]) -> Doc:
    docs: list[Doc] = []
    rest = list(nodes)
    while rest and first(rest[0]).is_comment:
        docs += [*comment(first(rest.pop(0))), Hard()]
    head: list[Node] = rest[:1]
    rest = rest[1:]
    while rest and (is_key(rest[0], *_MORE) or is_trailing(first(rest[0]))):
        head.append(rest.pop(0))
    docs += words(head, query)
    if not rest:
        return group(*docs)
    kind = head[0]
    if is_key(kind, *_LISTS):
        return group(*docs, indent(Line(), *comma_list(rest, query)))
    if is_key(kind, *_CONDITIONS):
        return group(*docs, " ", *expression(rest, query))
    if is_key(kind, *_JOIN_WORDS):
        return _join(docs, rest)
    if is_key(kind, "WITH"):
        return group(*docs, " ", *_common_tables(rest))
    if is_key(kind, "FROM"):
        head_item, *others = comma_list(rest, query)
        return group(*docs, " ", head_item, indent(*others))
    return group(*docs, " ", *words(rest, query)) if isinstance(kind, Token) else group(*words(nodes, query))


def _join(head: list[Doc], rest: Sequence[Node]) -> Doc:
    at = next((i for i, node in enumerate(rest) if is_key(node, "ON")), None)
    if at is None:
        return group(*head, " ", *words(rest, query))
    condition = expression(rest[at + 1 :], query)
    return group(*head, " ", *words(rest[:at], query), indent(Line(), "ON ", *condition))


def _common_tables(nodes: Sequence[Node]) -> list[Doc]:
    """`name AS (query)`, each on lines of its own."""
    docs: list[Doc] = []
    part: list[Node] = []
    for node in nodes:
        part.append(node)
        if isinstance(node, Token) and node.text == ",":
            docs += [*words(part, query), Hard()]
            part = []
    return [*docs, *words(part, query)]

"""Expressions, lists and brackets as documents, and the space between two tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from compiler.format.document import Doc, Hard, Line, group, indent
from compiler.format.tokens import KEYWORDS, Token
from compiler.format.tree import Nested, Node, first, is_key, last

# Keywords that are called like functions: no space before their bracket.
_CALLED: Final = frozenset("CAST DESCRIPTOR EXISTS TUMBLE HOP CUMULATE SESSION IF LEFT RIGHT REPLACE".split())
_OPERATORS: Final = frozenset("+ - * / % = == <> != < > <= >= <=> || => -> & | ^ &&".split())
# Keywords that end a value.
_VALUES: Final = frozenset({"END", "NULL", "TRUE", "FALSE"})
# What a variable may be a part of.
_PARTS: Final = frozenset({"template", "word", "number", "string"})
QueryLayout = Callable[[Sequence[Node]], Doc]


def space(before: Token | None, token: Token, *, unary: bool, nested: bool) -> bool:
    """Whether a space stands between two tokens of one line.

    Args:
        before: the token before, None at the start.
        token: the token after.
        unary: whether `before` is a sign and not an operator between two values.
        nested: whether `token` opens brackets that were matched.
    """
    if before is None:
        return False
    kinds = {before.kind, token.kind}
    if ":" in (before.text, token.text) or ("template" in kinds and kinds <= _PARTS):
        return token.spaced  # a variable may be a part of a word
    if token.text in (",", ";", ")", "]", ".", "::") or before.text in ("(", "[", ".", "::"):
        # A number and a dot would become another number.
        return token.text == "." and before.kind == "number" and token.spaced
    if unary:
        # Two signs in a row would begin a comment.
        return token.text == "-"
    if nested and token.text == "<":
        return False
    if token.text == "[":
        return before.text in _OPERATORS or before.text == "," or (before.text in KEYWORDS)
    if token.text == "(":
        if before.kind == "word":
            return before.text in KEYWORDS and before.text not in _CALLED
        return before.kind != "string" or before.text[0] not in '`"'
    if token.text in _OPERATORS or before.text in _OPERATORS or before.text == ",":
        return True
    if token.kind == "symbol" or before.kind == "symbol":
        return token.spaced or before.text in (")", "]", ">")
    return True


def words(nodes: Sequence[Node], query: QueryLayout) -> list[Doc]:
    """Nodes on a line, with line ends only within brackets and where comments need them."""
    docs: list[Doc] = []
    before: Token | None = None
    unary = spaced = False
    for index, node in enumerate(nodes):
        token = first(node)
        if token.is_comment:
            docs += comment(token)
            # It brings the space behind it.
            spaced = True
            continue
        if not spaced and space(before, token, unary=unary, nested=isinstance(node, Nested)):
            docs.append(" ")
        docs.append(bracketed(node, query) if isinstance(node, Nested) else token.text)
        unary = token.text in ("-", "+", "~", "!") and _begins_value(nodes, index)
        before = last(node)
        spaced = False
    return docs


def _begins_value(nodes: Sequence[Node], index: int) -> bool:
    """Whether a sign at `index` belongs to the value after it."""
    for node in reversed(nodes[:index]):
        token = last(node)
        if token.is_comment:
            continue
        if token.kind == "word":
            return token.text in KEYWORDS and token.text not in _VALUES
        return token.kind == "symbol" and token.text not in (")", "]")
    return True


def is_trailing(token: Token) -> bool:
    """Whether it is a comment behind something on its line."""
    return token.is_comment and not token.lines


def comment(token: Token) -> list[Doc]:
    """A comment: behind what stands on its line, or on a line of its own."""
    if token.kind == "line_comment":
        return [Hard(), token.text, Hard()] if token.lines else [" ", token.text, Hard()]
    if "\n" in token.text:
        return [Hard() if token.lines else " ", token.text, Hard()]
    return [Hard(), token.text, " "] if token.lines else [" ", token.text, " "]


def bracketed(node: Nested, query: QueryLayout) -> Doc:
    """Brackets, or CASE … END."""
    assert node.closing is not None
    if node.opening.text == "CASE":
        return _case(node, query)
    if is_query(node.inner):
        return group("(", indent(Hard(), query(node.inner)), Hard(), ")")
    if node.opening.text == "<":
        flat = [", " if isinstance(doc, Line) else doc for doc in comma_list(node.inner, query) if doc != ","]
        return group("<", *flat, ">")
    if not node.inner:
        return node.opening.text + node.closing.text
    items = comma_list(node.inner, query)
    return group(node.opening.text, indent(Line(""), *items), Line(""), node.closing.text)


def _case(node: Nested, query: QueryLayout) -> Doc:
    parts: list[list[Node]] = [[]]
    for inner in node.inner:
        if is_key(inner, "WHEN", "ELSE"):
            parts.append([])
        parts[-1].append(inner)
    head, *branches = parts
    docs: list[Doc] = ["CASE"]
    if head:
        docs += [" ", *expression(head, query)]
    inner_docs: list[Doc] = []
    for branch in branches:
        inner_docs += [Line(), *expression(branch, query)]
    return group(*docs, indent(*inner_docs), Line(), "END")


def is_query(nodes: Sequence[Node]) -> bool:
    """Whether nodes are a query."""
    said = [node for node in nodes if not first(node).is_comment]
    if not said or is_key(said[0], "SELECT"):
        return bool(said)
    return is_key(said[0], "WITH") and len(said) > 1 and isinstance(said[1], Token)


def comma_list(nodes: Sequence[Node], query: QueryLayout) -> list[Doc]:
    """Items between commas, each a group, with a place for a line end after each comma."""
    docs: list[Doc] = []
    item: list[Node] = []
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if isinstance(node, Token) and node.text == ",":
            docs += [group(*expression(item, query)), ","]
            item = []
            # A comment behind the comma is about what stands before it.
            while index + 1 < len(nodes) and is_trailing(first(nodes[index + 1])):
                index += 1
                docs += comment(first(nodes[index]))
            docs.append(Line())
        else:
            item.append(node)
        index += 1
    docs.append(group(*expression(item, query)))
    return docs


def expression(nodes: Sequence[Node], query: QueryLayout) -> list[Doc]:
    """An expression, with a place for a line end before each AND and OR of its own."""
    docs: list[Doc] = []
    part: list[Node] = []
    between = False
    for node in nodes:
        if is_key(node, "BETWEEN"):
            between = True
        if is_key(node, "AND", "OR") and part:
            if between and is_key(node, "AND"):
                between = False
            else:
                docs += [*words(part, query), Line()]
                part = []
        part.append(node)
    if not docs:
        return words(part, query)
    return [docs[0], indent(*docs[1:], *words(part, query))]


def split_lead(nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Nodes without the comments at their end that stand on lines of their own, and those comments."""
    kept = list(nodes)
    lead: list[Node] = []
    while kept and first(kept[-1]).is_comment:
        lead.insert(0, kept.pop())
    while lead and not first(lead[0]).lines:
        kept.append(lead.pop(0))
    return kept, lead

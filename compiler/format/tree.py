"""Brackets and CASE … END as a tree, and which words are keywords where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from compiler.format.tokens import KEYWORDS, Token, UnreadableError


@dataclass
class Nested:
    """What stands between brackets, or between CASE and END."""

    opening: Token
    inner: list[Node] = field(default_factory=list)
    closing: Token | None = None


Node = Token | Nested

_CLOSES: Final = {"(": ")", "[": "]", "<": ">"}
_BRANCHES: Final = ("WHEN", "THEN", "ELSE")
_TYPES: Final = ("ARRAY", "MAP", "STRUCT", "ROW", "MULTISET")

# Words that are keywords only beside others, since Spark takes them for names as well: what must follow, or
# must come before.
_FOLLOWED: Final = {
    "GROUP": {"BY"},
    "ORDER": {"BY"},
    "PARTITION": {"BY"},
    "PARTITIONED": {"BY"},
    "LEFT": {"JOIN", "OUTER", "SEMI", "ANTI"},
    "RIGHT": {"JOIN", "OUTER"},
    "FULL": {"JOIN", "OUTER"},
    "INNER": {"JOIN"},
    "CROSS": {"JOIN"},
    "OUTER": {"JOIN"},
    "SEMI": {"JOIN"},
    "ANTI": {"JOIN"},
    "PRIMARY": {"KEY"},
    "WATERMARK": {"FOR"},
    "METADATA": {"FROM", "VIRTUAL", ",", ")"},
    "OVER": {"("},
    "CAST": {"("},
    "FILTER": {"("},
    "DESCRIPTOR": {"("},
    "TUMBLE": {"("},
    "HOP": {"("},
    "CUMULATE": {"("},
    "SESSION": {"("},
    "EXISTS": {"(", "SELECT"},
    "IF": {"NOT", "EXISTS"},
    "EXECUTE": {"STATEMENT"},
    "STATEMENT": {"SET"},
    "NULLS": {"FIRST", "LAST"},
    "CURRENT": {"ROW"},
    "UNBOUNDED": {"PRECEDING", "FOLLOWING"},
    "ROWS": {"BETWEEN", "UNBOUNDED", "CURRENT"},
    "RANGE": {"BETWEEN", "UNBOUNDED", "CURRENT"},
    "FOR": {"SYSTEM_TIME"},
    "SYSTEM_TIME": {"AS"},
    "REPLACE": {"TABLE", "TEMPORARY", "VIEW", "MODEL", "SINK", "SOURCE"},
}
_PRECEDED: Final = {
    "BY": {"GROUP", "ORDER", "PARTITION", "PARTITIONED", "CLUSTER", "SORT", "DISTRIBUTE"},
    "ALL": {"UNION", "INTERSECT", "EXCEPT", "SELECT"},
    "DISTINCT": {"SELECT", "(", "UNION", "INTERSECT", "EXCEPT", "IS", "NOT"},
    "KEY": {"PRIMARY"},
    "ENFORCED": {"NOT"},
    "ROW": {"CURRENT"},
    "SET": {"", "STATEMENT"},
    "BEGIN": {"SET"},
    "TABLE": {"CREATE", "TEMPORARY", "REPLACE", "("},
    "VIEW": {"CREATE", "TEMPORARY", "REPLACE", "LATERAL"},
    "MODEL": {"CREATE", "REPLACE"},
    "SOURCE": {"CREATE", "REPLACE"},
    "SINK": {"CREATE", "REPLACE"},
    "FUNCTION": {"CREATE", "TEMPORARY", "REPLACE"},
    "TEMPORARY": {"CREATE", "REPLACE"},
    "CREATE": {"", "BEGIN"},
    "INSERT": {"", "BEGIN"},
    "INTO": {"INSERT"},
    "OF": {"SYSTEM_TIME", "AS"},
    "SYSTEM_TIME": {"FOR"},
    "FOR": {"WATERMARK"},
}
_QUOTES: Final = "'\"`"


def is_keyword(before: str, token: Token, after: str) -> bool:
    """Whether a word is a keyword, told by its neighbours in capitals ("" where there are none)."""
    word = token.upper
    if word not in KEYWORDS or before == "." or after == ".":
        return False
    if before == "AS" and word not in ("SELECT", "WITH", "OF"):
        return False
    if word in ("LIMIT", "OFFSET"):
        return after[:1].isdigit() or after.startswith(("$", "{"))
    if word == "INTERVAL":
        return after[:1].isdigit() or after[:1] in ("'", '"', "$", "-")
    if word in ("VIRTUAL", "ASC", "DESC", "FOLLOWING", "PRECEDING"):
        return after in (",", ")", "", "NULLS", "AND", "LIMIT", "ROWS", "RANGE", ";")
    if word == "END":
        return before == "" and after in ("", ";")
    if word in ("CASE", "WHEN", "THEN", "ELSE"):
        return False  # told by `tree`, where they stand in pairs
    followed, preceded = _FOLLOWED.get(word), _PRECEDED.get(word)
    if followed is None and preceded is None:
        return True
    return (followed is not None and after in followed) or (preceded is not None and before in preceded)


def tree(found: Sequence[Token]) -> list[Node]:
    """The tokens of a statement as a tree, keywords in capitals.

    Raises:
        UnreadableError: a bracket or a CASE is not closed.
    """
    top: list[Node] = []
    stack: list[Nested] = []
    types = _type_brackets(found)
    for index, (token, before, after) in enumerate(_neighbours(found)):
        here = stack[-1].inner if stack else top
        inside_case = bool(stack) and stack[-1].opening.upper == "CASE"
        named = before in (".", "AS") or after == "."
        if token.text in ("(", "[") or (token.text == "<" and index in types):
            stack.append(Nested(token))
        elif token.upper == "CASE" and not named:
            stack.append(Nested(replace(token, text="CASE")))
        elif token.text in (")", "]") or (token.text == ">" and index in types):
            if not stack or _CLOSES.get(stack[-1].opening.text) != token.text:
                raise UnreadableError(token.text)
            _close(stack, top, token)
        elif inside_case and token.upper == "END" and not named:
            _close(stack, top, replace(token, text="END"))
        elif (inside_case and token.upper in _BRANCHES and not named) or is_keyword(before, token, after):
            here.append(replace(token, text=token.upper))
        else:
            here.append(token)
    if stack:
        raise UnreadableError(stack[-1].opening.text)
    return top


def _type_brackets(found: Sequence[Token]) -> set[int]:
    """Where `<` and `>` are the brackets of a type, as in `ARRAY<STRUCT<a: INT>>`, and no comparisons."""
    marked: set[int] = set()
    opened: list[int] = []
    for index, token in enumerate(found):
        if token.text == "<" and index and (opened or found[index - 1].upper in _TYPES):
            opened.append(index)
        elif token.text == ">" and opened:
            marked |= {opened.pop(), index}
        elif opened and token.kind not in ("word", "number", "string") and token.text not in ",:()":
            opened.clear()
    return marked if not opened else marked - set(range(opened[0], len(found)))


def _close(stack: list[Nested], top: list[Node], closing: Token) -> None:
    done = stack.pop()
    done.closing = closing
    (stack[-1].inner if stack else top).append(done)


def _neighbours(found: Sequence[Token]) -> Iterator[tuple[Token, str, str]]:
    """Each token with the text in capitals of those before and after it; comments are looked through."""
    said = [index for index, token in enumerate(found) if not token.is_comment]
    at = {index: number for number, index in enumerate(said)}
    for index, token in enumerate(found):
        number = at.get(index)
        if number is None:
            yield token, "", ""
            continue
        before = found[said[number - 1]].text.upper() if number else ""
        after = found[said[number + 1]].text.upper() if number + 1 < len(said) else ""
        yield token, before, after


def first(node: Node) -> Token:
    """The first token of a node."""
    return node if isinstance(node, Token) else node.opening


def last(node: Node) -> Token:
    """The last token of a node."""
    if isinstance(node, Token):
        return node
    assert node.closing is not None
    return node.closing


def word(node: Node | None) -> str:
    """A keyword or another word in capitals; empty for all else."""
    return node.upper if isinstance(node, Token) else ""


def is_key(node: Node | None, *words: str) -> bool:
    """Whether a node is one of some keywords: it was put into capitals."""
    return isinstance(node, Token) and node.kind == "word" and node.text in words

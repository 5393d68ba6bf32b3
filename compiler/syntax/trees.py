"""Reads texts, names and fragments out of the statement parser's trees."""

from __future__ import annotations

from typing import Any

from compiler.diagnostics.codes import UNSUPPORTED_SYNTAX
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import Scope


def first_token(node: Any) -> Any:
    """The first token below a node."""
    while hasattr(node, "data"):
        node = node.children[0]
    return node


def last_token(node: Any) -> Any:
    """The last token below a node."""
    while hasattr(node, "data"):
        node = node.children[-1]
    return node


def subtrees(node: Any, kind: str) -> list[Any]:
    """The children of one kind."""
    return [c for c in node.children if getattr(c, "data", None) == kind]


def tokens(node: Any, kind: str) -> list[Any]:
    """The tokens of one kind among the children."""
    return [c for c in node.children if getattr(c, "type", None) == kind]


def unquote(text: str) -> str:
    """The content of a quoted string or name; a doubled quote stands for one, a backslash for itself."""
    quote = text[0]
    return text[1:-1].replace(quote + quote, quote)


class Reader:
    """Maps a statement's tree to places in the file."""

    def __init__(self, statement: Fragment) -> None:
        self.statement = statement

    def span(self, node: Any) -> Span:
        """Where a node or token lies."""
        return self.statement.span(first_token(node).start_pos, last_token(node).end_pos)

    def fragment(self, node: Any) -> Fragment:
        """The text of a node or token."""
        return self.statement.slice(first_token(node).start_pos, last_token(node).end_pos)

    def text(self, token: Any) -> Text:
        """A word, name, number or string."""
        raw = str(token)
        quoted = raw[0] in "'\"`"
        return Text(unquote(raw) if quoted else raw, self.span(token), quoted)

    def one(self, node: Any) -> Text:
        """The single token below a node."""
        return self.text(first_token(node))

    def names(self, node: Any) -> tuple[Text, ...]:
        """The names of a list in parentheses."""
        return tuple(self.one(n) for n in subtrees(node, "name"))

    def one_part(self, node: Any, scope: Scope) -> Text:
        """The last part of a name; one of several parts is reported."""
        parts = [c for c in node.children if c.type != "DOT"]
        if len(parts) > 1:
            scope.error(
                UNSUPPORTED_SYNTAX,
                f"`{self.fragment(node).text}` has several parts",
                self.span(node),
                cause="a project has no catalogs and databases; names have one part",
                fix=f"write `{self.text(parts[-1]).value}`",
            )
        return self.text(parts[-1])

    def options(self, node: Any) -> list[OptionDecl]:
        """The entries of an options list."""
        return [
            OptionDecl(self.one(o.children[0]), self.one(o.children[2])) for o in subtrees(node, "option")
        ]

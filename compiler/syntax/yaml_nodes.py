"""Strict reading of YAML: the tree of nodes, with the place of each, judged against what is expected.

PyYAML's node graph is read instead of plain Python values, for the places, and because YAML 1.1 would turn a
key `on` into true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from msgspec import Struct

from compiler.diagnostics.codes import (
    DUPLICATE_NAME,
    MISSING_KEY,
    UNKNOWN_KEY,
    WRONG_VALUE,
    YAML_SYNTAX,
)
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import one_of, suggest
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.durations import parse_duration_ms, parse_signed_duration_ms
from compiler.syntax.fragment import Fragment, Piece
from compiler.syntax.parsed import Scope
from compiler.syntax.variables import fill, fill_sql
from compiler.syntax.yaml_scalars import scalar_fragment

_NULLS = ("", "~", "null", "Null", "NULL")
_TAGS = frozenset(
    f"tag:yaml.org,2002:{t}" for t in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)
_KINDS = {"scalar": "a text", "sequence": "a list", "mapping": "a mapping"}


class Entry(Struct, frozen=True):
    """A key and its value."""

    key: Text
    node: Any


def _under_with(key: str, allowed: Collection[str]) -> str | None:
    """Where an option of a connector belongs."""
    if "with" in allowed and key in ("connector", "path", "format", "topic", "delivery"):
        return f"write it under `with:`: `with: {{{key}: …}}`"
    return None


class YamlReader:
    """Reads nodes of one file and reports what does not fit."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.file = scope.file

    def compose(self) -> Any:
        """The root node; None (reported, or an empty file) if there is none."""
        from compiler.syntax.yaml_errors import compose

        return compose(self.scope)

    def span(self, node: Any) -> Span:
        """Where a node lies, without the blank lines that YAML counts to a block's end."""
        start, end = node.start_mark.index, node.end_mark.index
        text = self.file.text[start:end]
        return Span(self.file, start, start + max(1, len(text.rstrip())))

    # --- kinds --------------------------------------------------------------------------------------------

    def is_null(self, node: Any) -> bool:
        """Whether a value was left out."""
        return node.id == "scalar" and not node.style and node.value in _NULLS

    def wrong(self, node: Any, what: str, expected: str, fix: str | None = None) -> None:
        """Reports a value of the wrong kind."""
        found = "nothing" if self.is_null(node) else _KINDS[node.id]
        message = f"{what} must be {expected}"
        if found != expected:
            message += f", not {found}"
        span = self.span(node)
        self.scope.error(WRONG_VALUE, message, span, fix=fix)

    def text(self, node: Any, what: str) -> Text | None:
        """A scalar with its variables filled in."""
        if node.id != "scalar" or self.is_null(node):
            self.wrong(node, what, "a text")
            return None
        if not self._plain(node, what):
            return None
        fragment = fill(scalar_fragment(self.file, node), self.scope)
        return Text(fragment.text, self.span(node), node.style in ("'", '"'))

    def _plain(self, node: Any, what: str) -> bool:
        """Whether a scalar is what it says, and not something that a tag makes of it."""
        if node.tag in _TAGS:
            return True
        self.scope.error(
            WRONG_VALUE,
            f"{what} has the tag `{node.tag.replace('tag:yaml.org,2002:', '!!')}`",
            self.span(node),
            fix="delete the tag",
        )
        return False

    def expression(self, node: Any, what: str) -> Fragment | None:
        """A scalar that holds SQL."""
        if node.id != "scalar" or self.is_null(node):
            self.wrong(
                node,
                what,
                "an expression",
                fix="put the expression in quotes" if node.id != "scalar" else None,
            )
            return None
        if not self._plain(node, what):
            return None
        return fill_sql(scalar_fragment(self.file, node), self.scope).strip()

    def duration(self, node: Any, what: str, *, signed: bool = False) -> Text | None:
        """A text such as `5 minutes`; with `signed` also `-5 minutes`."""
        text = self.text(node, what)
        parse = parse_signed_duration_ms if signed else parse_duration_ms
        if text is not None and parse(text.value) is None:
            fix = "write for instance `5 minutes`"
            if text.value.strip().isdigit():
                fix = f"add the unit: `{text.value.strip()} seconds`"
            self.scope.error(WRONG_VALUE, f"{what} must be a time, not `{text.value}`", text.span, fix=fix)
            return None
        return text

    def relation(self, text: Text) -> Text:
        """The name of a relation; dbt's ref() and source() may stand for it."""
        if "{{" not in text.value:
            return text
        start = text.span.start + (1 if text.quoted else 0)
        whole = Fragment(text.value, self.file, (Piece(0, start, len(text.value)),))
        return Text(fill_sql(whole, self.scope).text.strip().strip("`"), text.span, text.quoted)

    def items(self, node: Any, what: str) -> list[Any]:
        """The items of a list."""
        if node.id != "sequence":
            self.wrong(node, what, "a list", fix="write `- ` before each item, or `[a, b]`")
            return []
        return list(node.value)

    def texts(self, node: Any, what: str) -> tuple[Text, ...]:
        """A list of texts; a text alone is a list of one."""
        nodes = [node] if node.id == "scalar" else self.items(node, what)
        found = (self.text(n, f"an item of {what}" if node.id != "scalar" else what) for n in nodes)
        return tuple(t for t in found if t is not None)

    # --- mappings -----------------------------------------------------------------------------------------

    def entries(self, node: Any, what: str) -> list[Entry]:
        """The entries of a mapping, each key once; `<<` is merged."""
        if node.id != "mapping":
            self.wrong(node, what, "a mapping", fix="write `key: value` lines")
            return []
        return self._entries(node, what, 0)

    def _entries(self, node: Any, what: str, depth: int) -> list[Entry]:
        found: dict[str, Entry] = {}
        merged: list[Entry] = []
        for key_node, value in node.value:
            if key_node.id != "scalar":
                self.scope.error(WRONG_VALUE, f"a key of {what} must be a text", self.span(key_node))
                continue
            key = Text(key_node.value, self.span(key_node), bool(key_node.style))
            if key.value == "<<" and not key.quoted:
                parts = value.value if value.id == "sequence" else [value]
                # An anchor can hold itself; no sensible file nests merges.
                merged.extend(
                    e
                    for p in parts
                    if p.id == "mapping" and depth < 8
                    for e in self._entries(p, what, depth + 1)
                )
                continue
            if key.value in found:
                self.scope.error(
                    DUPLICATE_NAME,
                    f"key `{key.value}` stands twice in {what}",
                    key.span,
                    cause="YAML would silently take the last",
                    fix="keep one of the two",
                    related=(Label(found[key.value].key.span, "first here"),),
                )
                continue
            found[key.value] = Entry(key, value)
        for entry in merged:
            found.setdefault(entry.key.value, entry)
        return list(found.values())

    def mapping(
        self, node: Any, what: str, allowed: Collection[str], required: Iterable[str] = ()
    ) -> dict[str, Entry] | None:
        """A mapping of known keys; None if it is no mapping."""
        if node.id != "mapping":
            self.wrong(node, what, "a mapping", fix=f"write keys such as {one_of(list(allowed)[:4])}")
            return None
        found: dict[str, Entry] = {}
        meant: set[str | None] = set()
        for entry in self.entries(node, what):
            if entry.key.value in allowed:
                found[entry.key.value] = entry
            else:
                meant.add(self.unknown(entry.key, what, allowed))
        for key in required:
            if key not in found and key not in meant:
                self.missing(node, what, key)
        return found

    def unknown(self, key: Text, what: str, allowed: Collection[str]) -> str | None:
        """Reports an unknown key, and returns the one that was probably meant."""
        near = suggest(key.value, allowed)
        self.scope.error(
            UNKNOWN_KEY,
            f"unknown key `{key.value}` in {what}",
            key.span,
            cause=f"known here: {one_of(allowed, 20)}",
            fix=f"did you mean `{near}`?" if near else _under_with(key.value, allowed),
        )
        return near

    def missing(self, node: Any, what: str, key: str) -> None:
        """Reports a key that must be there."""
        span = self.span(node)
        first = span.text.split("\n", 1)[0]
        self.scope.error(
            MISSING_KEY,
            f"{what} has no `{key}`",
            Span(self.file, span.start, span.start + max(1, len(first.rstrip()))),
            fix=f"add `{key}:`",
        )

    def options(self, node: Any, what: str, prefix: str = "", depth: int = 0) -> list[OptionDecl]:
        """Options as a mapping; nested mappings join their keys with dots, lists their items with commas."""
        if self.is_null(node):
            return []
        found: list[OptionDecl] = []
        for entry in self.entries(node, what):
            key = Text(prefix + entry.key.value, entry.key.span, entry.key.quoted)
            if entry.node.id == "mapping" and depth < 8:
                found.extend(self.options(entry.node, f"`{key.value}`", key.value + ".", depth + 1))
            elif entry.node.id == "sequence":
                items = self.texts(entry.node, f"`{key.value}`")
                value = Text(",".join(i.value for i in items), self.span(entry.node), True)
                found.append(OptionDecl(key, value))
            else:
                text = self.text(entry.node, f"option `{key.value}`")
                if text is not None:
                    found.append(OptionDecl(key, text))
        return found


def syntax_error(
    scope: Scope, message: str, span: Span, *, cause: str | None = None, fix: str | None = None
) -> None:
    """Reports a file that is no YAML."""
    scope.error(YAML_SYNTAX, message, span, cause=cause, fix=fix)

"""What the readers of all steps share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import one_of
from compiler.syntax.ddl import refuse_secrets
from compiler.syntax.declarations import NamedExpression, Step
from compiler.syntax.fragment import Fragment
from compiler.syntax.yaml_nodes import Entry, YamlReader

_BETWEEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`|[()\[\]{},]")
# What would not stay within one item of a list in brackets.
_SPECIAL = re.compile(r"[,:#\[\]{}'\"]")

ReadStep = Callable[["StepReader", Entry, Span], Step | None]


def _parts(text: Fragment) -> list[Fragment]:
    """The expressions that have commas between them."""
    parts: list[Fragment] = []
    start = depth = 0
    for match in _BETWEEN.finditer(text.text):
        sign = match.group()
        depth += sign in "([{"
        depth -= sign in ")]}"
        if sign == "," and not depth:
            parts.append(text.slice(start, match.start()).strip())
            start = match.end()
    last = text.slice(start, len(text.text)).strip()
    return [*parts, last] if last.text or not parts else parts


class StepReader:
    """Reads the steps of one file's models."""

    def __init__(self, yaml: YamlReader, readers: Mapping[str, ReadStep]) -> None:
        self.yaml = yaml
        self.scope = yaml.scope
        self._readers = readers

    def read(self, node: Any) -> tuple[Step, ...] | None:
        """The steps in order; None if one of them has a mistake, since those after it may rest on it."""
        if self.yaml.is_null(node):
            return ()
        if node.id != "sequence":
            self.yaml.items(node, "`steps`")
            return None
        found = [self._step(item) for item in node.value]
        steps = tuple(step for step in found if step is not None)
        return steps if len(steps) == len(found) else None

    def _step(self, node: Any) -> Step | None:
        if node.id != "mapping":
            self.yaml.wrong(node, "a step", "a mapping", fix="write for instance `- filter: price > 0`")
            return None
        entries = self.yaml.entries(node, "a step")
        if not entries:
            return None
        first = entries[0]
        if len(entries) > 1:
            self.scope.error(
                WRONG_VALUE,
                "two steps in one list item",
                entries[1].key.span,
                fix=f"write `- ` before `{entries[1].key.value}`, or indent it under `{first.key.value}`",
            )
            return None
        name = first.key.value
        if name not in self._readers:
            self.yaml.unknown(first.key, "a step", tuple(self._readers))
            return None
        return self._readers[name](self, first, self.yaml.span(node))

    def expression(self, node: Any, what: str) -> Fragment | None:
        """A SQL expression, without secrets in it."""
        found = self.yaml.expression(node, what)
        if found is not None:
            refuse_secrets(found, self.scope)
        return found

    def named(self, node: Any, what: str, *, lists: bool) -> tuple[NamedExpression, ...]:
        """`{name: expression}`, or a list of expressions and of such pairs."""
        found: list[NamedExpression] = []
        if node.id == "mapping":
            for entry in self.yaml.entries(node, what):
                expression = self.expression(entry.node, f"`{entry.key.value}` of {what}")
                if expression is not None:
                    found.append(NamedExpression(entry.key, expression))
            return tuple(found)
        if not lists:
            self.yaml.wrong(node, what, "a mapping", fix="write `name: expression` lines")
            return ()
        if node.id == "scalar":
            expression = self.expression(node, f"an item of {what}")
            parts = _parts(expression) if expression is not None else []
            if len(parts) > 1:
                shown = ", ".join(f'"{p.text}"' if _SPECIAL.search(p.text) else p.text for p in parts)
                self.yaml.wrong(node, what, "a list", fix=f"write [{shown}]")
            return tuple(NamedExpression(None, part) for part in parts)
        for item in self.yaml.items(node, what):
            if item.id == "mapping":
                found.extend(self.named(item, what, lists=False))
            else:
                expression = self.expression(item, f"an item of {what}")
                if expression is not None:
                    found.append(NamedExpression(None, expression))
        return tuple(found)

    def single(self, node: Any, what: str, known: tuple[str, ...]) -> Entry | None:
        """The one entry of a mapping such as `{tumble: {…}}`."""
        if node.id != "mapping":
            self.yaml.wrong(node, what, "a mapping", fix=f"write {one_of(known)} under it")
            return None
        entries = self.yaml.entries(node, what)
        for entry in entries:
            if entry.key.value not in known:
                self.yaml.unknown(entry.key, what, known)
                return None
        if len(entries) != 1:
            self.yaml.wrong(node, what, f"one of {one_of(known)}")
            return None
        return entries[0]

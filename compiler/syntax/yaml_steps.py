"""`steps:` of a YAML model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from compiler.diagnostics.codes import MISSING_KEY, UNSUPPORTED_SYNTAX, WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.ddl import refuse_secrets
from compiler.syntax.declarations import (
    AggregateStep,
    DeriveStep,
    FilterStep,
    JoinStep,
    NamedExpression,
    SelectStep,
    Step,
    Text,
    UnionStep,
    WindowStep,
)
from compiler.syntax.fragment import Fragment
from compiler.syntax.yaml_nodes import Entry, YamlReader

STEPS: Final = ("filter", "select", "derive", "window", "aggregate", "join", "union")
# Steps that are part of the language and not of this version.
LATER: Final = ("dedup", "top", "over", "match", "process")
WINDOWS: Final = {"tumble": ("on", "size", "offset"), "hop": ("on", "slide", "size", "offset")}
LATER_WINDOWS: Final = ("cumulate", "session")
JOIN_KEYS: Final = ("with", "seed", "type", "on", "using")
LATER_JOINS: Final = ("interval", "window", "temporal", "lookup")
JOIN_KINDS: Final = ("inner", "left", "semi", "anti", "cross")
_OUTER: Final = ("right", "full", "outer")


class StepReader:
    """Reads the steps of one file's models."""

    def __init__(self, yaml: YamlReader) -> None:
        self.yaml = yaml
        self.scope = yaml.scope
        self._readers: dict[str, Callable[[Entry, Span], Step | None]] = {
            "filter": self._filter,
            "select": self._select,
            "derive": self._derive,
            "window": self._window,
            "aggregate": self._aggregate,
            "join": self._join,
            "union": self._union,
        }

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
        if name in LATER:
            self._later(f"step `{name}`", first.key)
            return None
        if name not in self._readers:
            self.yaml.unknown(first.key, "a step", (*STEPS, *LATER))
            return None
        return self._readers[name](first, self.yaml.span(node))

    def _later(self, what: str, key: Text) -> None:
        self.scope.error(UNSUPPORTED_SYNTAX, f"{what} is not run yet", key.span)

    def _expression(self, node: Any, what: str) -> Fragment | None:
        found = self.yaml.expression(node, what)
        if found is not None:
            refuse_secrets(found, self.scope)
        return found

    # --- one method a step --------------------------------------------------------------------------------

    def _filter(self, entry: Entry, span: Span) -> Step | None:
        predicate = self._expression(entry.node, "`filter`")
        return FilterStep(predicate, span) if predicate is not None else None

    def _named(self, node: Any, what: str, *, lists: bool) -> tuple[NamedExpression, ...]:
        """`{name: expression}`, or a list of expressions and of such pairs."""
        found: list[NamedExpression] = []
        if node.id == "mapping":
            for entry in self.yaml.entries(node, what):
                expression = self._expression(entry.node, f"`{entry.key.value}` of {what}")
                if expression is not None:
                    found.append(NamedExpression(entry.key, expression))
            return tuple(found)
        if not lists:
            self.yaml.wrong(node, what, "a mapping", fix="write `name: expression` lines")
            return ()
        nodes = [node] if node.id == "scalar" else self.yaml.items(node, what)
        for item in nodes:
            if item.id == "mapping":
                found.extend(self._named(item, what, lists=False))
            else:
                expression = self._expression(item, f"an item of {what}")
                if expression is not None:
                    found.append(NamedExpression(None, expression))
        return tuple(found)

    def _select(self, entry: Entry, span: Span) -> Step | None:
        items = self._named(entry.node, "`select`", lists=True)
        if not items and entry.node.id != "scalar" and not entry.node.value:
            self.scope.error(WRONG_VALUE, "`select` names no column", self.yaml.span(entry.node))
        return SelectStep(items, span) if items else None

    def _derive(self, entry: Entry, span: Span) -> Step | None:
        # A list keeps an order that a mapping keeps as well; both are taken.
        is_list = entry.node.id == "sequence"
        items = self._named(entry.node, "`derive`", lists=is_list)
        for item in items:
            if item.name is None:
                self.scope.error(
                    WRONG_VALUE,
                    "a derived column needs a name",
                    item.expression.span(),
                    fix="write `name: expression`",
                )
        items = tuple(i for i in items if i.name is not None)
        return DeriveStep(items, span) if items else None

    def _window(self, entry: Entry, span: Span) -> Step | None:
        inner = self._single(entry.node, "`window`", (*WINDOWS, *LATER_WINDOWS))
        if inner is None:
            return None
        kind = inner.key.value
        if kind in LATER_WINDOWS:
            self._later(f"window `{kind}`", inner.key)
            return None
        allowed = WINDOWS[kind]
        required = [k for k in allowed if k != "offset"]
        keys = self.yaml.mapping(inner.node, f"window `{kind}`", allowed, required)
        if keys is None or any(k not in keys for k in required):
            return None
        on = self.yaml.text(keys["on"].node, "`on` of a window")
        times = {
            k: self.yaml.duration(keys[k].node, f"`{k}` of window `{kind}`")
            for k in ("size", "slide", "offset")
            if k in keys
        }
        if on is None or any(t is None for t in times.values()):
            return None
        size = times["size"]
        assert size is not None  # all of `times` were read
        return WindowStep(kind, on, size, times.get("slide"), times.get("offset"), span)

    def _single(self, node: Any, what: str, known: tuple[str, ...]) -> Entry | None:
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

    def _aggregate(self, entry: Entry, span: Span) -> Step | None:
        if entry.node.id != "mapping":
            self.yaml.wrong(
                entry.node, "`aggregate`", "a mapping", fix="write `by: [key]` and `name: expression` lines"
            )
            return None
        by: tuple[NamedExpression, ...] = ()
        aggregates: list[NamedExpression] = []
        for inner in self.yaml.entries(entry.node, "`aggregate`"):
            if inner.key.value == "by" and not inner.key.quoted:
                if not self.yaml.is_null(inner.node):
                    by = self._named(inner.node, "`by`", lists=True)
                continue
            expression = self._expression(inner.node, f"`{inner.key.value}` of `aggregate`")
            if expression is not None:
                aggregates.append(NamedExpression(inner.key, expression))
        return AggregateStep(by, tuple(aggregates), span)

    def _join(self, entry: Entry, span: Span) -> Step | None:
        yaml = self.yaml
        if entry.node.id == "mapping":
            for inner in yaml.entries(entry.node, "`join`"):
                if inner.key.value in LATER_JOINS:
                    self._later(f"{inner.key.value} join", inner.key)
                    return None
        keys = yaml.mapping(entry.node, "`join`", JOIN_KEYS)
        if keys is None:
            return None
        named = [keys[k] for k in ("with", "seed") if k in keys]
        if len(named) != 1:
            self.scope.error(
                MISSING_KEY if not named else WRONG_VALUE,
                "`join` has no `with`" if not named else "`join` has both `with` and `seed`",
                entry.key.span,
                fix="add `with:` and the name of a seed" if not named else "keep one of the two",
            )
            return None
        relation = yaml.text(named[0].node, f"`{named[0].key.value}` of `join`")
        kind = self._join_kind(keys.get("type"))
        on = self._expression(keys["on"].node, "`on` of `join`") if "on" in keys else None
        using = yaml.texts(keys["using"].node, "`using` of `join`") if "using" in keys else ()
        if "on" in keys and "using" in keys:
            self.scope.error(
                WRONG_VALUE,
                "`on` and `using` exclude each other",
                keys["using"].key.span,
                fix="keep one of the two",
            )
        elif kind == "cross" and (on is not None or using):
            self.scope.error(
                WRONG_VALUE, "a cross join has no condition", (keys.get("on") or keys["using"]).key.span
            )
        elif kind is not None and kind != "cross" and "on" not in keys and not using:
            self.scope.error(
                MISSING_KEY,
                "`join` has no condition",
                entry.key.span,
                fix="add `on:` with an equality, or `using: [column]`",
            )
            return None
        if relation is None or kind is None or ("on" in keys and on is None):
            return None
        return JoinStep(yaml.relation(relation), kind, on, using, span)

    def _join_kind(self, entry: Entry | None) -> str | None:
        if entry is None:
            return "inner"
        text = self.yaml.text(entry.node, "`type` of `join`")
        if text is None:
            return None
        kind = (
            " ".join(text.value.lower().replace("_", " ").split())
            .removesuffix(" outer")
            .removeprefix("left ")
        )
        kind = kind or "left"
        if kind in JOIN_KINDS:
            return kind
        if kind in _OUTER:
            self.scope.error(
                WRONG_VALUE,
                f"a {kind} join keeps rows of the seed that no event meets",
                text.span,
                cause="a stream never ends, so it is never known that none will",
                fix="use `left`, which keeps every row of the stream",
            )
            return None
        self.scope.error(
            WRONG_VALUE,
            f"unknown type of join `{text.value}`",
            text.span,
            cause=f"known are {one_of(JOIN_KINDS)}",
            fix=did_you_mean(text.value, JOIN_KINDS),
        )
        return None

    def _union(self, entry: Entry, span: Span) -> Step | None:
        names = tuple(self.yaml.relation(t) for t in self.yaml.texts(entry.node, "`union`"))
        if not names and entry.node.id == "sequence" and not entry.node.value:
            self.scope.error(WRONG_VALUE, "`union` names nothing", self.yaml.span(entry.node))
        return UnionStep(names, span) if names else None

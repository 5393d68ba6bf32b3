"""Joins with a small table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from compiler.diagnostics.codes import MISSING_KEY, WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.declarations import Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

JOIN_KEYS: Final = ("with", "seed", "type", "on", "using")
LATER_JOINS: Final = ("interval", "window", "temporal", "lookup")
JOIN_KINDS: Final = ("inner", "left", "semi", "anti", "cross")
_OUTER: Final = ("right", "full", "outer")


@dataclass(frozen=True, slots=True)
class JoinStep(Step):
    """Joins with a seed: `kind` is inner, left, semi, anti or cross.

    Columns of both sides are named by their relation (`airlines.name`) until a select; a name that only
    one side has needs no prefix. `using` names key columns that both sides have.
    """

    relation: Text
    kind: str
    on: Fragment | None
    using: tuple[Text, ...]

    @property
    def relations(self) -> tuple[Text, ...]:
        """The seed."""
        return (self.relation,)


def read_join(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `join: {with: seed, on: condition}`."""
    yaml = reader.yaml
    if entry.node.id == "mapping":
        for inner in yaml.entries(entry.node, "`join`"):
            if inner.key.value in LATER_JOINS:
                reader.later(f"{inner.key.value} join", inner.key)
                return None
    keys = yaml.mapping(entry.node, "`join`", JOIN_KEYS)
    if keys is None:
        return None
    named = [keys[k] for k in ("with", "seed") if k in keys]
    if len(named) != 1:
        reader.scope.error(
            MISSING_KEY if not named else WRONG_VALUE,
            "`join` has no `with`" if not named else "`join` has both `with` and `seed`",
            entry.key.span,
            fix="add `with:` and the name of a seed" if not named else "keep one of the two",
        )
        return None
    relation = yaml.text(named[0].node, f"`{named[0].key.value}` of `join`")
    kind = _join_kind(reader, keys.get("type"))
    on = reader.expression(keys["on"].node, "`on` of `join`") if "on" in keys else None
    using = yaml.texts(keys["using"].node, "`using` of `join`") if "using" in keys else ()
    if "on" in keys and "using" in keys:
        reader.scope.error(
            WRONG_VALUE,
            "`on` and `using` exclude each other",
            keys["using"].key.span,
            fix="keep one of the two",
        )
    elif kind == "cross" and (on is not None or using):
        reader.scope.error(
            WRONG_VALUE, "a cross join has no condition", (keys.get("on") or keys["using"]).key.span
        )
    elif kind is not None and kind != "cross" and "on" not in keys and not using:
        reader.scope.error(
            MISSING_KEY,
            "`join` has no condition",
            entry.key.span,
            fix="add `on:` with an equality, or `using: [column]`",
        )
        return None
    if relation is None or kind is None or ("on" in keys and on is None):
        return None
    return JoinStep(span, yaml.relation(relation), kind, on, using)


def _join_kind(reader: StepReader, entry: Entry | None) -> str | None:
    """Reads `type` of a join."""
    if entry is None:
        return "inner"
    text = reader.yaml.text(entry.node, "`type` of `join`")
    if text is None:
        return None
    kind = " ".join(text.value.lower().replace("_", " ").split()).removesuffix(" outer").removeprefix("left ")
    kind = kind or "left"
    if kind in JOIN_KINDS:
        return kind
    if kind in _OUTER:
        reader.scope.error(
            WRONG_VALUE,
            f"a {kind} join keeps rows of the seed that no event meets",
            text.span,
            cause="a stream never ends, so it is never known that none will",
            fix="use `left`, which keeps every row of the stream",
        )
        return None
    reader.scope.error(
        WRONG_VALUE,
        f"unknown type of join `{text.value}`",
        text.span,
        cause=f"known are {one_of(JOIN_KINDS)}",
        fix=did_you_mean(text.value, JOIN_KINDS),
    )
    return None

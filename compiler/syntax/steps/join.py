"""Joins."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.codes import MISSING_KEY, WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.declarations import Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

# What a join of each form can say besides `with`, `type`, `on` and `using`; None is one without a form.
FORMS: Final[dict[str | None, tuple[str, ...]]] = {
    None: ("seed",),
    "interval": ("time",),
    "window": (),
    "temporal": ("as_of",),
    "lookup": ("as_of",),
}
JOIN_KINDS: Final = ("inner", "left", "right", "full", "semi", "anti", "cross")
_KINDS_OF: Final = {"temporal": ("inner", "left"), "lookup": ("inner", "left")}


class JoinStep(Step, frozen=True):
    """Joins with another relation.

    Columns of both sides are named by their relation (`airlines.name`) until a select; a name that only
    one side has needs no prefix. `using` names key columns that both sides have. `form` is interval,
    window, temporal, lookup or None; `time` holds the bounds of an interval join, `as_of` the time at which
    a temporal or lookup join reads the other side.
    """

    relation: Text
    kind: str
    on: Fragment | None
    using: tuple[Text, ...]
    form: str | None = None
    time: Fragment | None = None
    as_of: Fragment | None = None

    @property
    def relations(self) -> tuple[Text, ...]:
        """The other relation."""
        return (self.relation,)


def read_join(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `join: {with: relation, on: condition}` and `join: {interval: {with, on, time}}`."""
    form = _form(reader, entry)
    if form is None:
        return _read(reader, entry, span, None)
    return _read(reader, form, span, form.key.value)


def _form(reader: StepReader, entry: Entry) -> Entry | None:
    if entry.node.id != "mapping":
        return None
    entries = reader.yaml.entries(entry.node, "`join`")
    return entries[0] if len(entries) == 1 and entries[0].key.value in FORMS else None


def _read(reader: StepReader, entry: Entry, span: Span, form: str | None) -> Step | None:
    yaml = reader.yaml
    what = f"`{form}` join" if form else "`join`"
    keys = yaml.mapping(entry.node, what, ("with", "type", "on", "using", *FORMS[form]))
    if keys is None:
        return None
    relation = _relation(reader, entry, keys, what)
    kind = _kind(reader, keys.get("type"), form)
    fragments = {
        key: reader.expression(keys[key].node, f"`{key}` of {what}")
        for key in ("on", "time", "as_of")
        if key in keys
    }
    using = yaml.texts(keys["using"].node, f"`using` of {what}") if "using" in keys else ()
    if "on" in keys and "using" in keys:
        reader.scope.error(
            WRONG_VALUE,
            "`on` and `using` exclude each other",
            keys["using"].key.span,
            fix="keep one of the two",
        )
    elif kind == "cross" and ("on" in keys or using):
        reader.scope.error(
            WRONG_VALUE, "a cross join has no condition", (keys.get("on") or keys["using"]).key.span
        )
    elif kind is not None and kind != "cross" and "on" not in keys and not using:
        reader.scope.error(
            MISSING_KEY,
            f"{what} has no condition",
            entry.key.span,
            fix="add `on:` with an equality, or `using: [column]`",
        )
        return None
    if relation is None or kind is None or None in fragments.values():
        return None
    return JoinStep(
        span,
        yaml.relation(relation),
        kind,
        fragments.get("on"),
        using,
        form,
        fragments.get("time"),
        fragments.get("as_of"),
    )


def _relation(reader: StepReader, entry: Entry, keys: dict[str, Entry], what: str) -> Text | None:
    named = [keys[k] for k in ("with", "seed") if k in keys]
    if len(named) == 1:
        return reader.yaml.text(named[0].node, f"`{named[0].key.value}` of {what}")
    reader.scope.error(
        MISSING_KEY if not named else WRONG_VALUE,
        f"{what} has no `with`" if not named else f"{what} has both `with` and `seed`",
        entry.key.span,
        fix="add `with:` and the name of a relation" if not named else "keep one of the two",
    )
    return None


def _kind(reader: StepReader, entry: Entry | None, form: str | None) -> str | None:
    """Reads `type` of a join."""
    if entry is None:
        return "inner"
    text = reader.yaml.text(entry.node, "`type` of `join`")
    if text is None:
        return None
    kind = " ".join(text.value.lower().replace("_", " ").split()).removesuffix(" outer")
    kind = "full" if kind == "outer" else kind
    kind = kind.removeprefix("left ") if kind in ("left semi", "left anti") else kind
    known = _KINDS_OF.get(form or "", JOIN_KINDS if form is None else JOIN_KINDS[:-1])
    if kind in known:
        return kind
    reader.scope.error(
        WRONG_VALUE,
        f"a {form} join cannot be `{text.value}`"
        if kind in JOIN_KINDS
        else f"unknown type of join `{text.value}`",
        text.span,
        cause=f"known are {one_of(known)}",
        fix=did_you_mean(text.value, known),
    )
    return None

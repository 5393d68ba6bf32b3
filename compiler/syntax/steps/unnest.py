"""Takes arrays and maps apart."""

from __future__ import annotations

from typing import Final

from compiler.diagnostics.codes import MISSING_KEY, WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

UNNEST_KEYS: Final = ("of", "as", "ordinality", "outer")


class UnnestStep(Step, frozen=True):
    """Every row with every element of an array or every entry of a map.

    `ordinality` names a column with their number, from 1; `outer` keeps rows without elements.
    """

    of: Fragment
    names: tuple[Text, ...]
    ordinality: Text | None
    outer: bool


def read_unnest(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `unnest: tags` or `unnest: {of: tags, as: tag, ordinality: place, outer: true}`."""
    yaml = reader.yaml
    if entry.node.id == "scalar":
        of = reader.expression(entry.node, "`unnest`")
        return UnnestStep(span, of, (), None, False) if of is not None else None
    keys = yaml.mapping(entry.node, "`unnest`", UNNEST_KEYS)
    if keys is None:
        return None
    if "of" not in keys:
        fix = "add `of:` and the array or map"
        reader.scope.error(MISSING_KEY, "`unnest` has no `of`", entry.key.span, fix=fix)
        return None
    of = reader.expression(keys["of"].node, "`of` of `unnest`")
    names = yaml.texts(keys["as"].node, "`as` of `unnest`") if "as" in keys else ()
    ordinality = (
        yaml.text(keys["ordinality"].node, "`ordinality` of `unnest`") if "ordinality" in keys else None
    )
    outer = _boolean(reader, keys["outer"]) if "outer" in keys else False
    if of is None or outer is None or ("ordinality" in keys and ordinality is None):
        return None
    return UnnestStep(span, of, names, ordinality, outer)


def _boolean(reader: StepReader, entry: Entry) -> bool | None:
    text = reader.yaml.text(entry.node, "`outer` of `unnest`")
    if text is None or text.value.lower() in ("true", "false"):
        return None if text is None else text.value.lower() == "true"
    reader.scope.error(WRONG_VALUE, "`outer` of `unnest` must be true or false", text.span)
    return None

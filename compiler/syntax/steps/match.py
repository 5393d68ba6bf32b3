"""Finds a pattern of rows."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from compiler.diagnostics.codes import WRONG_VALUE
from compiler.diagnostics.source import Span
from compiler.syntax.declarations import NamedExpression, Step, Text
from compiler.syntax.fragment import Fragment
from compiler.syntax.steps.reader import StepReader
from compiler.syntax.yaml_nodes import Entry

_KEYS: Final = ("by", "order_by", "pattern", "within", "after_match", "define", "measures")


class SortColumn(Struct, frozen=True):
    """A column of `order_by`, `at` or `price desc`."""

    column: Text
    descending: bool


class MatchStep(Step, frozen=True):
    """MATCH_RECOGNIZE; `after_match` is its text after AFTER MATCH."""

    by: tuple[Text, ...]
    order_by: tuple[SortColumn, ...]
    pattern: Fragment
    within: Text | None
    after_match: Fragment | None
    define: tuple[NamedExpression, ...]
    measures: tuple[NamedExpression, ...]


def read_match(reader: StepReader, entry: Entry, span: Span) -> Step | None:
    """Reads `match: {by, order_by, pattern, within, after_match, define, measures}`."""
    yaml = reader.yaml
    keys = yaml.mapping(entry.node, "`match`", _KEYS, ("order_by", "pattern"))
    if keys is None or "order_by" not in keys or "pattern" not in keys:
        return None
    by = yaml.texts(keys["by"].node, "`by` of `match`") if "by" in keys else ()
    order = yaml.texts(keys["order_by"].node, "`order_by` of `match`")
    pattern = yaml.expression(keys["pattern"].node, "`pattern` of `match`")
    within = yaml.duration(keys["within"].node, "`within` of `match`") if "within" in keys else None
    after = yaml.expression(keys["after_match"].node, "`after_match`") if "after_match" in keys else None
    define = reader.named(keys["define"].node, "`define`", lists=False) if "define" in keys else ()
    measures = reader.named(keys["measures"].node, "`measures`", lists=False) if "measures" in keys else ()
    sorting = [_sort_column(reader, text) for text in order]
    failed = ("within" in keys and within is None) or ("after_match" in keys and after is None)
    if pattern is None or failed or not order or any(column is None for column in sorting):
        return None
    return MatchStep(
        span, by, tuple(c for c in sorting if c is not None), pattern, within, after, define, measures
    )


def _sort_column(reader: StepReader, text: Text) -> SortColumn | None:
    name, *rest = text.value.split()
    word = " ".join(rest).lower()
    if word not in ("", "asc", "desc"):
        fix = "write a column, or a column and `desc`"
        reader.scope.error(WRONG_VALUE, f"`{text.value}` is no column to sort by", text.span, fix=fix)
        return None
    return SortColumn(Text(name, text.span, text.quoted), word == "desc")

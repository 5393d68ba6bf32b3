"""LIKE: a table that takes columns, keys, watermark and options from another one."""

from __future__ import annotations

from typing import Any, Final

from compiler.diagnostics.codes import SQL_SYNTAX
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.syntax.declarations import Text
from compiler.syntax.parsed import LikeDecl, Scope
from compiler.syntax.trees import Reader, subtrees

# What can be taken over, and what is done with it where nothing is said. Source: Flink's documentation of
# CREATE TABLE … LIKE, and MergeTableLikeUtil of flink-table-planner.
DEFAULTS: Final = {
    "CONSTRAINTS": "INCLUDING",
    "DISTRIBUTION": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "OPTIONS": "OVERWRITING",
    "PARTITIONS": "INCLUDING",
    "WATERMARKS": "INCLUDING",
}
_STRATEGIES: Final = ("INCLUDING", "EXCLUDING", "OVERWRITING")
# A table has one of each: there is nothing that could be overwritten one by one.
_NOT_OVERWRITTEN: Final = frozenset({"ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS"})


def read_like(node: Any, reader: Reader, scope: Scope) -> LikeDecl:
    """Reads a LIKE clause; what is wrong with its options is reported and left out."""
    base = reader.one_part(subtrees(node, "identifier")[0], scope)
    said: dict[str, tuple[str, Text]] = {}
    for options in subtrees(node, "like_options"):
        for option in subtrees(options, "like_option"):
            strategy, feature = (reader.text(word) for word in option.children)
            _option(strategy, feature, said, scope)
    strategies = dict(DEFAULTS)
    if "ALL" in said:
        strategies = dict.fromkeys(DEFAULTS, said.pop("ALL")[0])
    strategies.update({feature: strategy for feature, (strategy, _) in said.items()})
    return LikeDecl(base, strategies, reader.span(node))


def _option(strategy: Text, feature: Text, said: dict[str, tuple[str, Text]], scope: Scope) -> None:
    how, what = strategy.value.upper(), feature.value.upper()
    for word, known in ((strategy, _STRATEGIES), (feature, ("ALL", *DEFAULTS))):
        if word.value.upper() not in known:
            scope.error(
                SQL_SYNTAX,
                f"`{word.value}` is no word of LIKE's options",
                word.span,
                label=f"expected {one_of(known)}",
                fix=did_you_mean(word.value, known),
            )
            return
    if how == "OVERWRITING" and what in _NOT_OVERWRITTEN:
        scope.error(
            SQL_SYNTAX,
            f"OVERWRITING {what} does not exist",
            strategy.span.to(feature.span),
            fix=f"write INCLUDING {what} or EXCLUDING {what}",
        )
    elif what in said:
        scope.error(
            SQL_SYNTAX,
            f"{what} stands twice among LIKE's options",
            feature.span,
            related=(Label(said[what][1].span, "first here"),),
        )
    else:
        said[what] = (how, feature)

"""LIKE resolved: what a table takes over from another, as Flink merges them.

Source: Flink's documentation of CREATE TABLE … LIKE, and `MergeTableLikeUtil` of flink-table-planner. Columns
that are read from outside are always taken over; of all else LIKE's options decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from compiler.diagnostics.codes import CYCLE, LIKE_CONFLICT, UNKNOWN_RELATION
from compiler.diagnostics.diagnostic import Label
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.declarations import ColumnDecl, OptionDecl, SinkDecl, SourceDecl, Text, WatermarkDecl
from compiler.syntax.parsed import LikeDecl, TableDecl

Error = Callable[..., None]
Base = TableDecl | SourceDecl | SinkDecl


def resolve_likes(
    tables: Mapping[str, TableDecl],
    sources: Sequence[SourceDecl],
    sinks: Sequence[SinkDecl],
    broken: set[str],
    error: Error,
) -> dict[str, TableDecl]:
    """All tables with what their LIKE clauses take over.

    Args:
        tables: by name in lower case.
        sources: what else may stand after LIKE.
        sinks: and these.
        broken: names of what could not be read, in lower case; those of tables whose base is wrong are added,
            so that nobody complains of them.
        error: takes what does not fit.
    """
    return _Resolver(tables, sources, sinks, broken, error).all()


class _Resolver:
    def __init__(
        self,
        tables: Mapping[str, TableDecl],
        sources: Sequence[SourceDecl],
        sinks: Sequence[SinkDecl],
        broken: set[str],
        error: Error,
    ) -> None:
        self._tables = tables
        self._others: dict[str, Base] = {source.name.value.lower(): source for source in sources}
        self._others.update({sink.name.value.lower(): sink for sink in sinks})
        self._broken = broken
        self._error = error
        self._done: dict[str, TableDecl | None] = {}

    def all(self) -> dict[str, TableDecl]:
        for key in self._tables:
            self._table(key, ())
        return {key: table for key, table in self._done.items() if table is not None}

    def _table(self, key: str, above: tuple[str, ...]) -> TableDecl | None:
        if key not in self._done:
            table = self._tables[key]
            self._done[key] = table if table.like is None else self._merged(table, table.like, above)
            if self._done[key] is None:
                self._broken.add(key)
        return self._done[key]

    def _merged(self, table: TableDecl, like: LikeDecl, above: tuple[str, ...]) -> TableDecl | None:
        key = like.base.value.lower()
        path = (*above, table.name.value.lower())
        if key in path:
            self._error(
                CYCLE,
                f"table `{table.name.value}` is like itself",
                like.base,
                cause=" -> ".join((*path[path.index(key) :], key)),
                fix="write the columns of one of them out",
            )
            return None
        base: Base | None = self._table(key, path) if key in self._tables else self._others.get(key)
        if base is None:
            if key not in self._broken:
                names = [d.name.value for d in (*self._tables.values(), *self._others.values())]
                self._error(
                    UNKNOWN_RELATION,
                    f"unknown table `{like.base.value}`",
                    like.base,
                    cause="LIKE takes over the definition of a source, a sink or a table",
                    fix=did_you_mean(like.base.value, names),
                )
            return None
        return _Merge(table, like, base, self._error).merged()


class _Merge:
    """One table over its base."""

    def __init__(self, table: TableDecl, like: LikeDecl, base: Base, error: Error) -> None:
        self._table = table
        self._base = base
        self._strategies = like.strategies
        self._error = error

    def merged(self) -> TableDecl:
        table, base = self._table, self._base
        key, partitions = base.primary_key, base.partitioned_by
        return structs.replace(
            table,
            columns=self._columns(),
            watermarks=self._watermarks(base.watermarks if not isinstance(base, SinkDecl) else ()),
            primary_key=self._names("CONSTRAINTS", "primary key", key, table.primary_key),
            options=self._options(),
            partitioned_by=self._names("PARTITIONS", "PARTITIONED BY", partitions, table.partitioned_by),
            like=None,
        )

    def _takes(self, feature: str) -> bool:
        return self._strategies[feature] != "EXCLUDING"

    def _conflict(self, what: str, own: Text, base: Text, feature: str, *, overwriting: bool = True) -> None:
        ways = f"EXCLUDING {feature}" + (f" or OVERWRITING {feature}" if overwriting else "")
        self._error(
            LIKE_CONFLICT,
            f"`{self._base.name.value}` has {what} already",
            own,
            fix=f"add {ways} to LIKE, or leave it out here",
            related=(Label(base.span, "taken over from here"),),
        )

    def _columns(self) -> tuple[ColumnDecl, ...]:
        found: dict[str, ColumnDecl] = {}
        for column in self._base.columns:
            feature = _feature(column)
            if feature is None or self._takes(feature):
                found[column.name.value.lower()] = column
        for column in self._table.columns:
            name = column.name.value.lower()
            feature, other = _feature(column), found.get(name)
            if other is not None and other not in self._table.columns:
                what = f"a column `{column.name.value}`"
                if feature is None or _feature(other) != feature:
                    self._error(
                        LIKE_CONFLICT,
                        f"`{self._base.name.value}` has {what} already",
                        column.name,
                        cause="only a computed column can replace a computed one, and only metadata metadata",
                        fix="rename this column, or leave it out: LIKE takes it over",
                        related=(Label(other.name.span, "taken over from here"),),
                    )
                    continue
                if self._strategies[feature] != "OVERWRITING":
                    self._conflict(what, column.name, other.name, feature)
                    continue
            found[name] = column
        return tuple(found.values())

    def _watermarks(self, base: tuple[WatermarkDecl, ...]) -> tuple[WatermarkDecl, ...]:
        own = self._table.watermarks
        if not self._takes("WATERMARKS") or not base:
            return own
        if not own:
            return base
        # An event has one event time here: another one replaces the base's whatever its column is.
        if self._strategies["WATERMARKS"] != "OVERWRITING":
            self._conflict("a watermark", own[0].column, base[0].column, "WATERMARKS")
        return own

    def _names(
        self, feature: str, what: str, base: tuple[Text, ...], own: tuple[Text, ...]
    ) -> tuple[Text, ...]:
        if not base or not self._takes(feature):
            return own
        if own:
            self._conflict(f"a {what}", own[0], base[0], feature, overwriting=False)
            return own
        return base

    def _options(self) -> tuple[OptionDecl, ...]:
        strategy = self._strategies["OPTIONS"]
        found: dict[str, OptionDecl] = {}
        if strategy != "EXCLUDING":
            found.update({o.key.value.lower(): o for o in self._base.options if not o.inherited})
        for option in self._table.options:
            name = option.key.value.lower()
            if name in found and strategy == "INCLUDING":
                what = f"an option `{option.key.value}`"
                self._conflict(what, option.key, found[name].key, "OPTIONS")
            else:
                found[name] = option
        return tuple(found.values())


def _feature(column: ColumnDecl) -> str | None:
    """Which of LIKE's options a column is subject to; None for a physical one."""
    if column.expression is not None:
        return "GENERATED"
    return "METADATA" if column.metadata is not None else None

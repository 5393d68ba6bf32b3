"""Puts operators together for both front ends, and judges each as it is put on.

SQL and YAML differ only in how they say which operator comes next. The builder names the operators
(`<model>.<operator>`), leaves out those that change nothing, and remembers where each was written, so
that later rules can point there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from compiler.analysis.model_options import ModelOptions
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from compiler.diagnostics.source import Span
from compiler.plan import types as t
from compiler.plan.expr import Cast, Column, Expr
from compiler.plan.node import Node
from compiler.plan.operators import Aggregate, Filter, Project, SeedJoin, Union, Window
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.seed_join import JoinKind
from compiler.plan.operators.watermark import format_ms
from compiler.plan.operators.window import END, START, TIME
from compiler.plan.schema import Field, Schema

_NO_OPTIONS = ModelOptions()


class Builder:
    """Builds the operators of one model, source or sink.

    Args:
        owner: its name, the first part of every uid.
        places: where each operator was written, by uid; shared by all builders of a compile.
        options: what the model says of its state.
    """

    def __init__(self, owner: str, places: dict[str, Span], options: ModelOptions = _NO_OPTIONS) -> None:
        self._owner = owner
        self.options = options
        self._places = places
        self._counts: dict[str, int] = {}

    def uid(self, kind: str, span: Span) -> str:
        """The next uid of that kind, placed."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        uid = f"{self._owner}.{kind}" + (str(count) if count > 1 else "")
        self._places[uid] = span
        return uid

    def filter(self, node: Node, predicate: Expr, span: Span) -> Node:
        """WHERE or HAVING."""
        return Filter(self.uid("filter", span), node, predicate)

    def project(
        self, node: Node, items: Sequence[NamedExpr], span: Span, place: Callable[[int], Span] | None = None
    ) -> Node:
        """SELECT; nothing is added if the columns stay as they are. `place` gives that of an item.

        Raises:
            DiagnosticError: two columns of one name (HR208).
        """
        seen: dict[str, int] = {}
        for index, item in enumerate(items):
            other = seen.setdefault(item.name.lower(), index)
            if other != index:
                first, second = (place(other), place(index)) if place else (span, span)
                raise DiagnosticError(
                    Diagnostic(
                        codes.DUPLICATE_COLUMN,
                        f"two output columns are named `{item.name}`",
                        second,
                        fix="rename one with AS, or name the columns instead of `*`",
                        related=(Label(first, "the first is here"),) if first != second else (),
                    )
                )
        candidate = Project("", node, tuple(items))
        if candidate.is_identity:
            return node
        return replace(candidate, uid=self.uid("project", span))

    # --- windows ---------------------------------------------------------------------------------------

    def window(
        self,
        node: Node,
        shape: Literal["tumble", "hop"],
        time_column: Field,
        size_ms: int,
        slide_ms: int,
        offset_ms: int,
        span: Span,
        on: Span,
        sizes: Span,
    ) -> Node:
        """TUMBLE or HOP; `on` and `sizes` are where the time column and the sizes are written.

        Raises:
            DiagnosticError: the column is no event time (HR302), sizes do not fit (HR304), or the input has
                window columns already (HR208).
        """
        self._check_time_column(node, time_column, on)
        self._check_sizes(shape, size_ms, slide_ms, sizes)
        taken = [name for name in (START, END, TIME) if node.schema.get(name)]
        if taken:
            node = self._drop_window_columns(node, time_column, span)
            renamed = node.schema.get(time_column.name)
            assert renamed is not None
        return Window(self.uid("window", span), node, shape, time_column.name, size_ms, slide_ms, offset_ms)

    def _drop_window_columns(self, node: Node, time_column: Field, span: Span) -> Node:
        """Lets windows be stacked: the columns of the lower window give way to those of the upper."""
        if time_column.name.lower() in (START, END, TIME):
            raise DiagnosticError(
                Diagnostic(
                    codes.DUPLICATE_COLUMN,
                    f"the window's columns would hide `{time_column.name}`",
                    span,
                    cause="a window adds window_start, window_end and window_time",
                    fix=f"rename it in the model below: `{time_column.name} AS rowtime`",
                )
            )
        kept = [f for f in node.schema if f.name.lower() not in (START, END, TIME)]
        return self.project(node, [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in kept], span)

    def _check_time_column(self, node: Node, column: Field, span: Span) -> None:
        if column.is_event_time:
            return
        if not node.is_stream:
            if isinstance(column.type, t.Timestamp):
                return
            raise DiagnosticError(
                Diagnostic(
                    codes.WINDOW_TIME_COLUMN,
                    f"a window lies over a TIMESTAMP, and `{column.name}` is {column.type}",
                    span,
                    fix=f"compute one in a model below: CAST({column.name} AS TIMESTAMP)"
                    if column.type in (t.STRING, t.DATE)
                    else None,
                )
            )
        times = [f.name for f in node.schema if f.is_event_time]
        if times:
            fix = f"use the event time `{times[0]}`"
        elif isinstance(column.type, t.Timestamp):
            fix = (
                f"declare in the source: WATERMARK FOR {column.name} AS {column.name} - INTERVAL '10' SECONDS"
            )
        else:
            fix = "compute a TIMESTAMP column in the source and declare a WATERMARK for it"
        raise DiagnosticError(
            Diagnostic(
                codes.WINDOW_TIME_COLUMN,
                f"`{column.name}` is not an event time",
                span,
                cause="a window closes when the watermark passes its end; this column has no watermark",
                fix=fix,
            )
        )

    def _check_sizes(self, shape: str, size_ms: int, slide_ms: int, span: Span) -> None:
        problem: tuple[str, str | None] | None = None
        if size_ms <= 0 or slide_ms <= 0:
            problem = ("a window's size must be greater than zero", None)
        elif shape == "hop" and slide_ms > size_ms:
            problem = (
                f"the slide ({format_ms(slide_ms)}) is greater than the size ({format_ms(size_ms)})",
                "a window begins at each slide; HOP takes the slide first, then the size",
            )
        elif shape == "hop" and size_ms % slide_ms:
            problem = (
                f"the size ({format_ms(size_ms)}) is no multiple of the slide ({format_ms(slide_ms)})",
                _multiples(size_ms, slide_ms),
            )
        if problem is not None:
            message, fix = problem
            raise DiagnosticError(Diagnostic(codes.WINDOW_SIZES, message, span, fix=fix))

    # --- aggregates -----------------------------------------------------------------------------------

    def aggregate(
        self, node: Node, keys: Sequence[NamedExpr], aggregates: Sequence[NamedExpr], span: Span
    ) -> Aggregate:
        """GROUP BY.

        Raises:
            DiagnosticError: the groups of a stream would never close (HR301, HR306, HR307).
        """
        built = Aggregate(self.uid("aggregate", span), node, tuple(keys), tuple(aggregates))
        if node.is_stream:
            self._check_window_keys(built, span)
            self._check_closes(built, span)
        return built

    def _check_window_keys(self, node: Aggregate, span: Span) -> None:
        marks = [f.window for f in node.schema.fields[: len(node.keys)] if f.window]
        for window in dict.fromkeys(mark.window for mark in marks):
            parts = {mark.part for mark in marks if mark.window == window}
            if parts in ({"start"}, {"end"}):
                has, lacks = (START, END) if "start" in parts else (END, START)
                raise DiagnosticError(
                    Diagnostic(
                        codes.WINDOW_KEYS,
                        f"GROUP BY has {has} but not {lacks}",
                        span,
                        cause="only both together make a group that ends with its window",
                        fix=f"add {lacks} to GROUP BY",
                    )
                )

    def _check_closes(self, node: Aggregate, span: Span) -> None:
        if node.event_time_key is not None:
            return
        times = [f.name for f in node.input.schema if f.is_event_time]
        if not times:
            raise DiagnosticError(
                Diagnostic(
                    codes.NO_WATERMARK,
                    "the groups of this aggregation never close",
                    span,
                    cause="no column of the input is an event time, and without a watermark no group closes",
                    fix="declare WATERMARK FOR in the source, and group by a window over that column",
                )
            )
        raise DiagnosticError(
            Diagnostic(
                codes.UNBOUNDED_STATE,
                "GROUP BY without a window keeps every group for ever"
                if node.keys
                else "an aggregate over the whole stream never ends",
                span,
                cause="no key is an event time, so no watermark ever closes a group"
                if node.keys
                else "without GROUP BY all rows are one group, and a stream has no last row",
                fix=f"group by a window: FROM TUMBLE(TABLE t, DESCRIPTOR({times[0]}), INTERVAL '5' MINUTES) "
                "GROUP BY window_start, window_end, …",
            )
        )

    # --- joins and unions --------------------------------------------------------------------------------

    def seed_join(
        self, stream: Node, table: Node, kind: JoinKind, condition: Expr | None, span: Span
    ) -> Node:
        """Join with a small table."""
        return SeedJoin(self.uid("join", span), stream, table, kind, condition)

    def union(self, parts: Sequence[Node], spans: Sequence[Span], span: Span) -> Node:
        """UNION ALL; columns are cast to their common types.

        Raises:
            DiagnosticError: another number of columns, or types without a common one (HR213).
        """
        first = parts[0]
        for part, place in zip(parts[1:], spans[1:], strict=True):
            if len(part.schema) != len(first.schema):
                raise self._union_error(
                    f"this input gives {count(len(part.schema), 'column')}, the first {len(first.schema)}",
                    place,
                    spans[0],
                )
        types = [self._common(parts, spans, index) for index in range(len(first.schema))]
        aligned = [self._cast(part, types, place) for part, place in zip(parts, spans, strict=True)]
        return Union(self.uid("union", span), tuple(aligned))

    def _common(self, parts: Sequence[Node], spans: Sequence[Span], index: int) -> t.DataType:
        first = parts[0].schema.fields[index]
        found = first.type
        for part, place in zip(parts[1:], spans[1:], strict=True):
            field = part.schema.fields[index]
            common = t.common_type(found, field.type)
            if common is None:
                raise self._union_error(
                    f"column {index + 1} is {field.type} here (`{field.name}`), "
                    f"and {found} in the first input (`{first.name}`)",
                    place,
                    spans[0],
                )
            found = common
        return found

    def _union_error(self, message: str, span: Span, first: Span) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(
                codes.UNION_COLUMNS,
                message,
                span,
                cause="UNION ALL matches columns by position",
                related=(Label(first, "the first input"),),
            )
        )

    def _cast(self, node: Node, types: Sequence[t.DataType], span: Span) -> Node:
        items = [
            NamedExpr(f.name, cast_to(Column(f.type, f.nullable, f.name), wanted))
            for f, wanted in zip(node.schema, types, strict=True)
        ]
        return self.project(node, items, span)


def _multiples(size_ms: int, slide_ms: int) -> str:
    lower = size_ms // slide_ms * slide_ms
    return f"make it {format_ms(lower)} or {format_ms(lower + slide_ms)}, or change the slide"


def count(number: int, what: str) -> str:
    """`1 column`, `2 columns`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def cast_to(expr: Expr, wanted: t.DataType) -> Expr:
    """The expression as another type; unchanged if Spark has one type for both."""
    return expr if expr.type.sql == wanted.sql else Cast(wanted, expr.nullable, expr)


def identity(schema: Schema) -> list[NamedExpr]:
    """Every column as it is."""
    return [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in schema]

"""Puts operators together for both front ends, and judges each as it is put on.

SQL and YAML differ only in how they say which operator comes next. The builder names the operators
(`<model>.<operator>`), leaves out those that change nothing, and remembers where each was written, so
that later rules can point there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from compiler.analysis.advice import FrontEnd
from compiler.analysis.changelogs import check_key_is_kept, with_before
from compiler.analysis.distinct import check_rows
from compiler.analysis.model_options import ModelOptions
from compiler.analysis.retractions import change_aggregate, takes_rows_back
from compiler.analysis.session_groups import session_aggregate
from compiler.analysis.top_n import filtered
from compiler.analysis.union_types import union_error, union_types
from compiler.analysis.unwindowed import check_distinct, check_groups_close
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label
from compiler.diagnostics.source import Span
from compiler.plan import types as t
from compiler.plan.expr import Cast, Column, Expr
from compiler.plan.node import Node
from compiler.plan.operators import Aggregate, Distinct, Filter, Project, SeedJoin, Union
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.seed_join import JoinKind
from compiler.plan.operators.window import END, START
from compiler.plan.schema import Schema

_NO_OPTIONS = ModelOptions()


class Builder:
    """Builds the operators of one model, source or sink.

    Args:
        owner: its uid, the first part of every operator's.
        places: where each operator was written, by uid; shared by all builders of a compile.
        options: what the model says of its state.
        timezone: the project's, in which windows are aligned.
    """

    def __init__(
        self,
        owner: str,
        places: dict[str, Span],
        options: ModelOptions = _NO_OPTIONS,
        timezone: str = "UTC",
    ) -> None:
        self._owner = owner
        self.options = options
        self.timezone = timezone
        self.written: FrontEnd = "sql"
        self._places = places
        self._counts: dict[str, int] = {}

    @property
    def owner(self) -> str:
        """The first part of every uid."""
        return self._owner

    def uid(self, kind: str, span: Span) -> str:
        """The next uid of that kind, placed."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        uid = f"{self._owner}.{kind}" + (str(count) if count > 1 else "")
        self._places[uid] = span
        return uid

    def place(self, uid: str) -> Span | None:
        """Where an operator was written, of this model or of one below."""
        return self._places.get(uid)

    def filter(self, node: Node, predicate: Expr, span: Span) -> Node:
        """WHERE, HAVING or QUALIFY; over a ROW_NUMBER it makes a Top-N.

        Raises:
            DiagnosticError: a Top-N that cannot be run on a stream.
        """
        top = filtered(self, node, predicate, span)
        return top if top is not None else Filter(self.uid("filter", span), node, predicate)

    def project(
        self, node: Node, items: Sequence[NamedExpr], span: Span, place: Callable[[int], Span] | None = None
    ) -> Node:
        """SELECT; nothing is added if the columns stay as they are. `place` gives that of an item.

        Raises:
            DiagnosticError: two columns of one name (HR208), or changes without their key (HR346).
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
        check_key_is_kept(node, items, span)
        candidate = Project("", node, tuple(items))
        if candidate.is_identity:
            return node
        return replace(candidate, uid=self.uid("project", span))

    # --- aggregates -----------------------------------------------------------------------------------

    def aggregate(
        self, node: Node, keys: Sequence[NamedExpr], aggregates: Sequence[NamedExpr], span: Span
    ) -> Node:
        """GROUP BY.

        Raises:
            DiagnosticError: the groups of a stream would never close (HR301, HR306, HR307), or an aggregate
                cannot take back what its input takes back (HR344).
        """
        sessions = session_aggregate(self, node, keys, aggregates, span)
        if sessions is not None:
            return sessions
        if takes_rows_back(node, keys, self.options):
            return change_aggregate(self, node, keys, aggregates, span)
        built = Aggregate(self.uid("aggregate", span), node, tuple(keys), tuple(aggregates))
        if node.is_stream:
            self._check_window_keys(built, span)
            check_groups_close(built, self.options, span, self.written)
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

    def distinct(self, node: Node, span: Span, what: str = "DISTINCT") -> Node:
        """SELECT DISTINCT, or what the user wrote for it.

        Raises:
            DiagnosticError: rows of a stream would be remembered for ever (HR306), or cannot be told from one
                another (HR206).
        """
        check_rows(node.schema, what, span)
        built = Distinct(self.uid("distinct", span), node, self.options.state_ttl_ms)
        check_distinct(built, what, self.options, span)
        return built

    # --- joins and unions --------------------------------------------------------------------------------

    def seed_join(
        self, stream: Node, table: Node, kind: JoinKind, condition: Expr | None, span: Span
    ) -> Node:
        """Join with a small table."""
        return SeedJoin(self.uid("join", span), stream, table, kind, condition)

    def union(
        self,
        parts: Sequence[Node],
        spans: Sequence[Span],
        span: Span,
        place: Callable[[int, int], Span] | None = None,
    ) -> Node:
        """UNION ALL; columns are cast to their common types. Of changes, each input names the rows that go.

        Args:
            parts: the inputs.
            spans: where each is written.
            span: all of it.
            place: where the column of an input is written, by the numbers of both.

        Raises:
            DiagnosticError: another number of columns, types without a common one, or texts that would be
                read as something else (HR213); changes without a bound for their state (HR306).
        """
        first = parts[0]
        for part, there in zip(parts[1:], spans[1:], strict=True):
            if len(part.schema) != len(first.schema):
                gives = count(len(part.schema), "column")
                message = f"this input gives {gives}, the first {len(first.schema)}"
                raise union_error(message, there, spans[0])
        types = union_types(parts, spans, place or (lambda part, _: spans[part]))
        aligned = [self._cast(part, types, there) for part, there in zip(parts, spans, strict=True)]
        if not all(part.changelog.is_append for part in aligned):
            # What stands twice is remembered once.
            once = {id(part): part for part in aligned}
            named = {of: with_before(self, part, "UNION ALL of changes", span) for of, part in once.items()}
            aligned = [named[id(part)] for part in aligned]
        return Union(self.uid("union", span), tuple(aligned))

    def _cast(self, node: Node, types: Sequence[t.DataType], span: Span) -> Node:
        items = [
            NamedExpr(f.name, cast_to(Column(f.type, f.nullable, f.name), wanted))
            for f, wanted in zip(node.schema, types, strict=True)
        ]
        return self.project(node, items, span)


def count(number: int, what: str) -> str:
    """`1 column`, `2 columns`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def cast_to(expr: Expr, wanted: t.DataType) -> Expr:
    """The expression as another type; unchanged if Spark has one type for both."""
    return expr if expr.type.sql == wanted.sql else Cast(wanted, expr.nullable, expr)


def identity(schema: Schema) -> list[NamedExpr]:
    """Every column as it is."""
    return [NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in schema]

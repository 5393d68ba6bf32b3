"""Which names an expression can see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Column, Expr, FieldAccess
from compiler.plan.schema import Field, Schema


@frozen(slots=True)
class Visible:
    """A column that can be named: what the user calls it, and the operator's column that it is."""

    name: str
    field: Field


@frozen(slots=True)
class Part:
    """A relation of FROM under its alias."""

    alias: str | None
    columns: tuple[Visible, ...]

    @classmethod
    def of(cls, alias: str | None, schema: Schema) -> Part:
        """All columns of a schema under their own names."""
        return cls(alias, tuple(Visible(f.name, f) for f in schema))


@frozen(slots=True)
class Scope:
    """The relations of one SELECT, or the columns that a YAML step sees.

    Args:
        parts: the relations.
        outer: what a subquery sees of the query around it, where it has no such name of its own.
    """

    parts: tuple[Part, ...]
    outer: Scope | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, schema: Schema, alias: str | None = None) -> Scope:
        """One relation."""
        return cls((Part.of(alias, schema),))

    def columns(self) -> tuple[Visible, ...]:
        """All columns, in the order of FROM."""
        return tuple(column for part in self.parts for column in part.columns)

    def part(self, alias: str) -> Part | None:
        """The relation of that alias, without regard to case."""
        wanted = alias.lower()
        return next((p for p in self.parts if p.alias and p.alias.lower() == wanted), None)

    def find(self, names: tuple[str, ...]) -> Expr | None:
        """The column that a plain name means, if there is just one; anything else is for `resolve`."""
        if len(names) != 1:
            return None
        wanted = names[0].lower()
        found = [c.field for part in self.parts for c in part.columns if c.name.lower() == wanted]
        if not found and self.outer is not None:
            return self.outer.find(names)
        return Column(found[0].type, found[0].nullable, found[0].name) if len(found) == 1 else None

    def resolve(self, names: tuple[str, ...], span: Span) -> Expr:
        """The column (or field of a STRUCT column) that a dotted name means.

        Raises:
            DiagnosticError: no such column (HR201), or several (HR207).
        """
        first, *rest = names
        if rest and (part := self.part(first)):
            found = [c for c in part.columns if c.name.lower() == rest[0].lower()]
            if found:
                return self._fields(found[0], rest[1:], span)
        found = [c for c in self.columns() if c.name.lower() == first.lower()]
        if len(found) > 1:
            raise self._ambiguous(first, span)
        if found:
            return self._fields(found[0], rest, span)
        if self.outer is not None:
            return self.outer.resolve(names, span)
        raise self._unknown(names, span)

    def _fields(self, column: Visible, fields: Sequence[str], span: Span) -> Expr:
        expr: Expr = Column(column.field.type, column.field.nullable, column.field.name)
        for name in fields:
            struct = expr.type
            field = struct.field(name) if isinstance(struct, t.Struct) else None
            if field is None:
                raise self._no_field(column.name, name, struct, span)
            expr = FieldAccess(field.type, expr.nullable or field.nullable, expr, field.name)
        return expr

    def _no_field(self, column: str, name: str, struct: t.DataType, span: Span) -> DiagnosticError:
        if not isinstance(struct, t.Struct):
            message, fix = f"`{column}` is {struct} and has no field `{name}`", None
        else:
            message = f"`{column}` has no field `{name}`"
            fix = _did_you_mean(name, [f.name for f in struct.fields])
        return DiagnosticError(Diagnostic(codes.UNKNOWN_COLUMN, message, span, fix=fix))

    def _ambiguous(self, name: str, span: Span) -> DiagnosticError:
        owners = [
            p.alias for p in self.parts if p.alias and any(c.name.lower() == name.lower() for c in p.columns)
        ]
        choices = " or ".join(f"`{owner}.{name}`" for owner in owners)
        return DiagnosticError(
            Diagnostic(
                codes.AMBIGUOUS_COLUMN,
                f"column `{name}` could be that of several relations",
                span,
                fix=f"write {choices}" if choices else "give the relations aliases",
            )
        )

    def _unknown(self, names: tuple[str, ...], span: Span) -> DiagnosticError:
        wanted = ".".join(names)
        aliases = [p.alias for p in self.parts if p.alias]
        first, *rest = names
        if rest:
            part = self.part(first)
            if part is None:
                owner = first
                fix = _did_you_mean(owner, aliases) or f"FROM has {', '.join(f'`{a}`' for a in aliases)}"
                message = f"unknown relation or column `{owner}` in `{wanted}`"
                return DiagnosticError(Diagnostic(codes.UNKNOWN_COLUMN, message, span, fix=fix))
            candidates = [c.name for c in part.columns]
            return _unknown_column(rest[0], span, candidates, f" in `{part.alias}`")
        candidates = list(dict.fromkeys(c.name for c in self.columns()))
        where = f" in `{aliases[0]}`" if len(aliases) == 1 else ""
        return _unknown_column(first, span, candidates, where)


def _did_you_mean(name: str, candidates: list[str]) -> str | None:
    near = suggest(name, candidates)
    return f"did you mean `{near}`?" if near else None


def _unknown_column(name: str, span: Span, candidates: list[str], where: str) -> DiagnosticError:
    shown = ", ".join(candidates[:12]) + (", …" if len(candidates) > 12 else "")
    return DiagnosticError(
        Diagnostic(
            codes.UNKNOWN_COLUMN,
            f"unknown column `{name}`{where}",
            span,
            label="not found",
            cause=f"columns here are {shown}" if shown else "no columns are visible here",
            fix=_did_you_mean(name, candidates),
        )
    )

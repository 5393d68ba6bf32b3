"""Expressions of DEFINE and MEASURES: a column belongs to the rows of a variable, or to all rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from compiler.analysis.calls import result_type
from compiler.analysis.expressions import ExpressionBinder
from compiler.analysis.scope import Part, Scope
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.functions import lookup
from compiler.jobplan.operators.match import ALL_ROWS, FOLDS
from compiler.plan import types as t
from compiler.plan.expr import Cast, Column, Expr, Literal, transform, walk
from compiler.plan.operators.match_expr import Folded, Navigated
from compiler.plan.schema import Field, Schema
from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

# Other names of the aggregates that the matcher has.
_SAME = {"mean": "avg"}
_REFUSED = {
    "prev": (
        "`PREV` counts rows outside of the match, which are not kept",
        "use LAST(variable.column, 1), the row before the last one of the variable",
    ),
    "next": (
        "`NEXT` looks at rows that have not come yet",
        "give the row a variable of its own, and write the condition there",
    ),
    "classifier": ("`CLASSIFIER` belongs to ALL ROWS PER MATCH, which is not supported", None),
    "match_number": ("`MATCH_NUMBER` has no meaning on a stream", None),
    "match_proctime": (
        "`MATCH_PROCTIME` is not supported",
        "use current_timestamp() in the SELECT around it",
    ),
}


@frozen(slots=True)
class PatternScope(Scope):
    """The columns of the input, alone or behind a variable of the pattern.

    Args:
        variables: as the pattern spells them, by lower-case name.
    """

    variables: Mapping[str, str]

    @classmethod
    def over(cls, schema: Schema, variables: Mapping[str, str]) -> PatternScope:
        """The scope of a match over a relation."""
        return cls((Part.of(None, schema),), variables)

    def find(self, names: tuple[str, ...]) -> Expr | None:
        """A plain name: the column of the latest row."""
        # By name, since slots make a new class that a bare super() does not know.
        found = Scope.find(self, names)
        return None if found is None else Navigated(found.type, True, found)

    def resolve(self, names: tuple[str, ...], span: Span) -> Expr:
        """A column, behind a variable or not.

        Raises:
            DiagnosticError: no such variable (HR352) or column (HR201).
        """
        variable = ALL_ROWS
        if len(names) > 1:
            known = self.variables.get(names[0].lower())
            if known is not None:
                variable, names = known, names[1:]
            elif not any(column.name.lower() == names[0].lower() for column in self.columns()):
                raise self._no_variable(names[0], span)
        found = Scope.resolve(self, names, span)
        return Navigated(found.type, True, found, variable)

    def variable(self, name: str, span: Span) -> str:
        """A variable as the pattern spells it.

        Raises:
            DiagnosticError: the pattern has none of that name (HR352).
        """
        known = self.variables.get(name.lower())
        if known is None:
            raise self._no_variable(name, span)
        return known

    def _no_variable(self, name: str, span: Span) -> DiagnosticError:
        names = list(self.variables.values())
        return DiagnosticError(
            Diagnostic(
                codes.PATTERN_VARIABLE,
                f"the pattern has no variable `{name}`",
                span,
                cause=f"its variables are {', '.join(names)}",
                fix=did_you_mean(name, names),
            )
        )


class PatternBinder(ExpressionBinder):
    """Binds expressions over the rows of a possible match.

    Args:
        schema: the input.
        variables: of the pattern, by lower-case name.
        time: the column that orders the rows.
        fragment: the text that the trees came from.
        clause: DEFINE or MEASURES.
    """

    def __init__(
        self, schema: Schema, variables: Mapping[str, str], time: Field, fragment: Fragment, clause: str
    ) -> None:
        self._visible = PatternScope.over(schema, variables)
        super().__init__(self._visible, fragment, clause)
        self._time = time

    def _bind(self, tree: exp.Expr) -> Expr:
        if isinstance(tree, exp.Anonymous):
            name = str(tree.this).removeprefix(MARK).lower()
            if name in ("first", "last"):
                return self._navigate(name, tree)
            if name == "match_rowtime":
                return self._rowtime(tree)
            if name in _REFUSED:
                message, fix = _REFUSED[name]
                raise self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
            function = lookup(name)
            if function is not None and function.aggregate:
                return self._fold(_SAME.get(name, name), tree)
        if isinstance(tree, exp.Filter):
            message = "FILTER cannot stand in MATCH_RECOGNIZE"
            fix = "give the rows that are meant a variable of their own"
            raise self.error(codes.MATCH_EXPRESSION, message, tree, fix=fix)
        return super()._bind(tree)

    # --- FIRST and LAST -------------------------------------------------------

    def _navigate(self, name: str, tree: exp.Anonymous) -> Expr:
        args = tree.expressions
        if not 1 <= len(args) <= 2:
            message = f"`{name.upper()}` takes a value and how many rows away it is"
            fix = f"write {name.upper()}(A.price, 1)"
            raise self.error(codes.WRONG_ARGUMENTS, message, tree, fix=fix)
        inner, variable = self._one_row(args[0], name.upper())
        offset = self.bind(args[1]) if len(args) == 2 else None
        if offset is not None and not _is_count(offset):
            message = f"how far `{name.upper()}` goes is a whole number of rows, and constant"
            raise self.error(codes.WRONG_ARGUMENTS, message, args[1])
        rows = offset.value if isinstance(offset, Literal) and isinstance(offset.value, int) else 0
        return Navigated(inner.type, True, inner, variable, "first" if name == "first" else "last", rows)

    def _rowtime(self, tree: exp.Anonymous) -> Expr:
        field = self._time
        if tree.expressions:
            given = self.bind(tree.expressions[0])
            named = isinstance(given, Navigated) and isinstance(given.arg, Column) and given.arg.name
            if named != field.name:
                message = f"MATCH_ROWTIME is the time of the match's last row, `{field.name}`"
                raise self.error(codes.WRONG_ARGUMENTS, message, tree, fix="write MATCH_ROWTIME()")
        return Navigated(field.type, False, Column(field.type, False, field.name))

    def _one_row(self, tree: exp.Expr, what: str) -> tuple[Expr, str]:
        """An expression over the columns of one row, and the variable whose row it is."""
        bound = self.bind(tree)
        if any(isinstance(part, Folded) for part in walk(bound)):
            message = f"an aggregate cannot stand inside {what}"
            raise self.error(codes.MATCH_EXPRESSION, message, tree)
        found = [part for part in walk(bound) if isinstance(part, Navigated)]
        variables = list(dict.fromkeys(part.variable for part in found))
        if len(variables) != 1:
            message = (
                f"{what} reads rows of {' and '.join(f'`{v}`' if v else 'all variables' for v in variables)}"
                if variables
                else f"{what} reads no column"
            )
            cause = "its value has to come from one row at a time" if variables else None
            raise self.error(codes.MATCH_EXPRESSION, message, tree, cause=cause)
        if any((part.anchor, part.offset) != ("last", 0) for part in found):
            message = f"FIRST and LAST cannot stand inside {what}"
            raise self.error(codes.MATCH_EXPRESSION, message, tree)
        return strip(bound), variables[0]

    # --- aggregates -----------------------------------------------------------

    def _fold(self, name: str, tree: exp.Anonymous) -> Expr:
        if name not in FOLDS:
            message = f"aggregate `{name}` cannot be computed over the rows of a match"
            fix = f"there are {', '.join(FOLDS)}"
            raise self.error(codes.MATCH_EXPRESSION, message, tree, fix=fix)
        args = tree.expressions
        if len(args) == 1 and isinstance(args[0], exp.Distinct):
            message = f"DISTINCT inside `{name}` cannot be computed over the rows of a match"
            raise self.error(codes.MATCH_EXPRESSION, message, tree)
        star = _star(args)
        if name == "count" and star is not None:
            variable = self._visible.variable(star, self.span(args[0])) if star else ALL_ROWS
            return Folded(t.BIGINT, False, "count", None, variable)
        if len(args) != 1:
            message = f"`{name}` takes 1 argument, not {len(args)}"
            raise self.error(codes.WRONG_ARGUMENTS, message, tree)
        inner, variable = self._one_row(args[0], f"`{name}`")
        function = lookup(name)
        assert function is not None
        found = result_type(self, function, (inner,), tree)
        if name in ("sum", "avg") and inner.type == t.STRING:
            inner = Cast(t.DOUBLE, True, inner)
        if name == "avg" and isinstance(inner.type, t.Interval):
            raise self.error(codes.MATCH_EXPRESSION, "`avg` of intervals cannot be computed here", tree)
        return Folded(found, name != "count", name, inner, variable)


def strip(expr: Expr) -> Expr:
    """An expression over one row, as one over the columns of the input."""
    return transform(expr, lambda part: part.arg if isinstance(part, Navigated) else None)


def _is_count(expr: Expr) -> bool:
    return (
        isinstance(expr, Literal)
        and isinstance(expr.value, int)
        and expr.value >= 0
        and t.is_integral(expr.type)
    )


def _star(args: list[exp.Expr]) -> str | None:
    """The variable of `*` or `A.*`, empty for the first; None for anything else."""
    if len(args) != 1:
        return None
    if isinstance(args[0], exp.Star):
        return ""
    if isinstance(args[0], exp.Column) and isinstance(args[0].this, exp.Star):
        return str(args[0].table)
    return None

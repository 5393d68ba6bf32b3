"""From sqlglot's tree to typed expressions: names are resolved and every mistake is placed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from compiler.analysis import typing as rules
from compiler.analysis.calls import bind_call, bind_special
from compiler.analysis.constants import CONSTANTS, check_alternatives, check_conversion
from compiler.analysis.flink import bind_niladic
from compiler.analysis.lambdas import unknown_variable
from compiler.analysis.operators import OPERATORS
from compiler.analysis.over import NamedWindows, bind_over
from compiler.analysis.places import tree_span
from compiler.analysis.predicates import PREDICATES
from compiler.analysis.scope import Scope
from compiler.analysis.subquery_fixes import how_to_unite
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.functions.spec import TypeProblem
from compiler.plan import types as t
from compiler.plan.expr import Case, Expr, Literal, Op, Variable
from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

_INFIX: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "DIV",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}
# Later passes go down an expression by recursion; Python's stack holds about three times as many levels.
_DEEPEST = 150
_DIVISIONS = ("/", "%", "DIV")
_ARITHMETIC = ("+", "-", "*", "/", "%", "DIV")
# What Spark has not, with what to write.
_NOT_RUN: dict[type[exp.Expr], tuple[str, str]] = {
    exp.SimilarTo: ("SIMILAR TO is not run", "use RLIKE with a Java regular expression, or LIKE"),
    exp.AtTimeZone: (
        "AT TIME ZONE is not run",
        "use from_utc_timestamp(ts, 'zone') or to_utc_timestamp(ts, 'zone')",
    ),
    exp.Any: ("ANY is not run", "use array_contains(xs, x), or IN (…)"),
    exp.Overlaps: ("OVERLAPS is not run", "compare the bounds: a1 < b2 AND b1 < a2"),
}


class ExpressionBinder:
    """Binds expressions of one fragment over one scope.

    Args:
        scope: the names that can be seen.
        fragment: the text that the trees came from, for places.
        clause: what it is called in messages ("WHERE").
        aggregates: whether aggregate functions may stand here.
        warn: takes what is doubtful.
    """

    def __init__(
        self,
        scope: Scope,
        fragment: Fragment,
        clause: str,
        aggregates: bool = False,
        warn: Callable[[Diagnostic], None] | None = None,
    ) -> None:
        self.scope = scope
        self.fragment = fragment
        self.clause = clause
        self.aggregates = aggregates
        self.warn = warn
        # The WINDOW clause, where OVER may stand.
        self.windows: NamedWindows | None = None
        self._inside_aggregate = False
        self._variables: Mapping[str, Variable] = {}
        self._depth = 0
        self.place: Span | None = None

    def span(self, tree: exp.Expr) -> Span:
        """The place of a part of the tree."""
        return self.place or tree_span(tree, self.fragment)

    def error(
        self,
        code: codes.Code,
        message: str,
        tree: exp.Expr,
        *,
        cause: str | None = None,
        fix: str | None = None,
    ) -> DiagnosticError:
        """A diagnostic at a part of the tree, ready to be raised."""
        return DiagnosticError(Diagnostic(code, message, self.span(tree), cause=cause, fix=fix))

    def over(self, scope: Scope, fragment: Fragment, place: Span) -> ExpressionBinder:
        """A binder of an expression that stands for a part of this one, and that is placed there."""
        inner = ExpressionBinder(scope, fragment, self.clause, self.aggregates)
        inner._inside_aggregate, inner._depth = self._inside_aggregate, self._depth
        inner.place = place
        return inner

    def condition(self, tree: exp.Expr, what: str, operand: bool = False) -> Expr:
        """Binds a predicate; `operand` is one of AND, OR or NOT, where Spark casts a STRING."""
        bound = self.bind(tree)
        try:
            rules.check_boolean(what, bound.type, operand)
        except TypeProblem as problem:
            raise self.error(codes.TYPE_MISMATCH, str(problem), tree) from problem
        return bound

    def bind(self, tree: exp.Expr) -> Expr:
        """Binds an expression.

        Raises:
            DiagnosticError: anything wrong with it.
        """
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                message = f"an expression has at most {_DEEPEST} levels"
                fix = "compute a part of it in a model of its own"
                raise self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
            return self._bind(tree)
        finally:
            self._depth -= 1

    def _bind(self, tree: exp.Expr) -> Expr:
        kind = type(tree)
        symbol = _INFIX.get(kind)
        if symbol is not None:
            return self.infix(symbol, tree)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            return handler(self, tree)
        special = bind_special(self, tree)
        if special is not None:
            return special
        raise self.unsupported(tree)

    def in_aggregate(self, tree: exp.Expr) -> Expr:
        """Binds an argument of an aggregate function, where no other aggregate may stand."""
        outer, self._inside_aggregate = self._inside_aggregate, True
        try:
            return self.bind(tree)
        finally:
            self._inside_aggregate = outer

    def in_lambda(self, tree: exp.Expr, variables: Mapping[str, Variable]) -> Expr:
        """Binds the body of a lambda, where no aggregate may stand."""
        outer = self._variables, self.aggregates, self.clause
        self._variables = {**self._variables, **variables}
        self.aggregates, self.clause = False, "a lambda"
        try:
            return self.bind(tree)
        finally:
            self._variables, self.aggregates, self.clause = outer

    def check_aggregate_allowed(self, name: str, tree: exp.Expr) -> None:
        """Refuses an aggregate function where no groups are.

        Raises:
            DiagnosticError: HR314.
        """
        if self._inside_aggregate:
            message = f"`{name}` stands inside another aggregate function"
            fix = "aggregate in one model, and aggregate its result in the next"
        elif not self.aggregates:
            message = f"aggregate function `{name}` cannot stand in {self.clause}"
            fix = "use HAVING" if self.clause == "WHERE" else "aggregate in a model of its own"
        else:
            return
        raise self.error(codes.AGGREGATE_OF_AGGREGATE, message, tree, fix=fix)

    def unsupported(self, tree: exp.Expr) -> DiagnosticError:
        """The mistake of something that is no expression here, ready to be raised."""
        if isinstance(tree, (exp.Subquery, exp.Exists, exp.Select)):
            tested = isinstance(tree, exp.Exists) or isinstance(tree.parent, exp.In)
            return self.error(
                codes.NOT_YET_STREAMING,
                "IN and EXISTS (SELECT …) stand in WHERE, by themselves or beside AND"
                if tested
                else f"a query cannot be a value in {self.clause}",
                tree,
                fix=how_to_unite(tree, self.span)
                if tested
                else "join with the relation and take its column, or put a constant into `vars`",
            )
        if isinstance(tree, exp.Kwarg):
            name = tree.this.name
            message = f"`{name} => …`: only table functions take arguments by name"
            fix = f"write the value alone, at the place that `{name}` has among the arguments"
            return self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
        known = _NOT_RUN.get(type(tree))
        if known is not None:
            message, fix = known
            return self.error(codes.UNSUPPORTED_SYNTAX, message, tree, fix=fix)
        if isinstance(tree, exp.Star):
            fix = "write count(*), or name a column"
            return self.error(codes.UNSUPPORTED_SYNTAX, "`*` cannot stand in an expression", tree, fix=fix)
        text = " ".join(self.span(tree).text.split())
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        return self.error(
            codes.UNSUPPORTED_SYNTAX, f"`{shown}` is not an expression that headrace runs", tree
        )

    # --- operators -----------------------------------------------------------

    def infix(self, symbol: str, tree: exp.Expr) -> Expr:
        """Binds arithmetic, or a comparison."""
        left, right = self.bind(tree.this), self.bind(tree.args["expression"])
        nullable = left.nullable or right.nullable
        try:
            if symbol in _ARITHMETIC:
                if symbol in _DIVISIONS and isinstance(right, Literal) and right.value == 0:
                    message, cause = f"`{symbol} 0` fails on every row", "nothing can be divided by zero"
                    raise self.error(codes.IMPOSSIBLE_VALUE, message, tree, cause=cause)
                return Op(rules.arithmetic_type(symbol, left, right), nullable, symbol, (left, right))
            if symbol in rules.COMPARISONS:
                rules.check_comparable(symbol, left.type, right.type)
                self._check_compared(left, right, tree)
                return Op(t.BOOLEAN, nullable and symbol != "<=>", symbol, (left, right))
            common = t.common_type(left.type, right.type)
            if common is None or not t.is_integral(common):
                raise TypeProblem(f"`{symbol}` is not defined for {left.type} and {right.type}")
            return Op(common, nullable, symbol, (left, right))
        except TypeProblem as problem:
            raise self.error(codes.TYPE_MISMATCH, str(problem), tree) from problem

    def comparable(self, op: str, left: Expr, right: Expr, tree: exp.Expr) -> None:
        """Refuses a comparison that Spark refuses, or that fails for a constant."""
        try:
            rules.check_comparable(op, left.type, right.type)
        except TypeProblem as problem:
            raise self.error(codes.TYPE_MISMATCH, str(problem), tree) from problem
        self._check_compared(left, right, tree)

    # --- casts, CASE, literals -----------------------------------------------

    def _check_compared(self, left: Expr, right: Expr, tree: exp.Expr) -> None:
        """The constants of a comparison are converted to the common type."""
        common = t.common_type(left.type, right.type)
        for side in (left, right):
            if common is not None and side.type == t.STRING != common:
                check_conversion(self, side, common, tree)

    def _case(self, tree: exp.Expr) -> Expr:
        operand = self.bind(tree.this) if tree.this is not None else None
        branches: list[tuple[Expr, Expr]] = []
        for branch in tree.args["ifs"]:
            if operand is None:
                when = self.condition(branch.this, "a condition of WHEN")
            else:
                value = self.bind(branch.this)
                self.comparable("=", operand, value, branch.this)
                when = Op(t.BOOLEAN, operand.nullable or value.nullable, "=", (operand, value))
            branches.append((when, self.bind(branch.args["true"])))
        last = tree.args.get("default")
        default = self.bind(last) if last is not None else None
        results = [then for _, then in branches] + ([default] if default else [])
        found = self._common(results, tree)
        places = [branch.args["true"] for branch in tree.args["ifs"]] + ([last] if last is not None else [])
        check_alternatives(self, zip(results, places, strict=True), found)
        nullable = default is None or any(r.nullable for r in results)
        return Case(found, nullable, tuple(branches), default)

    def _common(self, results: list[Expr], tree: exp.Expr) -> t.DataType:
        found: t.DataType = t.NULL
        for result in results:
            common = t.common_type(found, result.type)
            if common is None:
                raise self.error(
                    codes.TYPE_MISMATCH,
                    f"branches give {found} and {result.type}, which have no common type",
                    tree,
                )
            found = common
        return found

    def _column(self, tree: exp.Expr) -> Expr:
        if isinstance(tree.this, exp.Star):
            raise self.error(codes.UNSUPPORTED_SYNTAX, "`*` cannot stand in an expression", tree)
        assert isinstance(tree, exp.Column)
        names = tuple(part.name for part in tree.parts)
        # The place costs more than the look-up, and is seldom needed.
        return (
            self.scope.find(names) or bind_niladic(self, tree) or self.scope.resolve(names, self.span(tree))
        )

    def _variable(self, tree: exp.Expr) -> Expr:
        """A parameter of a lambda: sqlglot leaves it a bare name inside the body."""
        found = self._variables.get(tree.name)
        if found is None:
            raise unknown_variable(self, tree)
        return found

    def _anonymous(self, tree: exp.Expr) -> Expr:
        name = str(tree.this).removeprefix(MARK)
        return bind_call(self, name.lower(), list(tree.expressions), tree)

    def _paren(self, tree: exp.Expr) -> Expr:
        return self.bind(tree.this)

    def _within_group(self, tree: exp.Expr, where: exp.Expr | None = None) -> Expr:
        call = tree.this
        if not isinstance(call, exp.Anonymous):
            raise self.error(codes.UNSUPPORTED_SYNTAX, "WITHIN GROUP belongs to an aggregate function", tree)
        name = str(call.this).removeprefix(MARK).lower()
        return bind_call(self, name, list(call.expressions), call, where, tree.args["expression"])

    def _nulls(self, tree: exp.Expr) -> Expr:
        """IGNORE NULLS behind a call means the same as inside."""
        call = tree.this
        if not (isinstance(call, exp.Anonymous) and call.expressions):
            raise self.unsupported(tree)
        name = str(call.this).removeprefix(MARK).lower()
        first, *rest = call.expressions
        return bind_call(self, name, [type(tree)(this=first), *rest], call)

    def _filter(self, tree: exp.Expr) -> Expr:
        where = tree.args["expression"].this
        call = tree.this
        if isinstance(call, exp.WithinGroup):
            return self._within_group(call, where)
        name = str(call.this).removeprefix(MARK) if isinstance(call, exp.Anonymous) else ""
        if not name:
            raise self.error(codes.UNSUPPORTED_SYNTAX, "FILTER belongs to an aggregate function", tree)
        return bind_call(self, name.lower(), list(call.expressions), call, where=where)


_HANDLERS: dict[type[exp.Expr], Callable[[ExpressionBinder, Any], Expr]] = {
    **CONSTANTS,
    **PREDICATES,
    **OPERATORS,
    exp.Case: ExpressionBinder._case,
    exp.Column: ExpressionBinder._column,
    exp.Identifier: ExpressionBinder._variable,
    exp.Anonymous: ExpressionBinder._anonymous,
    exp.Paren: ExpressionBinder._paren,
    exp.Filter: ExpressionBinder._filter,
    exp.Window: bind_over,
    exp.WithinGroup: ExpressionBinder._within_group,
    exp.IgnoreNulls: ExpressionBinder._nulls,
    exp.RespectNulls: ExpressionBinder._nulls,
}

"""The private sqlglot dialect: text of a query in, sqlglot tree with offsets out.

sqlglot's compiled parser cannot be subclassed ("interpreted classes cannot inherit from compiled", 30.x),
and patching it would be global. So the dialect works on tokens, before the stock Spark parser sees them:
see `compiler.syntax.tokens`.

Only constructs with a syntax of their own (CAST … AS, EXTRACT … FROM, …) stay sqlglot's.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.frozen import frozen
from compiler.syntax.fragment import Fragment
from compiler.syntax.query_errors import dangling, parse_error
from compiler.syntax.tokens import rewrite_tokens


class HeadraceDialect(Spark):
    """Spark's dialect with two quotes inside a string read as one, as Spark 4 does."""

    class Tokenizer(Spark.Tokenizer):
        """Spark's tokenizer; quotes are doubled inside strings."""

        STRING_ESCAPES = ["\\", "'"]  # noqa: RUF012 - sqlglot's metaclass reads this attribute


_DIALECT = HeadraceDialect()


@frozen(slots=True)
class Parsed:
    """A parsed query or expression and the text it came from."""

    tree: exp.Expr
    fragment: Fragment


def parse_query(fragment: Fragment) -> Parsed:
    """Parses a SELECT, a UNION or a WITH.

    Raises:
        DiagnosticError: the text is not one query (HR101).
    """
    tree = _parse(fragment, None)
    if not isinstance(tree, exp.Query):
        raise _syntax_error(fragment, 0, len(fragment.text), "a query must begin with SELECT, WITH or (")
    return Parsed(tree, fragment)


def parse_expression(fragment: Fragment) -> Parsed:
    """Parses a scalar expression, with or without an alias.

    Raises:
        DiagnosticError: the text is not one expression (HR101).
    """
    if not fragment.text.strip():
        raise _syntax_error(fragment, 0, len(fragment.text), "an expression is missing")
    return Parsed(_parse(fragment, exp.Alias), fragment)


def parse_sort(fragment: Fragment) -> Parsed:
    """Parses an item of ORDER BY: an expression, with ASC or DESC and NULLS FIRST or LAST.

    Raises:
        DiagnosticError: the text is not one item (HR101).
    """
    return Parsed(_parse(fragment, exp.Ordered), fragment)


def _parse(fragment: Fragment, into: type[exp.Alias | exp.Ordered] | None) -> exp.Expr:
    text = fragment.text
    try:
        tokens = _DIALECT.tokenize(text)
    except TokenError as error:
        raise _unclosed(fragment, error) from error
    if not tokens:
        raise _syntax_error(fragment, 0, len(text), "a query is missing")
    unfinished = dangling(fragment, tokens)
    if unfinished is not None:
        raise DiagnosticError(unfinished)
    marked = rewrite_tokens(tokens, fragment)
    parser = _DIALECT.parser()
    try:
        trees = parser.parse(marked, text) if into is None else _parse_alone(parser, marked, text, into)
    except ParseError as error:
        what = "query" if into is None else "expression"
        raise DiagnosticError(parse_error(fragment, tokens, error, what)) from error
    except RecursionError as error:
        raise _syntax_error(fragment, 0, len(text), "the expression is nested too deeply") from error
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        raise _syntax_error(fragment, 0, len(text), "one query is expected here, without a `;` inside")
    return found[0]


def _parse_alone(
    parser: object, tokens: list[Token], text: str, into: type[exp.Alias | exp.Ordered]
) -> list[exp.Expr | None]:
    """Parses the only item of a SELECT, or of its ORDER BY: the parser has no entry for these alone."""
    first = tokens[0]
    before = [(TokenType.SELECT, "SELECT")]
    if into is exp.Ordered:
        before += [(TokenType.NUMBER, "1"), (TokenType.ORDER_BY, "ORDER BY")]
    made = [Token(kind, word, first.line, first.col, first.start, first.start) for kind, word in before]
    trees = parser.parse([*made, *tokens], text)  # type: ignore[attr-defined]  # compiled class, untyped here
    tree = trees[0] if len(trees) == 1 else None
    if into is exp.Ordered and isinstance(tree, exp.Select) and isinstance(tree.args.get("order"), exp.Order):
        order = tree.args.pop("order")
        if len(order.expressions) == 1 and not _has_clauses(tree):
            return [order.expressions[0]]
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or _has_clauses(tree):
        raise ParseError(
            "one expression is expected",
            [{"line": last.line, "col": last.col, "description": "one expression is expected"}]
            if (last := tokens[-1])
            else [],
        )
    return [tree.expressions[0]]


def _has_clauses(tree: exp.Select) -> bool:
    return any(value for key, value in tree.args.items() if key not in ("kind", "hint", "expressions"))


# --- errors -----------------------------------------------------------------


def _syntax_error(
    fragment: Fragment, start: int, end: int, message: str, fix: str | None = None
) -> DiagnosticError:
    return DiagnosticError(Diagnostic(codes.SQL_SYNTAX, message, fragment.span(start, end), fix=fix))


def _unclosed(fragment: Fragment, error: TokenError) -> DiagnosticError:
    """Places an unclosed quote: sqlglot says only that tokenizing failed."""
    opened = _last_open_quote(fragment.text)
    if opened is None:
        return _syntax_error(fragment, 0, len(fragment.text), f"text cannot be read: {error}")
    quote = fragment.text[opened]
    what = "comment" if quote == "/" else "name" if quote == "`" else "string"
    end = fragment.text.find("\n", opened)
    end = len(fragment.text) if end < 0 else end
    closing = "*/" if quote == "/" else quote
    return _syntax_error(fragment, opened, end, f"the {what} is not closed", fix=f"add the closing {closing}")


def _last_open_quote(text: str) -> int | None:
    index, length = 0, len(text)
    while index < length:
        char = text[index]
        if text.startswith("--", index):
            newline = text.find("\n", index)
            index = length if newline < 0 else newline
        elif text.startswith("/*", index):
            closed = text.find("*/", index + 2)
            if closed < 0:
                return index
            index = closed + 1
        elif char in "'\"`":
            start, index = index, index + 1
            while index < length and text[index] != char:
                index += 2 if text[index] == "\\" and char != "`" else 1
            if index >= length:
                return start
        index += 1
    return None

"""The private sqlglot dialect: text of a query in, sqlglot tree with offsets out.

sqlglot's compiled parser cannot be subclassed ("interpreted classes cannot inherit from compiled", 30.x),
and patching it would be global. So the dialect works on tokens, before the stock Spark parser sees them:

- the name before a `(` is marked, so that sqlglot keeps every function as the user wrote it instead of
  turning it into its own notion of that function; ours is in `compiler.functions`;
- `TABLE` before a name in a window function is dropped, as Flink's grammar allows both.

Only constructs with a syntax of their own (CAST … AS, EXTRACT … FROM, …) stay sqlglot's.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.syntax.fragment import Fragment
from compiler.syntax.query_errors import dangling, parse_error

# Set before a function's name. No user writes it: the tokenizer would read it as an identifier of theirs.
MARK = "hr$"

# Functions whose arguments are not a plain list; sqlglot's own parsers read them.
_SPECIAL = frozenset({"CAST", "EXTRACT", "TRIM", "SUBSTRING", "POSITION", "OVERLAY"})
# Words that may stand before a parenthesis without being a function's name.
_NOT_FUNCTION_WORDS = (
    "IN AS AND OR NOT ON USING WHERE HAVING BY OVER FROM JOIN SELECT UNION ALL ANY SOME EXISTS VALUES WITH "
    "EXCEPT INTERSECT CASE WHEN THEN ELSE END DISTINCT LIKE RLIKE ILIKE BETWEEN IS CUBE ROLLUP SETS DEFINE "
    "MEASURES PATTERN PARTITION MATCH_RECOGNIZE LATERAL QUALIFY LIMIT ORDER GROUP TABLESAMPLE PIVOT UNPIVOT"
)
_NOT_FUNCTIONS = frozenset(_NOT_FUNCTION_WORDS.split())


class HeadraceDialect(Spark):
    """Spark's dialect with two quotes inside a string read as one, as Spark 4 does."""

    class Tokenizer(Spark.Tokenizer):
        """Spark's tokenizer; quotes are doubled inside strings."""

        STRING_ESCAPES = ["\\", "'"]  # noqa: RUF012 - sqlglot's metaclass reads this attribute


_DIALECT = HeadraceDialect()


@dataclass(frozen=True, slots=True)
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


def _parse(fragment: Fragment, into: type[exp.Alias] | None) -> exp.Expr:
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
    marked = _mark_functions(tokens)
    parser = _DIALECT.parser()
    try:
        trees = parser.parse(marked, text) if into is None else _parse_alone(parser, marked, text)
    except ParseError as error:
        what = "query" if into is None else "expression"
        raise DiagnosticError(parse_error(fragment, tokens, error, what)) from error
    except RecursionError as error:
        raise _syntax_error(fragment, 0, len(text), "the expression is nested too deeply") from error
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        raise _syntax_error(fragment, 0, len(text), "one query is expected here, without a `;` inside")
    return found[0]


def _parse_alone(parser: object, tokens: list[Token], text: str) -> list[exp.Expr | None]:
    """Parses an expression as the only item of a SELECT: the parser has no entry for one with an alias."""
    first = tokens[0]
    select = Token(TokenType.SELECT, "SELECT", first.line, first.col, first.start, first.start)
    trees = parser.parse([select, *tokens], text)  # type: ignore[attr-defined]  # compiled class, untyped here
    tree = trees[0] if len(trees) == 1 else None
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


def _mark_functions(tokens: list[Token]) -> list[Token]:
    result: list[Token] = []
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index < last else None
        if following is None:
            result.append(token)
            continue
        if token.token_type is TokenType.TABLE and _is_table_argument(tokens, index):
            continue
        if following.token_type is TokenType.L_PAREN and _is_function_name(tokens, index):
            result.append(_renamed(token, MARK + token.text))
        elif token.text.upper() == "TRY_CAST" and following.token_type is TokenType.L_PAREN:
            # `x::INT` and TRY_CAST give one node in sqlglot; SAFE_CAST gives another.
            result.append(_renamed(token, "SAFE_CAST"))
        else:
            result.append(token)
    return result


def _renamed(token: Token, text: str) -> Token:
    return Token(TokenType.VAR, text, token.line, token.col, token.start, token.end, token.comments)


def _is_table_argument(tokens: list[Token], index: int) -> bool:
    """Whether TABLE stands before a name as an argument: `TUMBLE(TABLE t, …)`, `DATA => TABLE t`."""
    if index == 0 or tokens[index + 1].token_type is TokenType.L_PAREN:
        return False
    return tokens[index - 1].token_type in (TokenType.L_PAREN, TokenType.COMMA, TokenType.FARROW)


def _is_function_name(tokens: list[Token], index: int) -> bool:
    token = tokens[index]
    word = token.text.upper()
    if token.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER):
        return False
    if not (word.replace("_", "a").isalnum() and not word[0].isdigit()):
        return False
    if word in _NOT_FUNCTIONS or word in _SPECIAL or word == "TRY_CAST":
        return False
    if index == 0:
        return True
    before = tokens[index - 1]
    if word == "FILTER":
        # `sum(x) FILTER (WHERE …)` is a clause, `filter(xs, …)` a function.
        return before.token_type is not TokenType.R_PAREN
    if _ends_type(before, word):
        return False
    if before.token_type is TokenType.WITH or _names_columns(tokens, index):
        return False
    # A name after a name is an alias with columns (`AS t (a, b)`), not a call; keywords come before calls.
    return before.token_type is not TokenType.ALIAS


def _names_columns(tokens: list[Token], index: int) -> bool:
    """Whether the word is a query of WITH with named columns: `, t (a, b) AS (SELECT …)`."""
    end = next((i for i in range(index, len(tokens)) if tokens[i].token_type is TokenType.R_PAREN), None)
    kinds = tuple(t.token_type for t in tokens[end + 1 : end + 4]) if end is not None else ()
    return kinds[:2] == (TokenType.ALIAS, TokenType.L_PAREN) and kinds[2:] == (TokenType.SELECT,)


def _ends_type(before: Token, word: str) -> bool:
    """Whether the word is a type with parameters: `AS DECIMAL(10, 2)`, `x::VARCHAR(3)`."""
    is_cast = before.token_type in (TokenType.ALIAS, TokenType.DCOLON, TokenType.LT, TokenType.COLON)
    return is_cast and word in _PARAMETRIC_TYPES


_PARAMETRIC_TYPES = frozenset({"DECIMAL", "DEC", "NUMERIC", "VARCHAR", "CHAR", "TIMESTAMP", "TIMESTAMP_LTZ"})


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

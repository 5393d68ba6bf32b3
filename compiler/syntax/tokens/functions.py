"""The name before a `(` is marked, so that sqlglot keeps every function as the user wrote it."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment

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


def mark_functions(tokens: list[Token], _fragment: Fragment) -> list[Token]:
    """Marks functions, gives TRY_CAST a node of its own, and drops TABLE before a table argument."""
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
    if word == "EXISTS" and not _begins_query(tokens, index + 2):
        return True  # exists(xs, x -> …)
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


def _begins_query(tokens: list[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type in (
        TokenType.SELECT,
        TokenType.WITH,
        TokenType.L_PAREN,
        TokenType.FROM,
        TokenType.VALUES,
    )


def _names_columns(tokens: list[Token], index: int) -> bool:
    """Whether the word is a query of WITH with named columns: `, t (a, b) AS (SELECT …)`."""
    end = next((i for i in range(index, len(tokens)) if tokens[i].token_type is TokenType.R_PAREN), None)
    kinds = tuple(t.token_type for t in tokens[end + 1 : end + 4]) if end is not None else ()
    return kinds[:2] == (TokenType.ALIAS, TokenType.L_PAREN) and kinds[2:] == (TokenType.SELECT,)


def _ends_type(before: Token, word: str) -> bool:
    """Whether the word is a type with parameters, as `mark_types` leaves it: `AS DECIMAL(10, 23)`."""
    return word == "DECIMAL" and before.token_type in (TokenType.ALIAS, TokenType.DCOLON)

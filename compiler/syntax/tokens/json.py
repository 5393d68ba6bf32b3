"""Clauses of SQL's JSON functions become arguments.

`JSON_VALUE(j, '$.a' RETURNING INT DEFAULT 0 ON EMPTY)` becomes
`JSON_VALUE(j, '$.a', hr$clause$returning(CAST(NULL AS INT)), hr$clause$default_on_empty(0))`, and
`JSON_OBJECT(KEY 'k' VALUE v NULL ON NULL)` becomes `JSON_OBJECT('k', v, hr$clause$null_on_null(NULL))`.
"""

from __future__ import annotations

from typing import Final

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

CLAUSE: Final = f"{MARK}clause$"

_FUNCTIONS = frozenset(
    {
        "JSON_VALUE", "JSON_QUERY", "JSON_EXISTS",
        "JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG",
    }
)  # fmt: skip
_EVENTS = ("EMPTY", "ERROR", "NULL")
# What may stand before ON, in one word or two.
_BEHAVIOURS = (
    "NULL", "ERROR", "ABSENT", "TRUE", "FALSE", "UNKNOWN", "EMPTY ARRAY", "EMPTY OBJECT",
)  # fmt: skip


def mark_json(tokens: list[Token], fragment: Fragment) -> list[Token]:
    """Makes arguments of the clauses of every JSON function."""
    if not any(token.text.upper() in _FUNCTIONS for token in tokens):
        return tokens
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        result.append(tokens[index])
        opening = index + 1
        is_call = tokens[index].text.upper() in _FUNCTIONS and _is(tokens, opening, TokenType.L_PAREN)
        if not is_call:
            index += 1
            continue
        closing = _closing(tokens, opening)
        result.append(tokens[opening])
        # JSON functions may stand inside each other.
        result.extend(mark_json(_arguments(tokens[opening + 1 : closing]), fragment))
        index = closing
    return result


def _is(tokens: list[Token], index: int, kind: TokenType) -> bool:
    return index < len(tokens) and tokens[index].token_type is kind


def _closing(tokens: list[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        depth += tokens[index].token_type in (TokenType.L_PAREN, TokenType.L_BRACKET)
        depth -= tokens[index].token_type in (TokenType.R_PAREN, TokenType.R_BRACKET)
        if depth == 0:
            return index
    return len(tokens)


def _arguments(tokens: list[Token]) -> list[Token]:
    """The arguments of a JSON function, with its clauses as the last of them."""
    values: list[Token] = []
    clauses: list[list[Token]] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        word = token.text.upper()
        clause = _clause(tokens, index) if values else None
        if clause is not None:
            made, index = clause
            clauses.append(made)
        elif token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET):
            end = min(_closing(tokens, index), len(tokens) - 1)
            values.extend(tokens[index : end + 1])
            index = end + 1
        elif word == "KEY" and _begins_argument(values) and index + 1 < len(tokens):
            index += 1
        elif word == "VALUE" and not _begins_argument(values) and token.token_type is not TokenType.STRING:
            values.append(_at(token, TokenType.COMMA, ","))
            index += 1
        else:
            values.append(token)
            index += 1
    for clause_tokens in clauses:
        values.append(_at(clause_tokens[0], TokenType.COMMA, ","))
        values.extend(clause_tokens)
    # JSON_ARRAY(NULL ON NULL) has no value before its clause.
    return values


def _begins_argument(values: list[Token]) -> bool:
    return not values or values[-1].token_type is TokenType.COMMA


def _clause(tokens: list[Token], index: int) -> tuple[list[Token], int] | None:
    """A clause that begins at `index`, and where it ends."""
    word = tokens[index].text.upper()
    if tokens[index].token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return None
    if word == "RETURNING":
        end = index + 1
        while end < len(tokens) and _clause(tokens, end) is None:
            end += 1
        return _returning(tokens[index], tokens[index + 1 : end]), end
    if word in ("WITH", "WITHOUT"):
        return _wrapper(tokens, index)
    if word == "DEFAULT":
        for end in range(index + 1, len(tokens) - 1):
            if _is_event(tokens, end):
                name = f"default_on_{tokens[end + 1].text.lower()}"
                return _made(tokens[index], name, tokens[index + 1 : end]), end + 2
        return None
    for behaviour in _BEHAVIOURS:
        words = behaviour.split()
        end = index + len(words)
        found = [token.text.upper() for token in tokens[index:end]]
        if found == words and _is_event(tokens, end):
            name = f"{'_'.join(words).lower()}_on_{tokens[end + 1].text.lower()}"
            return _made(tokens[index], name, []), end + 2
    return None


def _is_event(tokens: list[Token], index: int) -> bool:
    return (
        index + 1 < len(tokens)
        and tokens[index].text.upper() == "ON"
        and tokens[index + 1].text.upper() in _EVENTS
    )


def _wrapper(tokens: list[Token], index: int) -> tuple[list[Token], int] | None:
    for end in range(index + 1, min(index + 4, len(tokens))):
        if tokens[end].text.upper() == "WRAPPER":
            words = [token.text.lower() for token in tokens[index:end] if token.text.upper() != "ARRAY"]
            return _made(tokens[index], "_".join([*words, "wrapper"]), []), end + 1
    return None


def _returning(word: Token, type_: list[Token]) -> list[Token]:
    """`CAST(NULL AS type)`, which carries the type."""
    return _made(
        word,
        "returning",
        [
            _at(word, TokenType.VAR, "CAST"),
            _at(word, TokenType.L_PAREN, "("),
            _at(word, TokenType.NULL, "NULL"),
            _at(word, TokenType.ALIAS, "AS"),
            *type_,
            _at(word, TokenType.R_PAREN, ")"),
        ],
    )


def _made(word: Token, name: str, value: list[Token]) -> list[Token]:
    return [
        _at(word, TokenType.VAR, CLAUSE + name),
        _at(word, TokenType.L_PAREN, "("),
        *(value or [_at(word, TokenType.NULL, "NULL")]),
        _at(word, TokenType.R_PAREN, ")"),
    ]


def _at(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)

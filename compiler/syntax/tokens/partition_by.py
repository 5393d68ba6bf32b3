"""`TABLE t PARTITION BY a, b` as an argument becomes `hr$partition_by(t, a, b)`.

Flink partitions the input of a table function so; the stock grammar has no such argument.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

PARTITION_BY = MARK + "partition_by"

_BEFORE = (TokenType.L_PAREN, TokenType.COMMA, TokenType.FARROW)


def mark_partitions(tokens: list[Token], _fragment: Fragment) -> list[Token]:
    """Makes a call of each partitioned table argument; a plain name or a subquery may be partitioned."""
    if not any(token.token_type is TokenType.PARTITION_BY for token in tokens):
        return tokens
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        found = _argument(tokens, index)
        if found is None:
            result.append(tokens[index])
            index += 1
            continue
        word, end = found
        keys, index = _keys(tokens, end + 1)
        first, last = tokens[word], tokens[index - 1]
        table = tokens[word + 1 if first.token_type is TokenType.TABLE else word : end]
        result.append(_at(first, TokenType.VAR, PARTITION_BY))
        result.append(_at(table[0], TokenType.L_PAREN, "("))
        result.extend(table)
        for key in keys:
            result.append(_at(key[0], TokenType.COMMA, ","))
            result.extend(key)
        result.append(_at(last, TokenType.R_PAREN, ")"))
    return result


def _argument(tokens: list[Token], start: int) -> tuple[int, int] | None:
    """Where an argument and its PARTITION BY begin, if one begins at `start`."""
    if start == 0 or tokens[start - 1].token_type not in _BEFORE:
        return None
    index = start + 1 if tokens[start].token_type is TokenType.TABLE else start
    if index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN:
        index = _closing(tokens, index) + 1
    else:
        index += 1
        while index + 1 < len(tokens) and tokens[index].token_type is TokenType.DOT:
            index += 2
    is_partitioned = index < len(tokens) and tokens[index].token_type is TokenType.PARTITION_BY
    return (start, index) if is_partitioned else None


def _keys(tokens: list[Token], index: int) -> tuple[list[list[Token]], int]:
    """The names after PARTITION BY, with or without parentheses, and where they end."""
    keys: list[list[Token]] = []
    wrapped = index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN
    index += wrapped
    while index < len(tokens) and tokens[index].token_type not in _ENDS:
        begin = index
        while index < len(tokens) and tokens[index].token_type not in _ENDS:
            index += 1
        keys.append(tokens[begin:index])
        if not _another_key(tokens, index):
            break
        index += 1
    return keys, index + wrapped


def _another_key(tokens: list[Token], comma: int) -> bool:
    """Whether a comma is followed by a key, and not by the function's next argument."""
    if comma + 1 >= len(tokens) or tokens[comma].token_type is not TokenType.COMMA:
        return False
    if tokens[comma + 1].token_type in _VALUES or comma + 2 >= len(tokens):
        return False
    return tokens[comma + 2].token_type not in (TokenType.FARROW, TokenType.L_PAREN)


_ENDS = (TokenType.R_PAREN, TokenType.COMMA)
_VALUES = (TokenType.INTERVAL, TokenType.STRING, TokenType.NUMBER, TokenType.MAP)


def _closing(tokens: list[Token], index: int) -> int:
    depth = 0
    for position in range(index, len(tokens)):
        kind = tokens[position].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return position
    return len(tokens) - 1


def _at(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)

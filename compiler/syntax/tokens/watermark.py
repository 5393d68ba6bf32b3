"""Spark's `FROM t WATERMARK ts DELAY OF INTERVAL 10 SECONDS` becomes `hr$watermark(t, ts, INTERVAL …)`.

The stock grammar has no such clause. `WATERMARK expression AS name` gives the name as a fourth argument.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

WATERMARK = MARK + "watermark"

_ALIASES = (TokenType.ALIAS, TokenType.VAR, TokenType.IDENTIFIER)
_NUMBERS = (TokenType.STRING, TokenType.NUMBER, TokenType.DASH)
_UNIT_WORDS = "WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND MONTH YEAR"
_UNITS = frozenset([*_UNIT_WORDS.split(), *(word + "S" for word in _UNIT_WORDS.split()), "TO"])


def mark_watermarks(tokens: list[Token], _fragment: Fragment) -> list[Token]:
    """Makes a call of each relation with a watermark; a name keeps being known by its name."""
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        delay = _delay(tokens, index)
        if delay is None or not result:
            result.append(tokens[index])
            index += 1
            continue
        start = _relation(result)
        relation = result[start:]
        expression, name = _named(tokens[index + 1 : delay])
        end = _interval_end(tokens, delay + 2)
        del result[start:]
        result.append(_at(tokens[index], TokenType.VAR, WATERMARK))
        result.append(_at(relation[0], TokenType.L_PAREN, "("))
        for part in (relation, expression, tokens[delay + 2 : end], name):
            if part:
                result += [*part, _at(part[-1], TokenType.COMMA, ",")]
        result[-1] = _at(tokens[end - 1], TokenType.R_PAREN, ")")
        is_named = end < len(tokens) and tokens[end].token_type in _ALIASES
        if not is_named and relation[-1].token_type is not TokenType.R_PAREN:
            result += [_at(relation[-1], TokenType.ALIAS, "AS"), relation[-1]]
        index = end
    return result


def _delay(tokens: list[Token], index: int) -> int | None:
    """Where DELAY OF stands, if a watermark begins at `index`."""
    if tokens[index].text.upper() != "WATERMARK" or tokens[index].token_type is TokenType.STRING:
        return None
    depth = 0
    for place in range(index + 1, len(tokens) - 1):
        kind = tokens[place].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth < 0:
            return None
        words = (tokens[place].text.upper(), tokens[place + 1].text.upper())
        if depth == 0 and words == ("DELAY", "OF") and place > index + 1:
            return place
    return None


def _relation(tokens: list[Token]) -> int:
    """Where the relation begins that ends with the last token: a dotted name, or a query in parentheses."""
    index = len(tokens) - 1
    if tokens[index].token_type is TokenType.R_PAREN:
        depth = 0
        while index >= 0:
            kind = tokens[index].token_type
            depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
            if depth == 0:
                return index
            index -= 1
        return len(tokens) - 1
    while index >= 2 and tokens[index - 1].token_type is TokenType.DOT:
        index -= 2
    return index


def _named(expression: list[Token]) -> tuple[list[Token], list[Token]]:
    """An expression and the name that AS gives it."""
    if len(expression) > 2 and expression[-2].token_type is TokenType.ALIAS:
        return expression[:-2], expression[-1:]
    return expression, []


def _interval_end(tokens: list[Token], index: int) -> int:
    """Behind `INTERVAL 1 HOUR 30 MINUTES` or `INTERVAL '10 seconds'`."""
    end = index + 1
    while end < len(tokens) and (tokens[end].token_type in _NUMBERS or tokens[end].text.upper() in _UNITS):
        end += 1
    return min(end, len(tokens))


def _at(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)

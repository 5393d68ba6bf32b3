r"""Small pieces of Flink's syntax: `FLOOR(ts TO HOUR)`, `U&'\0041'`."""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment

_ROUNDED = ("CEIL", "CEILING", "FLOOR")
_ESCAPE = re.compile(r"\\(?:(\\)|\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4}))")


def mark_rounding(tokens: list[Token], _fragment: Fragment) -> list[Token]:
    """Makes `FLOOR(ts TO HOUR)` a call with two arguments, `FLOOR(ts, 'HOUR')`."""
    result = list(tokens)
    for index in range(2, len(tokens) - 2):
        unit, closing = tokens[index + 1], tokens[index + 2]
        is_unit = tokens[index].text.upper() == "TO" and closing.token_type is TokenType.R_PAREN
        if is_unit and _is_rounded(tokens, index):
            word = tokens[index]
            result[index] = Token(TokenType.COMMA, ",", word.line, word.col, word.start, word.end)
            result[index + 1] = Token(TokenType.STRING, unit.text, unit.line, unit.col, unit.start, unit.end)
    return result


def _is_rounded(tokens: list[Token], index: int) -> bool:
    """Whether the parenthesis around `index` is that of CEIL or FLOOR."""
    depth = 0
    for before in range(index - 1, 0, -1):
        depth += tokens[before].token_type is TokenType.R_PAREN
        depth -= tokens[before].token_type is TokenType.L_PAREN
        if depth < 0:
            return tokens[before - 1].text.upper() in _ROUNDED
    return False


def read_unicode(tokens: list[Token], fragment: Fragment) -> list[Token]:
    """Makes strings of `U&'…'`, with the characters that their numbers stand for."""
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text in ("U", "u") and _is_prefix(tokens, index):
            text = tokens[index + 2]
            raw = fragment.text[text.start + 1 : text.end].replace("''", "'")
            value = _ESCAPE.sub(_character, raw)
            result.append(Token(TokenType.STRING, value, token.line, token.col, token.start, text.end))
            index += 3
        else:
            result.append(token)
            index += 1
    return result


def _is_prefix(tokens: list[Token], index: int) -> bool:
    if index + 2 >= len(tokens):
        return False
    sign, text = tokens[index + 1], tokens[index + 2]
    adjacent = tokens[index].end + 1 == sign.start and sign.end + 1 == text.start
    return sign.text == "&" and text.token_type is TokenType.STRING and adjacent


def _character(match: re.Match[str]) -> str:
    number = match[2] or match[3]
    return chr(int(number, 16)) if number and int(number, 16) <= 0x10FFFF else "\\"

"""The type of a CAST becomes `DECIMAL(start, end)`, the place of its text: our own reader reads it.

So a type means the same in a query as in a declaration, Flink's spellings included (`ROW<a INT NOT NULL>`,
`INT ARRAY`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`), which sqlglot reads in part or not at all.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from compiler.syntax.fragment import Fragment

_CASTS = ("CAST", "TRY_CAST", "SAFE_CAST")
# Words that may follow the name of a type without being its parameters.
_MORE = ("PRECISION", "VARYING")


def mark_types(tokens: list[Token], fragment: Fragment) -> list[Token]:
    """Replaces the type of every `CAST(x AS type)`, `x::type` and `RETURNING type`."""
    spans = dict(_types(tokens, fragment.text))
    if not spans:
        return tokens
    result: list[Token] = []
    index = 0
    while index < len(tokens):
        end = spans.get(index)
        if end is None:
            result.append(tokens[index])
            index += 1
        else:
            result.extend(_place(tokens[index], tokens[end - 1]))
            index = end
    return result


def _types(tokens: list[Token], text: str) -> list[tuple[int, int]]:
    """First and last token (exclusive) of each type."""
    found: list[tuple[int, int]] = []
    for index, token in enumerate(tokens):
        # sqlglot reads `1L` as `1::BIGINT`; there the type has no text of its own.
        if token.token_type is TokenType.DCOLON and text.startswith("::", token.start):
            found.append((index + 1, _end_of_type(tokens, index + 1)))
        elif token.text.upper() in _CASTS and _kind(tokens, index + 1) is TokenType.L_PAREN:
            found.append(_type_of_cast(tokens, index + 1))
    return [(start, end) for start, end in found if start < end]


def _type_of_cast(tokens: list[Token], opening: int) -> tuple[int, int]:
    depth, start = 0, opening
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        depth += kind is TokenType.L_PAREN
        depth -= kind is TokenType.R_PAREN
        if depth == 0:
            return (start, index) if start > opening else (0, 0)
        if depth == 1 and kind is TokenType.ALIAS:
            start = index + 1
    return 0, 0


def _end_of_type(tokens: list[Token], index: int) -> int:
    """Where a type that follows `::` ends: its name, and the parameters right behind it."""
    if index >= len(tokens) or not tokens[index].text.replace("_", "a").replace(" ", "a").isalnum():
        return index
    index += 1
    while index < len(tokens) and tokens[index].text.upper() in _MORE:
        index += 1
    if _kind(tokens, index) not in (TokenType.L_PAREN, TokenType.LT):
        return index
    depth = 0
    for end in range(index, len(tokens)):
        text = tokens[end].text
        depth += text.count("(") + text.count("<") - text.count(")") - text.count(">")
        if depth <= 0:
            return end + 1
    return index


def _kind(tokens: list[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if index < len(tokens) else None


def _place(first: Token, last: Token) -> list[Token]:
    def token(kind: TokenType, text: str) -> Token:
        return Token(kind, text, first.line, first.col, first.start, last.end)

    return [
        token(TokenType.DECIMAL, "DECIMAL"),
        token(TokenType.L_PAREN, "("),
        token(TokenType.NUMBER, str(first.start)),
        token(TokenType.COMMA, ","),
        token(TokenType.NUMBER, str(last.end + 1)),
        token(TokenType.R_PAREN, ")"),
    ]

"""Says in plain words what sqlglot's parser stumbled over in a query, and what was probably meant."""

from __future__ import annotations

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.suggest import suggest
from compiler.syntax.data_types import TYPE_NAMES
from compiler.syntax.fragment import Fragment

# What people mistype most; the names of functions and types have suggestions of their own.
_KEYWORD_WORDS = (
    "SELECT FROM WHERE GROUP ORDER HAVING UNION JOIN LEFT RIGHT INNER OUTER CROSS USING LIMIT AND WHEN THEN "
    "ELSE END BETWEEN LIKE DISTINCT INTERVAL DESCRIPTOR"
)
_KEYWORDS = _KEYWORD_WORDS.split()
_BY = ("GROUP", "ORDER", "PARTITION", "CLUSTER", "SORT", "DISTRIBUTE")
_NAMES = (TokenType.VAR, TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER)
# After a comma these say that nothing follows it.
_ENDS = (
    TokenType.COMMA,
    TokenType.FROM,
    TokenType.R_PAREN,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.ORDER_BY,
    TokenType.HAVING,
    TokenType.UNION,
)


def dangling(fragment: Fragment, tokens: list[Token]) -> Diagnostic | None:
    """The first word that needs something after it and has nothing; sqlglot reads over these."""
    for index, token in enumerate(tokens):
        if token.text[:1] in ("‘", "’", "“", "”", "„"):
            fix = f"use straight quotes: '{token.text.strip('‘’“”„')}'"
            return _found(fragment, token, f"`{token.text}` is in curly quotes", fix=fix)
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.token_type is TokenType.COMMA and (following is None or following.token_type in _ENDS):
            return _found(fragment, token, "nothing follows this `,`", fix="remove it, or write what follows")
        if following is None and token.token_type in (
            TokenType.GROUP_BY,
            TokenType.ORDER_BY,
            TokenType.ON,
            TokenType.ALIAS,
            TokenType.SELECT,
        ):
            return _found(fragment, token, f"nothing follows {token.text.upper()}")
        if following is None and _lacks_by(tokens, index):
            return _found(fragment, token, f"{token.text.upper()} is not complete", fix=_by(token))
    return None


def parse_error(fragment: Fragment, tokens: list[Token], error: ParseError, what: str) -> Diagnostic:
    """The diagnostic for an error of sqlglot's parser; `what` is "query" or "expression"."""
    info = error.errors[0] if error.errors else {}
    # sqlglot gives the column of a token's last character, counted from 1.
    place = (info.get("line"), info.get("col"))
    index = next((i for i, t in enumerate(tokens) if (t.line, t.col) == place), len(tokens) - 1)
    return (
        _not_yet(fragment, tokens, index)
        or _typo(fragment, tokens, index)
        or _by_description(fragment, tokens, index, str(info.get("description") or ""), what)
    )


def _found(
    fragment: Fragment,
    token: Token,
    message: str,
    *,
    fix: str | None = None,
    label: str | None = None,
    related: tuple[Label, ...] = (),
    code: codes.Code = codes.SQL_SYNTAX,
) -> Diagnostic:
    span = fragment.span(token.start, token.end + 1)
    return Diagnostic(code, message, span, fix=fix, label=label, related=related)


def _not_yet(fragment: Fragment, tokens: list[Token], index: int) -> Diagnostic | None:
    """What Flink's grammar has and this version does not run, where sqlglot would speak of a syntax error."""
    found = next((t for t in tokens if t.text.upper() == "MATCH_RECOGNIZE"), None)
    message = "MATCH_RECOGNIZE is not supported yet"
    if found is None and tokens[index].text.upper().startswith("PARTITION BY"):
        found, message = tokens[index], "PARTITION BY inside a table function is not supported yet"
    return None if found is None else _found(fragment, found, message, code=codes.NOT_YET_STREAMING)


def _by(token: Token) -> str:
    return f"write {token.text.upper()} BY"


def _lacks_by(tokens: list[Token], index: int) -> bool:
    """Whether a word is GROUP or ORDER without BY; after a name, since it may be a name itself."""
    token = tokens[index]
    if token.token_type is not TokenType.VAR or token.text.upper() not in _BY or not index:
        return False
    return tokens[index - 1].token_type in (*_NAMES, TokenType.R_PAREN)


def _typo(fragment: Fragment, tokens: list[Token], index: int) -> Diagnostic | None:
    """A mistyped keyword: it was read as a name, so the error comes at it or up to two words later."""
    for position in (index - 1, index, index - 2):
        if position < 0 or tokens[position].token_type is not TokenType.VAR:
            continue
        if position and tokens[position - 1].token_type is TokenType.ALIAS:
            continue  # a name by its place, however much like a keyword
        word = tokens[position]
        if _lacks_by(tokens, position):
            return _found(fragment, word, f"{word.text.upper()} is not complete", fix=_by(word))
        near = suggest(word.text, _KEYWORDS) if len(word.text) > 2 else None
        if near is not None and abs(len(near) - len(word.text)) < 3 and near != word.text.upper():
            fix = f"did you mean `{near}`?"
            return _found(fragment, word, f"`{word.text}` is not expected here", fix=fix)
    return None


def _by_description(
    fragment: Fragment, tokens: list[Token], index: int, description: str, what: str
) -> Diagnostic:
    token = tokens[index]
    text = fragment.text[token.start : token.end + 1]
    at_end = index == len(tokens) - 1
    if description.startswith(("Expecting )", "Expected ]")):
        return _unclosed(fragment, tokens, index, at_end)
    if description.startswith("Expected table name"):
        message = f"nothing follows `{text}`" if at_end else f"a name is missing before `{text}`"
        return _found(fragment, token, message, fix="name a source, model or seed")
    if description.lower().startswith("expected type"):
        near = suggest(text, TYPE_NAMES)
        if token.token_type in _NAMES:
            fix = f"did you mean `{near.upper()}`?" if near else None
            return _found(fragment, token, f"unknown type `{text}`", fix=fix, code=codes.UNKNOWN_TYPE)
        return _found(fragment, token, f"a type is missing before `{text}`")
    if description.startswith("Expected AS after CAST") or "'to' missing" in description:
        return _found(fragment, token, "CAST is not complete", fix="write CAST(value AS type)")
    if description.startswith("Expected END"):
        return _unended(fragment, tokens, index)
    if description.startswith("Expecting "):
        wanted = description.removeprefix("Expecting ").rstrip(".")
        return _found(fragment, token, f"`{wanted}` is expected near `{text}`")
    if description.startswith("Required keyword") or (at_end and not _may_end(token)):
        if at_end:
            return _found(fragment, token, f"the {what} ends too early after `{text}`")
        fix = _sign_fix(tokens, index)
        return _found(fragment, token, f"the expression is not complete at `{text}`", fix=fix)
    fix = _sign_fix(tokens, index)
    return _found(fragment, token, f"`{text}` is not expected here", fix=fix)


def _may_end(token: Token) -> bool:
    return token.token_type in (*_NAMES, TokenType.R_PAREN, TokenType.R_BRACKET)


def _sign_fix(tokens: list[Token], index: int) -> str | None:
    token = tokens[index]
    before = tokens[index - 1] if index else None
    around = (before, token, tokens[index + 1] if index + 1 < len(tokens) else None)
    if token.token_type is TokenType.R_PAREN and _opened(tokens, index, TokenType.L_PAREN) is None:
        return "delete it: no parenthesis is open here"
    if sum(t is not None and t.text == "=" for t in around) > 1:
        return "write one `=` to compare"
    if token.text == "&&":
        return "write AND"
    if before is not None and before.token_type is TokenType.ALIAS and token.text.isalpha():
        return f"to use it as a name, put it in backquotes: `{token.text}`"
    if (
        before is not None
        and token.token_type in _NAMES
        and before.token_type in (*_NAMES, TokenType.R_PAREN)
    ):
        return "is a comma missing before it?"
    return None


def _opened(tokens: list[Token], index: int, sign: TokenType) -> Token | None:
    """The innermost parenthesis or bracket that is open before a word."""
    closing = TokenType.R_PAREN if sign is TokenType.L_PAREN else TokenType.R_BRACKET
    opened: list[Token] = []
    for token in tokens[:index]:
        if token.token_type is sign:
            opened.append(token)
        elif token.token_type is closing and opened:
            opened.pop()
    return opened[-1] if opened else None


def _unclosed(fragment: Fragment, tokens: list[Token], index: int, at_end: bool) -> Diagnostic:
    token = tokens[index]
    bracket = _opened(tokens, index + at_end, TokenType.L_BRACKET)
    paren = _opened(tokens, index + at_end, TokenType.L_PAREN)
    opened, sign, name = paren, ")", "parenthesis"
    if bracket is not None and (paren is None or bracket.start > paren.start):
        opened, sign, name = bracket, "]", "bracket"
    if opened is None or _closed(tokens, opened):
        return _found(fragment, token, f"`{token.text}` is not expected here")
    place = Label(
        fragment.span(token.start, token.end + 1),
        f"`{sign}` is expected {'after' if at_end else 'before'} this",
    )
    return _found(
        fragment,
        opened,
        f"the {name} is not closed",
        label="opened here",
        fix=f"close it with `{sign}`",
        related=(place,),
    )


def _closed(tokens: list[Token], opened: Token) -> bool:
    """Whether what is opened is closed further on, so that the mistake is inside it."""
    depth = 0
    for token in tokens[tokens.index(opened) :]:
        depth += token.token_type is opened.token_type
        depth -= token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET)
        if depth == 0:
            return True
    return False


def _unended(fragment: Fragment, tokens: list[Token], index: int) -> Diagnostic:
    opened: list[Token] = []
    for token in tokens[: index + 1]:
        if token.token_type is TokenType.CASE:
            opened.append(token)
        elif token.token_type is TokenType.END and opened and token is not tokens[index]:
            opened.pop()
    if tokens[index].token_type is TokenType.END and opened:
        return _found(fragment, opened[-1], "CASE is not complete", fix="write CASE WHEN … THEN … END")
    start = opened[-1] if opened else tokens[index]
    place = Label(fragment.span(tokens[index].start, tokens[index].end + 1), "END is expected after this")
    return _found(fragment, start, "CASE is not closed", fix="end it with END", related=(place,))

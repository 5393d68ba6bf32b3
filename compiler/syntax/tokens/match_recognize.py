"""`t MATCH_RECOGNIZE (…)` becomes `hr$match_recognize(t, hr$keys(…), hr$order(…), …)`, a table function.

Spark's grammar has no such clause, and sqlglot's own form of it keeps no places and has no WITHIN. As a
call, its expressions are parsed like all others, and what is not SQL (the pattern, the words of AFTER MATCH)
is a name that stands for its place in the text.
"""

from __future__ import annotations

from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.syntax.fragment import Fragment
from compiler.syntax.tokens.functions import MARK

MATCH_RECOGNIZE = MARK + "match_recognize"
KEYS, ORDER, MEASURES, ROWS, SKIP, PATTERN, WITHIN, SUBSET, DEFINE = (
    MARK + name
    for name in ("keys", "order", "measures", "rows", "skip", "pattern", "within", "subset", "define")
)
NAMED, ASCENDING, DESCENDING = (MARK + name for name in ("named", "ascending", "descending"))

# Words that begin a clause, in the order in which the clauses have to stand.
_CLAUSES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("PARTITION BY",), KEYS),
    (("ORDER BY",), ORDER),
    (("MEASURES",), MEASURES),
    (("ONE", "ROW", "PER", "MATCH"), ROWS),
    (("ALL", "ROWS", "PER", "MATCH"), ROWS),
    (("AFTER", "MATCH"), SKIP),
    (("PATTERN", "("), PATTERN),
    (("WITHIN",), WITHIN),
    (("SUBSET",), SUBSET),
    (("DEFINE",), DEFINE),
)
_ORDER = {name: index for index, (_, name) in enumerate(_CLAUSES)}
_TEXT = (ROWS, SKIP, PATTERN, SUBSET)


def mark_matches(tokens: list[Token], fragment: Fragment) -> list[Token]:
    """Makes a call of each MATCH_RECOGNIZE.

    Raises:
        DiagnosticError: a clause is missing, doubled or out of order (HR101).
    """
    found = next((i for i in range(len(tokens) - 1, -1, -1) if _is_match(tokens, i)), None)
    while found is not None:
        tokens = _Rewrite(tokens, found, fragment).done()
        found = next((i for i in range(found - 1, -1, -1) if _is_match(tokens, i)), None)
    return tokens


def _is_match(tokens: list[Token], index: int) -> bool:
    if index == 0 or index + 1 >= len(tokens) or tokens[index].text.upper() != "MATCH_RECOGNIZE":
        return False
    return (
        tokens[index].token_type is not TokenType.STRING and tokens[index + 1].token_type is TokenType.L_PAREN
    )


class _Rewrite:
    """One clause: `at` is the place of the word MATCH_RECOGNIZE."""

    def __init__(self, tokens: list[Token], at: int, fragment: Fragment) -> None:
        self._tokens = tokens
        self._at = at
        self._fragment = fragment
        self._result: list[Token] = []

    def done(self) -> list[Token]:
        tokens, at = self._tokens, self._at
        begin, end = self._table(), _closing(tokens, at + 1)
        if end is None:
            raise self._error("the parentheses of MATCH_RECOGNIZE are not closed", tokens[at])
        word = tokens[at]
        self._add(word, MATCH_RECOGNIZE)
        self._add(word, "(", TokenType.L_PAREN)
        self._result.extend(tokens[begin:at])
        for name, first, start, stop in self._clauses(at + 2, end):
            self._add(tokens[first], ",", TokenType.COMMA)
            self._clause(name, first, start, stop)
        self._add(tokens[end], ")", TokenType.R_PAREN)
        return [*tokens[:begin], *self._result, *tokens[end + 1 :]]

    def _table(self) -> int:
        """Where the table before the word begins: a name, or a query in parentheses."""
        tokens, index = self._tokens, self._at - 1
        if tokens[index].token_type is TokenType.R_PAREN:
            depth = 0
            while index >= 0:
                depth += (tokens[index].token_type is TokenType.R_PAREN) - (
                    tokens[index].token_type is TokenType.L_PAREN
                )
                if depth == 0:
                    break
                index -= 1
            # TUMBLE(TABLE t, …) MATCH_RECOGNIZE: the function's name belongs to it.
            if index > 0 and tokens[index - 1].token_type is TokenType.VAR:
                index -= 1
            return max(index, 0)
        while index >= 2 and tokens[index - 1].token_type is TokenType.DOT:
            index -= 2
        return index

    def _clauses(self, start: int, end: int) -> list[tuple[str, int, int, int]]:
        """Name, first token, first and last (exclusive) token of the content of each clause."""
        marks: list[tuple[str, int, int]] = []
        depth = 0
        for index in range(start, end):
            kind = self._tokens[index].token_type
            if depth == 0 and (begun := self._begins(index)) is not None:
                marks.append((begun[0], index, index + begun[1]))
            elif index == start:
                raise self._error("MATCH_RECOGNIZE begins with PARTITION BY or ORDER BY", self._tokens[index])
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        for (before, *_), (name, first, _) in pairwise(marks):
            if _ORDER[name] <= _ORDER[before]:
                twice = name == before
                message = "this clause stands here twice" if twice else "this clause stands too late"
                order = "PARTITION BY, ORDER BY, MEASURES, ONE ROW, AFTER MATCH, PATTERN, WITHIN, DEFINE"
                raise self._error(message, self._tokens[first], f"the order is {order}")
        ends = [first for _, first, _ in marks[1:]] + [end]
        return [(name, first, begin, stop) for (name, first, begin), stop in zip(marks, ends, strict=True)]

    def _begins(self, index: int) -> tuple[str, int] | None:
        """The clause that begins at a token, and how many words it begins with."""
        token = self._tokens[index]
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            return None
        if self._tokens[index - 1].token_type in (TokenType.DOT, TokenType.ALIAS):
            return None
        for words, name in _CLAUSES:
            texts = [t.text.upper() for t in self._tokens[index : index + len(words)]]
            if texts == list(words):
                return name, len(words)
        return None

    def _clause(self, name: str, first: int, start: int, stop: int) -> None:
        tokens = self._tokens
        word = tokens[first]
        self._add(word, name)
        self._add(word, "(", TokenType.L_PAREN)
        if name in _TEXT:
            # A name whose place is the text: sqlglot keeps the places of names only.
            end = tokens[stop - 1]
            quoted = Token(TokenType.IDENTIFIER, name, word.line, word.col, word.start, end.end)
            self._result.append(quoted)
        elif start == stop:
            raise self._error(f"{word.text.upper()} is empty", word)
        else:
            for index, (begin, finish) in enumerate(_items(tokens, start, stop)):
                if index:
                    self._add(tokens[begin - 1], ",", TokenType.COMMA)
                if begin == finish:
                    raise self._error("something is missing beside this comma", tokens[min(begin, stop - 1)])
                self._item(name, begin, finish)
        self._add(tokens[stop - 1], ")", TokenType.R_PAREN)

    def _item(self, clause: str, begin: int, end: int) -> None:
        tokens = self._tokens
        if clause == MEASURES:
            self._measure(begin, end)
        elif clause == DEFINE:
            if end - begin < 3 or tokens[begin + 1].token_type is not TokenType.ALIAS:
                raise self._error(
                    "write a variable, AS and its condition", tokens[begin], "DEFINE A AS A.x > 0"
                )
            self._named(begin, begin + 1, begin + 2, end)
        elif clause == ORDER:
            last = tokens[end - 1].text.upper()
            has_word = end - begin > 1 and last in ("ASC", "DESC")
            self._add(tokens[begin], DESCENDING if has_word and last == "DESC" else ASCENDING)
            self._add(tokens[begin], "(", TokenType.L_PAREN)
            self._result.extend(tokens[begin : end - has_word])
            self._add(tokens[end - 1], ")", TokenType.R_PAREN)
        else:
            self._result.extend(tokens[begin:end])

    def _measure(self, begin: int, end: int) -> None:
        tokens = self._tokens
        if end - begin < 3 or tokens[end - 2].token_type is not TokenType.ALIAS:
            raise self._error("a measure has no name", tokens[begin], "write expression AS name")
        first = begin + (tokens[begin].text.upper() in ("FINAL", "RUNNING") and end - begin > 3)
        if first > begin and tokens[begin].text.upper() == "RUNNING":
            message = "RUNNING has no meaning with one row a match"
            raise self._error(message, tokens[begin], "remove it: measures are those of the whole match")
        self._named(end - 1, end - 1, first, end - 2)

    def _named(self, name: int, comma: int, begin: int, end: int) -> None:
        """`hr$named(name, expression)`."""
        tokens = self._tokens
        self._add(tokens[name], NAMED)
        self._add(tokens[name], "(", TokenType.L_PAREN)
        token = tokens[name]
        self._result.append(
            Token(TokenType.IDENTIFIER, token.text, token.line, token.col, token.start, token.end)
        )
        self._add(tokens[comma], ",", TokenType.COMMA)
        self._result.extend(tokens[begin:end])
        self._add(tokens[end - 1], ")", TokenType.R_PAREN)

    def _add(self, at: Token, text: str, kind: TokenType = TokenType.VAR) -> None:
        self._result.append(Token(kind, text, at.line, at.col, at.start, at.end))

    def _error(self, message: str, token: Token, fix: str | None = None) -> DiagnosticError:
        span = self._fragment.span(token.start, token.end + 1)
        return DiagnosticError(Diagnostic(codes.SQL_SYNTAX, message, span, fix=fix))


def _items(tokens: list[Token], start: int, stop: int) -> list[tuple[int, int]]:
    """The parts between commas that stand outside of parentheses."""
    found: list[tuple[int, int]] = []
    depth, begin = 0, start
    for index in range(start, stop):
        kind = tokens[index].token_type
        depth += (kind in _OPENING) - (kind in _CLOSING)
        if kind is TokenType.COMMA and depth == 0:
            found.append((begin, index))
            begin = index + 1
    return [*found, (begin, stop)]


_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def _closing(tokens: list[Token], opening: int) -> int | None:
    depth = 0
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return index
    return None
